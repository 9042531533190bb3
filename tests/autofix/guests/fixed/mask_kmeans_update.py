# One correct fixed version of mask_kmeans_update.py
import jax
import jax.numpy as jnp


@jax.jit
def lloyd_step(points, centers):
    distance = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=-1)
    label = jnp.argmin(distance, axis=1)
    new = []
    for j in range(centers.shape[0]):
        members = (label == j)[:, None]
        new.append(points.mean(axis=0, where=members))
    return jnp.stack(new)


points = jnp.array([[0.0, 0.1], [0.2, 0.0], [4.0, 4.1], [4.2, 3.9], [0.1, 0.2]])
centers = jnp.array([[0.0, 1.0], [3.0, 3.0]])
for _ in range(3):
    centers = lloyd_step(points, centers)
print([[round(float(v), 3) for v in row] for row in centers])
