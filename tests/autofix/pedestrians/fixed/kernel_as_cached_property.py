from functools import cached_property

import jax
import jax.numpy as jnp


class Process:
    def __init__(self, inputs):
        self.inputs = inputs

    @cached_property
    def gram(self):
        gaps = self.inputs[:, None] - self.inputs[None, :]
        return jnp.exp(-0.5 * gaps**2) + 0.1 * jnp.eye(self.inputs.size)


process = Process(jnp.array([0.0, 1.0, 2.5]))


@jax.jit
def fit(targets):
    return jnp.linalg.solve(process.gram, targets)


process.gram
weights = fit(jnp.array([1.0, 0.0, -1.0]))
print((process.gram @ weights).round(3).tolist())
