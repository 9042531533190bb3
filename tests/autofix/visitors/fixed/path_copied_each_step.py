# One correct fixed version of path_copied_each_step.py
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
    path.append(state)
path = np.asarray(jnp.stack(path))
print(path.shape, round(float(path[-1, 0]), 4))
