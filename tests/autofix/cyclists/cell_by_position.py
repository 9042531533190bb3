# error: TypeError
# expect: TypeError | IndexError
# line: 16
# depends: position
# fix: cast
# result: [1.0, 52.38300323486328, 22.62700080871582]

import jax
import jax.numpy as jnp

height = jnp.arange(16.0).reshape(4, 4) ** 1.5


def lookup(position):
    row, column = jnp.floor(position * 4)
    return height[row, column]


positions = jnp.array([[0.1, 0.3], [0.9, 0.6], [0.5, 0.0]])
print(jax.vmap(lookup)(positions).round(3).tolist())
