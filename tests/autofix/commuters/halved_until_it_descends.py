# error: TracerBoolConversionError
# line: 21
# depends: point
# fix: any
# result: [1.6480001211166382, 0.6700000166893005] 0.0625

import jax
import jax.numpy as jnp

scale = jnp.array([1.0, 30.0])


def energy(point):
    return 0.5 * jnp.sum(scale * point**2)


@jax.jit
def descend(point):
    slope = jax.grad(energy)(point)
    rate = 1.0
    while energy(point - rate * slope) > energy(point):
        rate = rate * 0.5
    return point - rate * slope, rate


point = jnp.array([2.0, -1.0])
for _ in range(3):
    point, rate = descend(point)
print(point.round(3).tolist(), float(rate))
