# error: TypeError
# line: 35
# depends: -
# fix: pytree_register
# result: [2.0, 2.0]
# grade: ran
"""An object that is a part of what a mapped function returns."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Ray:
    def __init__(self, origin, direction):
        self.origin = origin
        self.direction = direction / jnp.linalg.norm(direction)

    def at(self, t):
        return self.origin + t * self.direction


class Hit(NamedTuple):
    point: jax.Array
    ray: Ray


def cast(origin, direction):
    ray = Ray(origin, direction)
    return Hit(ray.at(2.0), ray)


@jax.jit
def image(origins, directions):
    hits = jax.vmap(cast)(origins, directions)
    return (hits.point * hits.ray.direction).sum(axis=1)


print([round(float(v), 4) for v in image(jnp.zeros((2, 2)), jnp.array([[3.0, 4.0], [0.0, 1.0]]))])
