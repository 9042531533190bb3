import jax
import jax.numpy as jnp

t = jnp.array([0.0, 1.0, 2.0])
y = jnp.array([1.0, 0.5, 0.3])


def residuals(theta):
    return theta[0] * jnp.exp(-theta[1] * t) - y


theta = jnp.array([1.0, 0.5])
g = jax.jacobian(residuals)(theta)
step = jnp.linalg.solve(g.T @ g, g.T @ residuals(theta))
print((theta - step).round(3).tolist())
