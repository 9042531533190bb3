# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently gives a gradient of zero
# line: 19
# also-line: 28
# depends: -
# fix: smooth_surrogate
# fixed-file: fixed/zero_threshold_count.py
# result: 3 True

import jax
import jax.numpy as jnp

scores = jnp.array([0.1, 0.35, 0.4, 0.62, 0.8, 0.9])
wanted = 3.0


def selected(threshold):
    return jnp.sum((scores > threshold).astype(jnp.float32))


def loss(threshold):
    return (selected(threshold) - wanted) ** 2


threshold = 0.2
for _ in range(200):
    threshold = threshold - 0.002 * jax.grad(loss)(threshold)
print(int(selected(threshold)), bool(0.4 <= threshold < 0.62))
