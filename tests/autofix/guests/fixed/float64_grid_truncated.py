# One correct fixed version of float64_grid_truncated.py
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def second_difference(f, x, h):
    return (f(x + h) - 2.0 * f(x) + f(x - h)) / h**2


def curvature_profile(low, high, n):
    grid = jnp.linspace(low, high, n).astype(jnp.float64)
    return second_difference(jnp.sin, grid, 1e-4)


profile = curvature_profile(0.0, 1.0, 5)
print([round(float(v), 3) for v in profile])
