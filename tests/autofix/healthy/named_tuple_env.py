from typing import NamedTuple

import jax
import jax.numpy as jnp


class Env(NamedTuple):
    x: jax.Array
    goal: jax.Array
    time: jax.Array


def reset(key):
    start, goal = jax.random.uniform(key, (2,), minval=-1.0, maxval=1.0)
    return Env(start, goal, jnp.zeros((), jnp.int32))


def step(env, action):
    x = jnp.clip(env.x + 0.1 * action, -1.0, 1.0)
    reward = -jnp.abs(x - env.goal)
    env = env._replace(x=x, time=env.time + 1)
    return env, reward


@jax.jit
def rollout(key, gain):
    def body(env, _):
        return step(env, gain * (env.goal - env.x))

    return jax.lax.scan(body, reset(key), None, length=20)


keys = jax.random.split(jax.random.key(0), 8)
final, rewards = jax.vmap(rollout, in_axes=(0, None))(keys, 5.0)
print(rewards.shape, final.time.tolist()[:2], bool(jnp.all(rewards[:, -1] > -0.01)))
