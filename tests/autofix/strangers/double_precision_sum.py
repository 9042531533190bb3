# error: TypeError
# line: 19
# also-line: 24, 25
# depends: total, sample
# fix: match_dtype
# trap: casting the samples to float32 removes the error and the digits
# probe: mean_of(readings).dtype == jnp.float64
# fixed-file: fixed/double_precision_sum.py
# result: 0.0035
# family: 1/precision-given-up

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def add(total, sample):
    return total + sample, None


@jax.jit
def mean_of(samples):
    start = jnp.zeros((), dtype=jnp.float32)
    total, _ = jax.lax.scan(add, start, samples)
    return total / samples.shape[0]


# seconds since 1970 with a millisecond's resolution
readings = 1.7e9 + jnp.arange(8, dtype=jnp.float64) * 0.001
print(round(float(mean_of(readings) - 1.7e9), 4))
