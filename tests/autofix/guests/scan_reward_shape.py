# error: TypeError
# line: 25
# also-line: 27, 28
# depends: -
# fix: match_shape
# fixed-file: fixed/scan_reward_shape.py
# result: (3, 1) -2.1375

import jax
import jax.numpy as jnp

GAMMA = 0.9


def env_step(position, action):
    position = position + 0.1 * action
    reward = -jnp.abs(position)
    return position, reward


def rollout(position, actions):
    def body(carry, action):
        position, total, discount = carry
        position, reward = env_step(position, action)
        return (position, total + discount * reward, GAMMA * discount), position

    init = (position, 0.0, 1.0)
    return jax.lax.scan(body, init, actions)


(position, total, _), path = rollout(jnp.array([1.0]), jnp.array([[-1.0], [-2.0], [0.5]]))
print(path.shape, round(float(jnp.sum(total)), 4))
