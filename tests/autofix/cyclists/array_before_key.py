# error: TypeError
# expect: TypeError | ValueError
# line: 13
# depends: -
# fix: arguments
# result: (8,) 28

import jax
import jax.numpy as jnp

key = jax.random.key(2)
players = jnp.arange(8)
seating = jax.random.permutation(players, key)
print(seating.shape, int(seating.sum()))
