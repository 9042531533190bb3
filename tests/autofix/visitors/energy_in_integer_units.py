# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax silently wraps around above 2**31
# line: 22
# depends: samples
# fix: convert_dtype
# fixed-file: fixed/energy_in_integer_units.py
# result: -7.379
# family: silent/overflow-sum-of-squares

import jax
import jax.numpy as jnp
import numpy as np

# sixteen-bit audio, read as integers
samples = (20000 * np.sin(0.05 * np.arange(64))).astype(np.int32)


@jax.jit
def loudness(samples):
    """Root of the mean square, in decibels below full scale."""
    power = jnp.sum(samples * samples) / samples.size
    return 10.0 * jnp.log10(jnp.abs(power) / 32768.0**2)


print(round(float(loudness(samples)), 3))
