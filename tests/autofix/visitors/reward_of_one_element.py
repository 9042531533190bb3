# error: TypeError
# line: 30
# also-line: 34
# depends: -
# fix: carry_value
# fixed-file: fixed/reward_of_one_element.py
# result: (10,) -5.2675 ()
# family: carry/shape

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    position: jax.Array
    velocity: jax.Array
    reward: jax.Array


def reset():
    return State(jnp.array([1.0]), jnp.array([0.0]), jnp.zeros(()))


def step(state, action):
    velocity = state.velocity + 0.1 * (action - state.position)
    position = state.position + 0.1 * velocity
    reward = -(position**2) - 0.01 * action**2
    return State(position, velocity, reward), reward


actions = jnp.linspace(-1.0, 1.0, 10)[:, None]
state, rewards = jax.lax.scan(step, reset(), actions)
print(rewards.shape, round(float(rewards.sum()), 4), state.reward.shape)
