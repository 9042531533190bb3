# error: TypeError
# line: 12
# depends: -
# fix: any
# result: [[[1.0, 0.0, 2.0], [2.0, 0.0, 4.0]], [[0.0, 3.0, 3.0], [0.0, 4.0, 4.0]]]

import jax
import jax.numpy as jnp


def outer_products(u, v):
    return u * v


u = jnp.array([[1.0, 2.0], [3.0, 4.0]])
v = jnp.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
print(outer_products(u, v).tolist())
