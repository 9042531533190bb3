import jax
import jax.numpy as jnp

COUNT = 3


@jax.jit
def refine(points, centers):
    gaps = jnp.linalg.norm(points[:, None] - centers[None], axis=-1)
    labels = jnp.argmin(gaps, axis=1)
    members = jax.nn.one_hot(labels, COUNT)
    return members.T @ points / members.sum(axis=0)[:, None]


angles = jnp.arange(30.0)
points = jnp.stack([jnp.cos(angles) * angles, jnp.sin(angles) * angles], axis=1)
centers = points[:COUNT]
for _ in range(4):
    centers = refine(points, centers)
print(centers.round(2).tolist())
