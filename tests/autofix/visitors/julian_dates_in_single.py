# error: none
# expect: PrecisionLossWarning | DtypeTruncationWarning
# jax-differs: jax silently rounds the dates to a quarter of a day
# line: 24
# also-line: 27
# depends: times
# fix: subtract_before
# fixed-file: fixed/julian_dates_in_single.py
# result: [0.333, 0.467, 0.6, 0.733, 0.867]
# family: silent/precision-large-offset

import jax
import jax.numpy as jnp
import numpy as np

PERIOD = 0.75
EPOCH = 2459000.25
times = 2459000.5 + np.array([0.0, 0.1, 0.2, 0.3, 0.4])


@jax.jit
def phase(times):
    """Phase of a variable star at Julian dates."""
    return ((times - EPOCH) / PERIOD) % 1.0


print([round(float(p), 3) for p in phase(times)])
