# error: TypeError
# line: 28
# also-line: 14
# depends: -
# fix: unjit_generator
# fixed-file: fixed/trajectory_generator_jitted.py
# result: 20 True
# family: types/generator-returned-from-jit

import jax
import jax.numpy as jnp


@jax.jit
def leapfrog(q, p):
    """Yields the states of a pendulum."""
    while True:
        p = p - 0.05 * jnp.sin(q)
        q = q + 0.1 * p
        p = p - 0.05 * jnp.sin(q)
        yield q, p


def energy(q, p):
    return 0.5 * p**2 - jnp.cos(q)


orbit = leapfrog(jnp.array(1.0), jnp.array(0.0))
states = [next(orbit) for _ in range(20)]
drift = max(abs(float(energy(q, p) - energy(1.0, 0.0))) for q, p in states)
print(len(states), drift < 0.01)
