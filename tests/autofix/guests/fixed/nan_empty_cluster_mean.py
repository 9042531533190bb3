# One correct fixed version of nan_empty_cluster_mean.py
import jax
import jax.numpy as jnp


@jax.jit
def cluster_means(points, labels):
    count = jnp.zeros(3).at[labels].add(1.0)
    total = jnp.zeros((3, points.shape[1])).at[labels].add(points)
    return total / jnp.maximum(count, 1.0)[:, None]


points = jnp.array([[0.0, 1.0], [2.0, 3.0], [10.0, 10.0]])
means = cluster_means(points, jnp.array([0, 0, 2]))
print([[round(float(v), 3) for v in row] for row in means])
