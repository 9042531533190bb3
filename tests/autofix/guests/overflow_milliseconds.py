# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax silently wraps around in int32
# line: 16
# depends: seconds
# fix: wider_dtype
# fixed-file: fixed/overflow_milliseconds.py
# result: 2592.0

import jax
import jax.numpy as jnp


@jax.jit
def latency_percentile(seconds, nanoseconds, q):
    milliseconds = seconds * 1000 + nanoseconds // 1_000_000
    return jnp.percentile(milliseconds.astype(jnp.float32), q)


seconds = jnp.array([12, 3_600, 86_400, 2_592_000])
nanoseconds = jnp.array([500_000_000, 250_000_000, 0, 1_000_000])
print(round(float(latency_percentile(seconds, nanoseconds, 100.0)) / 1e6, 2))
