# error: TypeError
# expect: TypeError
# line: 23
# also-line: 22, 28
# depends: -
# fix: shape
# result: [0.8500000238418579, -0.7500000596046448] -1.285 -4.375

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    position: jax.Array
    reward: jax.Array


def control(state, force):
    position = state.position + 0.1 * force
    reward = -jnp.sum(position**2, keepdims=True)
    return State(position, reward), reward


start = State(jnp.array([1.0, -1.0]), jnp.zeros(()))
forces = jnp.array([[0.0, 1.0], [-2.0, 1.0], [0.5, 0.5]])
final, rewards = jax.lax.scan(control, start, forces)
print(final.position.round(3).tolist(), round(float(final.reward), 4), round(float(rewards.sum()), 4))
