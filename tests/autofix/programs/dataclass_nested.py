# error: TypeError
# line: 23
# depends: particle
# fix: pytree_register
# result: 60.0

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Particle:
    mass: float
    place: jax.Array


def energy(particle, g):
    return particle.mass * g * particle.place[1]


total = jax.jit(energy)(Particle(2.0, jnp.array([0.0, 3.0])), 10.0)
print(float(total))
