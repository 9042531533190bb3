import enum
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


class Exercise(enum.Enum):
    EUROPEAN = "european"
    AMERICAN = "american"


@dataclass(frozen=True)
class Tree:
    steps: int
    exercise: Exercise


@partial(jax.jit, static_argnames="tree")
def put(s, k, r, sigma, t, tree):
    dt = t / tree.steps
    u = jnp.exp(sigma * jnp.sqrt(dt))
    p = (jnp.exp(r * dt) - 1 / u) / (u - 1 / u)
    j = jnp.arange(tree.steps + 1)
    value = jnp.maximum(k - s * u ** (2 * j - tree.steps), 0.0)
    for n in range(tree.steps, 0, -1):
        value = jnp.exp(-r * dt) * (p * value[1:] + (1 - p) * value[:-1])
        if tree.exercise is Exercise.AMERICAN:
            spot = s * u ** (2 * jnp.arange(n) - (n - 1))
            value = jnp.maximum(value, k - spot)
    return value[0]


prices = [put(100.0, 105.0, 0.05, 0.2, 1.0, Tree(24, e)) for e in Exercise]
print(bool(prices[1] > prices[0]), [round(float(p), 1) for p in prices])
