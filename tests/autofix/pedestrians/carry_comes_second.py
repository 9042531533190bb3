# error: TypeError
# expect: TypeError | ValueError
# line: 19
# also-line: 13, 15
# depends: -
# fix: parameter
# result: 1.176 [-2.5999999046325684, -1.2799999713897705, -3.8239998817443848]

import jax
import jax.numpy as jnp


def smooth(observation, level):
    level = 0.8 * level + 0.2 * observation.mean()
    return level, level - observation.max()


readings = jnp.array([[1.0, 3.0], [2.0, 2.0], [5.0, 1.0]])
level, gaps = jax.lax.scan(smooth, 0.0, readings)
print(round(float(level), 4), gaps.round(4).tolist())
