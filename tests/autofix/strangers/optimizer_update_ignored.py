# error: none
# expect: UnusedResultWarning
# jax-differs: jax silently trains with the same parameters
# line: 43
# depends: -
# fix: assign_result
# fixed-file: fixed/optimizer_update_ignored.py
# result: 0.058
# family: 2/result-thrown-away

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Transform(NamedTuple):
    init: object
    update: object


def momentum(rate, decay):
    def init(params):
        return jax.tree.map(jnp.zeros_like, params)

    def update(grads, state):
        state = jax.tree.map(lambda s, g: decay * s + g, state, grads)
        return jax.tree.map(lambda s: -rate * s, state), state

    return Transform(init, update)


def loss(params, x, y):
    return jnp.mean((params["w"] * x + params["b"] - y) ** 2)


x = jnp.array([0.0, 1.0, 2.0])
params = {"w": jnp.array(0.0), "b": jnp.array(0.0)}
tx = momentum(0.05, 0.9)
state = tx.init(params)
for _ in range(50):
    grads = jax.grad(loss)(params, x, 2.0 * x + 1.0)
    tx.update(grads, state)
print(round(float(loss(params, x, 2.0 * x + 1.0)), 3))
