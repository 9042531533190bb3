# error: none
# expect: HostSyncWarning
# jax-differs: jax silently copies each state to the host before the next step
# line: 26
# depends: -
# fix: convert_after_loop
# fixed-file: fixed/host_sync_numpy_rollout.py
# result: (300, 2) True

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
    track.append(np.asarray(state[0]))
track = np.stack(track)
print(track.shape, bool(track.min() < -0.9))
