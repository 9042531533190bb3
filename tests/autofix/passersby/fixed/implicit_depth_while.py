# One correct fixed version of implicit_depth_while.py
"""Fit the nonlinearity of a fixed-point layer."""
import jax
import jax.numpy as jnp
from jax import lax


def fixed_point(theta, x, tol=1e-5, limit=60):
    def body(z, _):
        return jnp.tanh(theta * z + x), None

    z, _ = lax.scan(body, jnp.tanh(x), None, length=limit)
    return z


def loss(theta, x, y):
    return jnp.mean((fixed_point(theta, x) - y) ** 2)


x = jnp.linspace(-1.0, 1.0, 9)
y = fixed_point(0.5, x)
theta = jnp.float32(0.0)
slope = jax.jit(jax.grad(loss))
for _ in range(100):
    theta = theta - 1.0 * slope(theta, x, y)
print("theta", round(float(theta), 2))
