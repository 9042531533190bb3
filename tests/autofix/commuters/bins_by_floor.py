# error: TypeError
# expect: TypeError | IndexError
# line: 18
# depends: -
# fix: any
# result: [0.05000000074505806, 1.3000000715255737, 3.6100001335144043, 23.000001907348633]

import jax
import jax.numpy as jnp

EDGES = jnp.array([0.0, 1.0, 3.0, 7.0, 20.0])


@jax.jit
def price(loads):
    level = jnp.floor(loads / 2.5)
    level = jnp.minimum(level, EDGES.size - 1)
    return EDGES[level] + 0.1 * loads


print(price(jnp.array([0.5, 3.0, 6.1, 30.0])).round(3).tolist())
