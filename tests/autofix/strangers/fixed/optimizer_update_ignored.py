# One correct fixed version of optimizer_update_ignored.py
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
    updates, state = tx.update(grads, state)
    params = jax.tree.map(jnp.add, params, updates)
print(round(float(loss(params, x, 2.0 * x + 1.0)), 3))
