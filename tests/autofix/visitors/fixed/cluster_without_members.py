# One correct fixed version of cluster_without_members.py
import jax
import jax.numpy as jnp

points = jnp.array([[0.0, 0.1], [0.2, 0.0], [4.0, 4.1], [4.2, 3.9]])


@jax.jit
def lloyd(centers):
    distance = jnp.sum((points[:, None] - centers[None]) ** 2, axis=-1)
    member = jax.nn.one_hot(jnp.argmin(distance, axis=1), centers.shape[0])
    count = member.sum(axis=0)[:, None]
    return jnp.where(count > 0, (member.T @ points) / jnp.maximum(count, 1.0), centers)


centers = jnp.array([[0.0, 0.0], [5.0, 5.0], [40.0, 40.0]])
for _ in range(3):
    centers = lloyd(centers)
print([round(float(v), 3) for v in centers[0]], bool(jnp.all(jnp.isfinite(centers))))
