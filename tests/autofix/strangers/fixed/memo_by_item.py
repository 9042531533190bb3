# One correct fixed version of memo_by_item.py
import jax
import jax.numpy as jnp


def kernel(x, scale):
    square = (x[:, None] - x[None, :]) ** 2
    return jnp.exp(-0.5 * square / scale**2)


@jax.jit
def fit(x, y, scale):
    return jnp.linalg.solve(kernel(x, scale) + 0.1 * jnp.eye(x.shape[0]), y)


@jax.jit
def smooth(x, weights, scale):
    return kernel(x, scale) @ weights


x = jnp.array([0.0, 1.0, 2.0])
weights = fit(x, jnp.array([1.0, 0.0, 1.0]), 0.8)
print([round(float(v), 4) for v in smooth(x, weights, 0.8)])
