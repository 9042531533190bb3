# error: TracerBoolConversionError
# line: 12
# depends: points, target
# fix: minimum_maximum
# result: [2.0, 2.0]

import jax
import jax.numpy as jnp


def closest(points, target):
    return min(points, key=lambda p: jnp.sum((p - target) ** 2))


@jax.jit
def snap(points, target):
    return closest(points, target)


print(snap(jnp.array([[0.0, 0.0], [2.0, 2.0]]), jnp.array([1.5, 1.0])).tolist())
