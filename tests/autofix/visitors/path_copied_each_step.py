# error: none
# expect: HostSyncWarning
# jax-differs: jax waits and copies in each step, and says nothing
# line: 26
# depends: -
# fix: keep_on_device
# fixed-file: fixed/path_copied_each_step.py
# result: (250, 2) -0.8112
# family: silent/host-sync-copy

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def rotate(state):
    x, y = state
    return jnp.stack([x - 0.01 * y, y + 0.01 * x])


state = jnp.array([1.0, 0.0])
path = []
for _ in range(250):
    state = rotate(state)
    path.append(np.asarray(state))
path = np.stack(path)
print(path.shape, round(float(path[-1, 0]), 4))
