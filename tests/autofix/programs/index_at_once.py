# error: OutOfBoundsIndexWarning
# line: 11
# depends: -
# fix: index_mode
# result: 4.0
# grade: ran
import jax.numpy as jnp

table = jnp.array([1.0, 2.0, 4.0])
position = 3
print(float(table[position]))
