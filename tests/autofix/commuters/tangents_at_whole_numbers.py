# error: TypeError
# line: 16
# depends: -
# fix: any
# result: [1.0, 0.5, -1.0, -3.5] [-3.0, -2.0, -1.0, 0.0]

import jax
import jax.numpy as jnp


def parabola(x):
    return 0.5 * x**2 - 3 * x + 1


def tangent(x):
    height, steepness = jax.value_and_grad(parabola)(x)
    return height - steepness * x, steepness


places = jnp.arange(4)
crossings, steepness = jax.vmap(tangent)(places)
print(crossings.tolist(), steepness.tolist())
