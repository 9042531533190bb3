# error: NonConcreteBooleanIndexError
# line: 17
# depends: points, centers
# fix: any
# result: [[-2.8999998569488525, -12.729999542236328], [12.6899995803833, 4.949999809265137], [-8.139999389648438, 6.5]]

import jax
import jax.numpy as jnp

COUNT = 3


@jax.jit
def refine(points, centers):
    gaps = jnp.linalg.norm(points[:, None] - centers[None], axis=-1)
    labels = jnp.argmin(gaps, axis=1)
    moved = [points[labels == group].mean(axis=0) for group in range(COUNT)]
    return jnp.stack(moved)


angles = jnp.arange(30.0)
points = jnp.stack([jnp.cos(angles) * angles, jnp.sin(angles) * angles], axis=1)
centers = points[:COUNT]
for _ in range(4):
    centers = refine(points, centers)
print(centers.round(2).tolist())
