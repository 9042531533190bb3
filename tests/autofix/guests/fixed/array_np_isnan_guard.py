# One correct fixed version of array_np_isnan_guard.py
import jax
import jax.numpy as jnp


@jax.jit
def correlation(x, y):
    valid = ~(jnp.isnan(x) | jnp.isnan(y))
    x = jnp.where(valid, x, 0.0)
    y = jnp.where(valid, y, 0.0)
    n = valid.sum()
    dx = jnp.where(valid, x - x.sum() / n, 0.0)
    dy = jnp.where(valid, y - y.sum() / n, 0.0)
    return (dx @ dy) / jnp.sqrt((dx @ dx) * (dy @ dy))


height = jnp.array([1.6, 1.7, jnp.nan, 1.8, 1.9])
weight = jnp.array([55.0, 68.0, 70.0, jnp.nan, 85.0])
print(round(float(correlation(height, weight)), 4))
