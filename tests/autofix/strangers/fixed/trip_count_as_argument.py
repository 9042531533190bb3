# One correct fixed version of trip_count_as_argument.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def pendulum(mass, steps):
    def advance(_, state):
        angle, speed = state
        speed = speed - 0.05 * jnp.sin(angle) / mass
        return angle + 0.05 * speed, speed

    angle, _ = jax.lax.fori_loop(0, steps, advance, (1.0, 0.0))
    return angle


objective = partial(lambda target, mass: (pendulum(mass, 40) - target) ** 2, 0.2)
mass = 1.0
for _ in range(10):
    mass = mass - 0.2 * jax.grad(objective)(mass)
print(round(float(mass), 3))
