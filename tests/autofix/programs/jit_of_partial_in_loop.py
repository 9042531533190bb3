# error: none
# expect: RecompilationWarning
# line: 20
# depends: -
# fix: hoist_jit
# result: [-0.245 -0.245]

from functools import partial

import jax
import jax.numpy as jnp


def update(rate, w, g):
    return w - rate * g


def train(w, n):
    for i in range(n):
        step = jax.jit(partial(update, 0.1 / (i + 1)))
        w = step(w, jnp.ones(2))
    return w


print(train(jnp.zeros(2), 6).round(3))
