# One correct fixed version of gridworld_rollout.py
"""A tiny gymnax-like corridor environment and a scripted rollout."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class EnvState(NamedTuple):
    pos: jax.Array
    t: jax.Array
    done: jax.Array


class Corridor:
    length = 6
    horizon = 12

    def reset(self):
        return EnvState(jnp.int32(0), jnp.int32(0), jnp.bool_(False))

    def step(self, state, action):
        move = jnp.where(action == 1, 1, -1)
        pos = jnp.clip(state.pos + move, 0, self.length - 1)
        reached = pos == self.length - 1
        reward = jnp.where(reached, 1.0, -0.01) * ~state.done
        done = state.done | reached | (state.t + 1 >= self.horizon)
        return EnvState(pos, state.t + 1, done), reward


def rollout(env, actions):
    def body(state, action):
        state, reward = env.step(state, action)
        return state, reward

    return jax.lax.scan(body, env.reset(), actions)


actions = jnp.array([1, 1, 0, 1, 1, 1, 1, 0, 1, 1])
final, rewards = rollout(Corridor(), actions)
print("steps", int(final.t), "pos", int(final.pos))
print("return", round(float(rewards.sum()), 3))
