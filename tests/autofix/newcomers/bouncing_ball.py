# error: TracerBoolConversionError
# line: 25
# depends: ball, dt
# fix: where
# result: 0.402 0.999

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Ball(NamedTuple):
    height: jax.Array
    velocity: jax.Array


GRAVITY = 9.81
RESTITUTION = 0.8


def advance(ball, dt):
    v = ball.velocity - GRAVITY * dt
    h = ball.height + v * dt
    if h < 0:
        h, v = -h, -RESTITUTION * v
    return Ball(h, v), h


ball = Ball(jnp.array(1.0), jnp.array(0.0))
final, heights = jax.lax.scan(advance, ball, jnp.full(150, 0.01))
print(round(float(final.height), 3), round(float(heights.max()), 3))
