import jax
import jax.numpy as jnp


def epoch(key, weights, x, y):
    order = jax.random.permutation(key, jnp.arange(x.shape[0]))
    for start in range(0, x.shape[0], 2):
        rows = order[start : start + 2]
        error = x[rows] @ weights - y[rows]
        weights = weights - 0.1 * x[rows].T @ error
    return weights


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]])
y = x @ jnp.array([2.0, -3.0])
weights = jnp.zeros(2)
for key in jax.random.split(jax.random.key(0), 150):
    weights = epoch(key, weights, x, y)
print(weights.round(2).tolist())
