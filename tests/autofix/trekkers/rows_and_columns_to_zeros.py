# error: TypeError
# line: 12
# depends: -
# fix: any
# result: [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]

import jax
import jax.numpy as jnp


def transitions(states, n):
    table = jnp.zeros(n, n)
    return table.at[states[:-1], states[1:]].add(1.0)


print(transitions(jnp.array([0, 1, 1, 2, 0]), 3).tolist())
