# One correct fixed version of julian_dates_in_single.py
import jax
import jax.numpy as jnp
import numpy as np

PERIOD = 0.75
EPOCH = 2459000.25
times = 2459000.5 + np.array([0.0, 0.1, 0.2, 0.3, 0.4])


@jax.jit
def phase(times):
    """Phase of a variable star at Julian dates."""
    return (times / PERIOD) % 1.0


print([round(float(p), 3) for p in phase(times - EPOCH)])
