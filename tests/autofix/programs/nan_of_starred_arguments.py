# error: none
# expect: NaNGradientWarning
# line: 16
# depends: points
# fix: double_where
# result: [[-1.  0.] ; [ 1.  0.]]

import functools

import jax
import jax.numpy as jnp


def lengths(points):
    squares = jnp.sum((points[:, None] - points[None]) ** 2, axis=-1)
    return jnp.where(squares > 0, jnp.sqrt(squares), 0.0)


def tension(points, weights, scale):
    return scale * jnp.sum(weights * lengths(points)) / 2


@jax.jit
def pull(state):
    return jax.grad(functools.partial(tension, scale=1.0))(*state)


print(pull((jnp.array([[0.0, 0.0], [2.0, 0.0]]), jnp.ones((2, 2)))))
