# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently returns a gradient of zero
# line: 19
# depends: threshold
# fix: smooth_count
# fixed-file: fixed/count_above_threshold.py
# result: True
# family: silent/zero-gradient-count

import jax
import jax.numpy as jnp

intensities = jnp.linspace(0.0, 1.0, 101) ** 2


def area(threshold):
    """The share of pixels that count as bright."""
    return jnp.count_nonzero(intensities > threshold) / intensities.size


def mismatch(threshold):
    return (area(threshold) - 0.25) ** 2


threshold = jnp.array(0.2)
for _ in range(200):
    threshold = threshold - 0.2 * jax.grad(mismatch)(threshold)
print(abs(float(threshold) - 0.5625) < 0.03)
