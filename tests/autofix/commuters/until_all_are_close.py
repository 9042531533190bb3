# error: TypeError
# line: 17
# depends: -
# fix: any
# result: [0.20400001108646393, 0.18400001525878906, 0.4390000104904175]

import jax
import jax.numpy as jnp

matrix = jnp.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
right = jnp.array([1.0, 2.0, 3.0])
diagonal = jnp.diag(matrix)


def unfinished(state):
    guess, change = state
    return jnp.abs(change) > 1e-4


def sweep(state):
    guess, _ = state
    fresh = guess + (right - matrix @ guess) / diagonal
    return fresh, fresh - guess


@jax.jit
def solve():
    return jax.lax.while_loop(unfinished, sweep, (jnp.zeros(3), jnp.ones(3)))[0]


print(solve().round(3).tolist())
