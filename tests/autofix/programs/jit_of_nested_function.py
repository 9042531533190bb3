# error: none
# expect: RecompilationWarning
# line: 17
# also-line: 18
# depends: -
# fix: hoist_jit
# result: [0.9491, 1.8982]

"""A function defined and jitted anew for each round."""
from functools import partial

import jax
import jax.numpy as jnp


def anneal(x, temperature, target):
    @jax.jit
    def move(x):
        return x + temperature * (target["t"] - x)

    for _ in range(2):
        x = move(x)
    return x


x = jnp.zeros(2)
for k in range(6):
    x = anneal(x, 0.5 / (k + 1), {"t": jnp.array([1.0, 2.0])})
print([round(float(v), 4) for v in x])
