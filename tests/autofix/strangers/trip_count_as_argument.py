# error: ValueError
# line: 23
# also-line: 30
# depends: steps
# fix: static_argument
# fixed-file: fixed/trip_count_as_argument.py
# result: 1.639
# family: 3/reverse-of-while

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
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
