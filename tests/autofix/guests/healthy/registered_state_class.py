import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.tree_util.register_dataclass, data_fields=("position", "velocity"), meta_fields=("mass",))
@dataclasses.dataclass(frozen=True)
class Body:
    position: jax.Array
    velocity: jax.Array
    mass: float


@jax.jit
def kick(body, force):
    velocity = body.velocity + 0.1 * force / body.mass
    return dataclasses.replace(body, velocity=velocity, position=body.position + 0.1 * velocity)


body = Body(jnp.zeros(2), jnp.array([1.0, 0.0]), 2.0)
for _ in range(5):
    body = kick(body, jnp.array([0.0, -1.0]))
print([round(float(v), 4) for v in body.position], body.mass)
