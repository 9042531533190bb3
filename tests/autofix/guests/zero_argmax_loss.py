# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently gives a gradient of zeros
# line: 16
# also-line: 24
# depends: -
# fix: smooth_surrogate
# fixed-file: fixed/zero_argmax_loss.py
# result: True

import jax
import jax.numpy as jnp


def error_rate(weights, x, labels):
    predicted = jnp.argmax(x @ weights, axis=-1)
    return jnp.mean((predicted - labels) ** 2.0)


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5]])
labels = jnp.array([1, 0, 0, 1])
weights = jnp.array([[0.2, 0.0], [0.0, 0.1]])
for _ in range(40):
    weights = weights - 0.5 * jax.grad(error_rate)(weights, x, labels)
accuracy = jnp.mean(jnp.argmax(x @ weights, axis=-1) == labels)
print(bool(accuracy >= 0.75))
