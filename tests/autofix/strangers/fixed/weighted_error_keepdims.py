# One correct fixed version of weighted_error_keepdims.py
import jax
import jax.numpy as jnp


def variance_of_rows(samples):
    """The mean of the variances of the rows."""
    center = samples.mean(axis=1)
    energy = (samples**2).mean(axis=1)
    return jnp.mean(jnp.abs(energy - center**2))


@jax.jit
def penalty(weights):
    samples = jnp.outer(weights, jnp.array([1.0, 2.0, 4.0])) + jnp.arange(3.0)
    return jnp.sqrt(variance_of_rows(samples) + jnp.max(weights))


print(round(float(penalty(jnp.array([1.0, -2.0, 0.5, 3.0]))), 4))
