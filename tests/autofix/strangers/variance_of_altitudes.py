# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently subtracts two large numbers
# line: 18
# depends: heights
# fix: centered_variance
# fixed-file: fixed/variance_of_altitudes.py
# result: 0.035
# family: 2/precision-lost

import jax
import jax.numpy as jnp


@jax.jit
def roughness(heights):
    mean = jnp.mean(heights)
    variance = jnp.mean(heights**2) - mean**2
    return jnp.sqrt(jnp.abs(variance))


# meters above the sea, a plain at 4 km
plain = 4000.0 + 0.05 * jnp.sin(jnp.arange(100.0))
print(round(float(roughness(plain)), 3))
