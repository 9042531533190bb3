import jax
import jax.numpy as jnp


@jax.jit
def lloyd(points, centers):
    def step(centers, _):
        square = jnp.sum((points[:, None] - centers[None]) ** 2, axis=2)
        nearest = jnp.argmin(square, axis=1)
        hot = jax.nn.one_hot(nearest, centers.shape[0])
        count = hot.sum(axis=0)[:, None]
        moved = jnp.where(count > 0, hot.T @ points / jnp.maximum(count, 1.0), centers)
        return moved, jnp.min(square, axis=1).mean()

    return jax.lax.scan(step, centers, None, length=10)


noise = 0.1 * jax.random.normal(jax.random.key(0), (3, 20, 2))
groups = jnp.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
points = (groups[:, None] + noise).reshape(-1, 2)
centers, costs = lloyd(points, points[jnp.array([0, 20, 40])])
print(bool(jnp.allclose(centers, groups, atol=0.15)), bool(costs[-1] < 0.05))
