# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently returns a gradient of zeros
# line: 22
# also-line: 23, 28
# depends: -
# fix: smooth_loss
# fixed-file: fixed/accuracy_as_loss.py
# result: all right: True
# family: 2/zero-gradient

import jax
import jax.numpy as jnp


def logits(w, x):
    return x @ w


def loss(w, x, labels):
    """The share of wrong answers."""
    guess = jnp.argmax(logits(w, x), axis=1)
    return jnp.mean((guess != labels).astype(jnp.float32))


@jax.jit
def train_step(w, x, labels):
    return w - 0.5 * jax.grad(loss)(w, x, labels)


x = jnp.array([[2.0, 0.1], [0.2, 1.5], [1.0, 0.3], [0.1, 0.9]])
labels = jnp.array([1, 0, 1, 0])
w = jnp.eye(2)
for _ in range(100):
    w = train_step(w, x, labels)
print("all right:", bool(jnp.all(jnp.argmax(logits(w, x), axis=1) == labels)))
