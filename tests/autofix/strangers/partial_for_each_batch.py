# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles again in each round
# line: 27
# also-line: 28
# depends: -
# fix: hoist_jit
# fixed-file: fixed/partial_for_each_batch.py
# result: 2.495
# family: 3/partial-in-loop

from functools import partial

import jax
import jax.numpy as jnp


def update(rate, w, batch):
    x, y = batch
    grad = jax.grad(lambda v: jnp.mean((x * v - y) ** 2))(w)
    return w - rate * grad


w = jnp.array(0.0)
x = jnp.array([1.0, 2.0, 3.0])
for epoch in range(10):
    step = jax.jit(partial(update, 0.05))
    w = step(w, (x, 2.5 * x))
print(round(float(w), 3))
