# One correct fixed version of host_sync_numpy_rollout.py
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(state):
    position, velocity = state
    velocity = velocity - 0.02 * position
    return position + 0.02 * velocity, velocity


state = (jnp.array([1.0, 0.5]), jnp.zeros(2))
track = []
for _ in range(300):
    state = step(state)
    track.append(state[0])
track = np.asarray(jnp.stack(track))
print(track.shape, bool(track.min() < -0.9))
