# error: TypeError
# expect: TypeError | ValueError
# line: 24
# also-line: 26
# depends: -
# fix: match_tree
# result: -11.772 84.292

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Particle(NamedTuple):
    position: jax.Array
    velocity: jax.Array


def drop(start, steps, dt=0.1):
    def step(p, _):
        velocity = p.velocity - 9.81 * dt
        position = jnp.maximum(p.position + dt * velocity, 0.0)
        return (position, velocity), position

    return jax.lax.scan(step, start, None, length=steps)


end, heights = drop(Particle(jnp.array(10.0), jnp.array(0.0)), 12)
print(round(float(end.velocity), 3), round(float(heights.sum()), 3))
