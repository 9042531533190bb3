# One correct fixed version of scan_mismatched_sequences.py
import jax
import jax.numpy as jnp

GAMMA, LAMBDA = 0.99, 0.95


def advantages(rewards, values):
    def backward(carry, step):
        reward, value, next_value = step
        delta = reward + GAMMA * next_value - value
        carry = delta + GAMMA * LAMBDA * carry
        return carry, carry

    steps = (rewards, values[:-1], values[1:])
    _, out = jax.lax.scan(backward, 0.0, steps, reverse=True)
    return out


rewards = jnp.array([0.0, 0.0, 1.0])
values = jnp.array([0.2, 0.4, 0.8, 0.0])
print([round(float(a), 4) for a in advantages(rewards, values)])
