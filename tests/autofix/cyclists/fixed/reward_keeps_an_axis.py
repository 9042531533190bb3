from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    position: jax.Array
    reward: jax.Array


def control(state, force):
    position = state.position + 0.1 * force
    reward = -jnp.sum(position**2)
    return State(position, reward), reward


start = State(jnp.array([1.0, -1.0]), jnp.zeros(()))
forces = jnp.array([[0.0, 1.0], [-2.0, 1.0], [0.5, 0.5]])
final, rewards = jax.lax.scan(control, start, forces)
print(final.position.round(3).tolist(), round(float(final.reward), 4), round(float(rewards.sum()), 4))
