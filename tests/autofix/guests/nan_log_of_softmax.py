# error: none
# expect: NaNGradientWarning | PrecisionLossWarning | FloatingPointError
# jax-differs: jax silently gives nan: the probability of a bad guess is 0
# line: 18
# also-line: 24
# depends: -
# fix: log_softmax
# fixed-file: fixed/nan_log_of_softmax.py
# result: [[-0.5, 0.5], [-45.0, 45.0]]

import jax
import jax.numpy as jnp


def cross_entropy(weights, x, labels):
    probabilities = jax.nn.softmax(x @ weights)
    chosen = probabilities[jnp.arange(labels.shape[0]), labels]
    return -jnp.mean(jnp.log(chosen))


x = jnp.array([[1.0, 90.0], [0.5, 60.0]])
labels = jnp.array([0, 1])
weights = jnp.array([[0.1, -0.1], [-1.0, 1.0]])
grads = jax.grad(cross_entropy)(weights, x, labels)
print([[round(float(g), 3) for g in row] for row in grads])
