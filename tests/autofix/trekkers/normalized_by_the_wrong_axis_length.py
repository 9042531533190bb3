# error: ValueError
# line: 14
# depends: x
# fix: any
# result: [[0.6000000238418579, 0.800000011920929], [0.0, 1.0], [1.0, 0.0]]

import jax
import jax.numpy as jnp


@jax.jit
def unit_rows(x):
    norms = jnp.linalg.norm(x, axis=1)
    return x / norms


x = jnp.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
print(unit_rows(x).round(3).tolist())
