# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax gives nan
# line: 14
# depends: -
# fix: where
# result: [[-0.6000000238418579, -0.800000011920929], [0.0, 0.0], [0.6000000238418579, 0.800000011920929]]

import jax
import jax.numpy as jnp


def distance(a, b):
    return jnp.sum((a - b) ** 2) ** 0.5


points = jnp.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])


def stress(points):
    return distance(points[0], points[2]) + distance(points[0], points[1])


grads = jax.grad(stress)(points)
print(grads.tolist())
