# One correct fixed version of scan_reward_shape.py
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

    init = (position, jnp.zeros_like(position), 1.0)
    return jax.lax.scan(body, init, actions)


(position, total, _), path = rollout(jnp.array([1.0]), jnp.array([[-1.0], [-2.0], [0.5]]))
print(path.shape, round(float(jnp.sum(total)), 4))
