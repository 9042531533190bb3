# error: UnexpectedTracerError
# expect: UnexpectedTracerError
# line: 30
# also-line: 22, 34
# depends: -
# fix: leak
# result: [1.0, 0.0, -1.0]

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


weights = fit(jnp.array([1.0, 0.0, -1.0]))
print((process.gram @ weights).round(3).tolist())
