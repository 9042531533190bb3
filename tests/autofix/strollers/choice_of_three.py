# error: TypeError
# line: 11
# depends: -
# fix: shape
# result: (3,) 3

import jax
import jax.numpy as jnp

key = jax.random.key(4)
picked = jax.random.choice(key, jnp.arange(10), 3, replace=False)
print(picked.shape, len(set(picked.tolist())))
