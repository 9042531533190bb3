"""An object of a class that is no pytree."""
import dataclasses

import sagax
import sagax.numpy as jnp


@dataclasses.dataclass
class Body:
    position: object
    speed: object


@sagax.jit
def step(body, dt):
    return body.position + dt * body.speed


step(Body(jnp.zeros(2), jnp.ones(2)), 0.1)  #~ SX0007 is not a valid JAX type
