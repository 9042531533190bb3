# error: TypeError
# line: 29
# also-line: 32, 33
# depends: -
# fix: match_dtype
# result: 1.875 1.5 1.875

"""Averages that decay, with a step count, in a state of a registered dataclass."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Running:
    mean: jax.Array
    steps: jax.Array


class Averager:
    def __init__(self, decay):
        self.decay = decay

    def push(self, state, value):
        steps = state.steps + 0.5
        mean = self.decay * state.mean + (1 - self.decay) * value
        return Running(mean, steps), mean

    def over(self, values):
        start = Running(mean=jnp.zeros(()), steps=jnp.zeros((), dtype=jnp.int32))
        return jax.lax.scan(self.push, start, values)


@jax.jit
def averaged(values):
    end, means = Averager(0.5).over(values)
    return end.mean, end.steps, means.max()


print(*[round(float(v), 4) for v in averaged(jnp.array([1.0, 3.0, 2.0]))])
