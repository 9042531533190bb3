import jax
import jax.numpy as jnp


@jax.jit
def normalize(counts):
    total = counts.sum(axis=-1, keepdims=True)
    return counts / jnp.where(total == 0.0, 1.0, total)


def hinge(w, x, y):
    return jnp.mean(jnp.maximum(0.0, 1.0 - y * (x @ w)))


print(normalize(jnp.array([[1.0, 3.0], [0.0, 0.0]])).tolist())
x, y = jnp.array([[1.0, 0.0], [0.0, 2.0]]), jnp.array([1.0, 1.0])
print(jax.grad(hinge)(jnp.array([0.0, 0.0]), x, y).tolist())
print(jax.grad(hinge)(jnp.array([3.0, 3.0]), x, y).tolist())
