# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently returns a gradient of zeros
# line: 19
# also-line: 31
# depends: -
# fix: straight_through
# fixed-file: fixed/quantised_layer_gradient.py
# result: improved: True
# family: 2/zero-gradient

import jax
import jax.numpy as jnp

LEVELS = 8


def quantise(w):
    return jnp.round(w * LEVELS) / LEVELS


def loss(w, x, y):
    return jnp.mean((x @ quantise(w) - y) ** 2)


x = jnp.array([[1.0, 0.5], [0.2, -1.0], [0.7, 0.3]])
y = x @ jnp.array([0.6, -0.4])
w = jnp.array([0.1, 0.1])
before = loss(w, x, y)
for _ in range(100):
    w = w - 0.2 * jax.grad(loss)(w, x, y)
print("improved:", bool(loss(w, x, y) < 0.5 * before))
