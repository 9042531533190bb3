# One correct fixed version of returns_with_bootstrap.py
import jax
import jax.numpy as jnp

GAMMA, LAMBDA = 0.99, 0.95


@jax.jit
def advantages(rewards, values, dones):
    """values has one more entry, the value of the state after the last step."""

    def back(carry, step):
        gae, following = carry
        reward, value, done = step
        delta = reward + GAMMA * following * (1.0 - done) - value
        gae = delta + GAMMA * LAMBDA * (1.0 - done) * gae
        return (gae, value), gae

    start = (jnp.zeros(()), values[-1])
    _, out = jax.lax.scan(back, start, (rewards, values[:-1], dones), reverse=True)
    return out


rewards = jnp.array([1.0, 0.0, 1.0, 1.0])
values = jnp.array([0.5, 0.4, 0.6, 0.2, 0.3])
print([round(float(v), 3) for v in advantages(rewards, values, jnp.array([0.0, 1.0, 0.0, 0.0]))])
