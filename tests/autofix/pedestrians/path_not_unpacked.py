# error: AttributeError
# expect: AttributeError
# line: 20
# also-line: 19
# depends: -
# fix: unpack
# result: (3, 2) [0.15000000596046448, 0.25]

import jax
import jax.numpy as jnp


def step(position, velocity):
    position = position + 0.1 * velocity
    return position, position


velocities = jnp.array([[1.0, 0.0], [0.5, 0.5], [0.0, 2.0]])
path = jax.lax.scan(step, jnp.zeros(2), velocities)
print(path.shape, path[-1].round(3).tolist())
