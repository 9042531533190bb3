# error: TypeError
# line: 11
# depends: -
# fix: partial
# result: [[0.0, 1.0, 0.0], [3.0, 4.0, 0.0]]

import jax
import jax.numpy as jnp


@jax.vmap(in_axes=(0, None))
def project(point, plane):
    return point - jnp.dot(point, plane) * plane


points = jnp.arange(6.0).reshape(2, 3)
print(project(points, jnp.array([0.0, 0.0, 1.0])).tolist())
