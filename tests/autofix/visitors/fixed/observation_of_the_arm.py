# One correct fixed version of observation_of_the_arm.py
import jax
import jax.numpy as jnp
import numpy as np


def observe(q, velocity):
    """What a policy sees: positions on the circle and joint velocities."""
    return jnp.concatenate([jnp.cos(q), jnp.sin(q), velocity])


def policy(weights, q, velocity):
    return jnp.tanh(weights @ observe(q, velocity))


weights = jnp.linspace(-1.0, 1.0, 12).reshape(2, 6)
q = jnp.array([[0.0, 0.5], [1.0, -1.0], [2.0, 0.1]])
velocity = jnp.array([[0.1, 0.0], [0.0, 0.2], [-0.3, 0.0]])
actions = jax.vmap(policy, in_axes=(None, 0, 0))(weights, q, velocity)
print(actions.shape, round(float(actions.sum()), 4))
