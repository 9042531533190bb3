# One correct fixed version of energy_in_integer_units.py
import jax
import jax.numpy as jnp
import numpy as np

# sixteen-bit audio, read as integers
samples = (20000 * np.sin(0.05 * np.arange(64))).astype(np.int32)


@jax.jit
def loudness(samples):
    """Root of the mean square, in decibels below full scale."""
    power = jnp.sum(samples.astype(jnp.float32) ** 2) / samples.size
    return 10.0 * jnp.log10(jnp.abs(power) / 32768.0**2)


print(round(float(loudness(samples)), 3))
