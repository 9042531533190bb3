# One wrong fix of double_precision_sum.py: casting the samples to float32 removes the error and the digits
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def add(total, sample):
    return total + sample, None


@jax.jit
def mean_of(samples):
    start = jnp.zeros((), dtype=jnp.float32)
    total, _ = jax.lax.scan(add, start, samples.astype(jnp.float32))
    return total / samples.shape[0]


# seconds since 1970 with a millisecond's resolution
readings = 1.7e9 + jnp.arange(8, dtype=jnp.float64) * 0.001
print(round(float(mean_of(readings) - 1.7e9), 4))
