# error: none
# expect: DtypeTruncationWarning | IntegerOverflowWarning | OverflowError
# jax-differs: jax silently keeps the low 32 bits of each time
# line: 28
# also-line: 29
# depends: -
# fix: subtract_before
# fixed-file: fixed/timestamps_of_trades.py
# result: 100.556
# family: silent/dtype-int64-timestamps

import jax
import jax.numpy as jnp
import numpy as np

# milliseconds since 1970
stamps = np.array([1700000000000, 1701000000000, 1704000000000, 1704500000000], dtype=np.int64)
prices = jnp.array([100.0, 101.0, 99.0, 102.0])


@jax.jit
def time_weighted(stamps, prices):
    """Mean price, weighted by the days that it held."""
    days = jnp.diff(stamps) / 86_400_000
    return jnp.sum(days * prices[:-1]) / jnp.sum(days)


stamps = jnp.asarray(stamps)
print(round(float(time_weighted(stamps, prices)), 3))
