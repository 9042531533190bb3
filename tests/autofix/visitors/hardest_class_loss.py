# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently returns gradients of zeros
# line: 20
# depends: w
# fix: smooth_loss
# fixed-file: fixed/hardest_class_loss.py
# result: True
# family: silent/zero-gradient-argmax

import jax
import jax.numpy as jnp

x = jnp.array([[1.0, 0.2], [0.1, 1.0], [-1.0, -0.5], [0.3, -0.9]])
ages = jnp.array([0.0, 1.0, 2.0, 2.0])


def predicted_age(w, x):
    scores = x @ w
    return jnp.argmax(scores, axis=1).astype(jnp.float32)


@jax.jit
def loss(w):
    return jnp.mean((predicted_age(w, x) - ages) ** 2)


w = 0.1 * jnp.arange(6.0).reshape(2, 3)
before = float(loss(w))
for _ in range(100):
    w = w - 0.3 * jax.grad(loss)(w)
print(bool(loss(w) < 0.6 * before))
