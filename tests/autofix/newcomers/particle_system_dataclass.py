# error: TypeError
# line: 33
# depends: -
# fix: register_pytree
# result: 4.24

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp


@dataclass
class Particles:
    position: jax.Array
    velocity: jax.Array
    mass: jax.Array

    def kinetic(self):
        return 0.5 * jnp.sum(self.mass[:, None] * self.velocity**2)


@jax.jit
def leapfrog(system, dt):
    half = system.velocity - 0.5 * dt * system.position
    position = system.position + dt * half
    velocity = half - 0.5 * dt * position
    return replace(system, position=position, velocity=velocity)


system = Particles(jnp.ones((3, 2)), jnp.zeros((3, 2)), jnp.array([1.0, 2.0, 3.0]))
for _ in range(10):
    system = leapfrog(system, 0.1)
print(round(float(system.kinetic()), 3))
