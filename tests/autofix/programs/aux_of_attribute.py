# error: TypeError
# line: 23
# also-line: 30
# depends: -
# fix: has_aux
# result: 0.82 6.5

"""A loss that also returns predictions, differentiated in a trainer."""
from functools import partial

import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, loss, rate):
        self.loss = loss
        self.rate = rate

    @partial(jax.jit, static_argnums=0)
    def step(self, params, x, y):
        gradient = jax.grad(self.loss)
        grads, predictions = gradient(params, x, y)
        new = jax.tree.map(lambda p, g: p - self.rate * g, params, grads)
        return new, predictions


def squared(params, x, y):
    predictions = params["a"] * x + params["b"]
    return jnp.mean((predictions - y) ** 2), predictions


trainer = Trainer(squared, rate=0.2)
params = {"a": jnp.float32(0.0), "b": jnp.float32(0.5)}
for _ in range(2):
    params, predictions = trainer.step(params, jnp.array([1.0, 2.0]), jnp.array([2.0, 3.0]))
print(round(float(params["a"]), 4), round(float(predictions.sum()), 4))
