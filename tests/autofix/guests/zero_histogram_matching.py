# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently gives a gradient of zeros
# line: 21
# also-line: 31
# depends: -
# fix: smooth_surrogate
# fixed-file: fixed/zero_histogram_matching.py
# result: True

import jax
import jax.numpy as jnp

EDGES = jnp.linspace(0.0, 1.0, 5)
CENTERS = 0.5 * (EDGES[1:] + EDGES[:-1])
pixels = jnp.array([0.05, 0.1, 0.2, 0.3, 0.35, 0.6])
wanted = jnp.array([0.0, 0.2, 0.5, 0.3])


def histogram(values):
    counts, _ = jnp.histogram(values, bins=EDGES)
    return counts / values.shape[0]


def mismatch(gamma):
    return jnp.sum((histogram(pixels**gamma) - wanted) ** 2)


gamma = 1.0
for _ in range(50):
    gamma = gamma - 0.05 * jax.grad(mismatch)(gamma)
print(bool(gamma < 0.8))
