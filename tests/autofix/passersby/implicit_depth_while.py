# error: ValueError
# line: 24
# also-line: 37
# depends: -
# fix: fori_or_scan
# fixed-file: fixed/implicit_depth_while.py
# result: theta 0.5

"""Fit the nonlinearity of a fixed-point layer."""
import jax
import jax.numpy as jnp
from jax import lax


def fixed_point(theta, x, tol=1e-5, limit=60):
    def cond(carry):
        z, prev, k = carry
        return (jnp.abs(z - prev).max() > tol) & (k < limit)

    def body(carry):
        z, _, k = carry
        return jnp.tanh(theta * z + x), z, k + 1

    z, _, _ = lax.while_loop(cond, body, (jnp.tanh(x), jnp.zeros_like(x), 0))
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
