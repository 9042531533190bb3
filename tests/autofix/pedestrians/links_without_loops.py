# error: NotImplementedError
# expect: ValueError | NotImplementedError
# line: 16
# depends: -
# fix: functional_update
# result: [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]

import jax
import jax.numpy as jnp


@jax.jit
def adjacency(points):
    gaps = points[:, None] - points[None, :]
    near = jnp.where(jnp.abs(gaps) < 1.5, 1.0, 0.0)
    jnp.fill_diagonal(near, 0.0)
    return near


print(adjacency(jnp.array([0.0, 1.0, 2.0, 4.0])).tolist())
