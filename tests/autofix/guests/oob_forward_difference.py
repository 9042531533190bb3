# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently reads the last sample twice
# line: 18
# depends: i
# fix: index_mode
# fixed-file: fixed/oob_forward_difference.py
# result: 12.0

import jax
import jax.numpy as jnp


@jax.jit
def circulation(samples):
    def edge(i):
        left = samples[i]
        right = samples[i + 1]
        return 0.5 * (left + right)

    return jax.vmap(edge)(jnp.arange(samples.shape[0])).sum()


ring = jnp.array([1.0, 3.0, 2.0, 6.0])
print(float(circulation(ring)))
