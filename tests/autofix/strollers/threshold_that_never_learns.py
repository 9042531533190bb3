# error: none
# expect: ZeroGradientWarning
# jax-differs: jax gives 0
# line: 18
# also-line: 24
# depends: -
# fix: smooth
# result: moved True

import jax
import jax.numpy as jnp

scores = jnp.array([0.1, 0.4, 0.6, 0.9])
labels = jnp.array([0.0, 0.0, 1.0, 1.0])


def loss(threshold):
    predicted = jnp.where(scores > threshold, 1.0, 0.0)
    return jnp.mean((predicted - labels) ** 2)


threshold = 0.3
for _ in range(20):
    threshold = threshold - 0.5 * jax.grad(loss)(threshold)
print("moved", bool(abs(threshold - 0.3) > 1e-3))
