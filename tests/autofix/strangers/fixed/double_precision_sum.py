# One correct fixed version of double_precision_sum.py
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def add(total, sample):
    return total + sample, None


@jax.jit
def mean_of(samples):
    start = jnp.zeros((), dtype=samples.dtype)
    total, _ = jax.lax.scan(add, start, samples)
    return total / samples.shape[0]


# seconds since 1970 with a millisecond's resolution
readings = 1.7e9 + jnp.arange(8, dtype=jnp.float64) * 0.001
print(round(float(mean_of(readings) - 1.7e9), 4))
