# error: NonConcreteBooleanIndexError
# line: 18
# depends: points, centers
# fix: where_mask_sum
# fixed-file: fixed/mask_kmeans_update.py
# result: [[0.1, 0.1], [4.1, 4.0]]

import jax
import jax.numpy as jnp


@jax.jit
def lloyd_step(points, centers):
    distance = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=-1)
    label = jnp.argmin(distance, axis=1)
    new = []
    for j in range(centers.shape[0]):
        members = points[label == j]
        new.append(members.mean(axis=0))
    return jnp.stack(new)


points = jnp.array([[0.0, 0.1], [0.2, 0.0], [4.0, 4.1], [4.2, 3.9], [0.1, 0.2]])
centers = jnp.array([[0.0, 1.0], [3.0, 3.0]])
for _ in range(3):
    centers = lloyd_step(points, centers)
print([[round(float(v), 3) for v in row] for row in centers])
