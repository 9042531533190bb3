# error: TracerArrayConversionError
# line: 16
# depends: q
# fix: jnp_function
# fixed-file: fixed/observation_of_the_arm.py
# result: (3, 2) -1.2275
# family: concretization/numpy-concatenate

import jax
import jax.numpy as jnp
import numpy as np


def observe(q, velocity):
    """What a policy sees: positions on the circle and joint velocities."""
    return np.concatenate([np.cos(q), np.sin(q), velocity])


def policy(weights, q, velocity):
    return jnp.tanh(weights @ observe(q, velocity))


weights = jnp.linspace(-1.0, 1.0, 12).reshape(2, 6)
q = jnp.array([[0.0, 0.5], [1.0, -1.0], [2.0, 0.1]])
velocity = jnp.array([[0.1, 0.0], [0.0, 0.2], [-0.3, 0.0]])
actions = jax.vmap(policy, in_axes=(None, 0, 0))(weights, q, velocity)
print(actions.shape, round(float(actions.sum()), 4))
