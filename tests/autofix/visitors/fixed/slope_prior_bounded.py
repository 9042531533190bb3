# One correct fixed version of slope_prior_bounded.py
import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 4.0, 9)
y = 1.7 * x + 0.3 + 0.05 * jnp.sin(7.0 * x)


def log_prior(theta):
    """Flat between -5 and 5, nothing outside."""
    return jnp.where(jnp.abs(theta[0]) > 5.0, -jnp.inf, -0.5 * theta[1] ** 2)


def log_likelihood(theta):
    residual = y - (theta[0] * x + theta[1])
    return -0.5 * jnp.sum(residual**2) / 0.1**2


@jax.jit
def log_posterior(theta):
    return log_prior(theta) + log_likelihood(theta)


for slope in (1.5, 1.7, 6.0):
    print(round(float(log_posterior(jnp.array([slope, 0.3]))), 2))
