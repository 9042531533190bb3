import jax
import jax.numpy as jnp


@jax.jit
def similarity(features, width):
    """A kernel matrix by (n, 1) and (1, n)."""
    square = (features**2).sum(axis=1, keepdims=True)
    distance = square - 2.0 * features @ features.T + square.T
    return jnp.exp(-0.5 * jnp.maximum(distance, 0.0) / width**2)


@jax.jit
def ranks(scores):
    """How many scores are below each one."""
    return jnp.sum(scores[:, None] > scores, axis=1)


@jax.jit
def concordance(a, b):
    pairs = jnp.sign(a[:, None] - a) * jnp.sign(b[:, None] - b)
    return pairs.sum() / (a.shape[0] * (a.shape[0] - 1))


x = jnp.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
print(similarity(x, 1.0).shape, ranks(jnp.array([0.3, 0.1, 0.9])).tolist())
print(float(concordance(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 3.0, 2.0]))) > 0.0)
