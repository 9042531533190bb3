# One correct fixed version of trajectory_generator_jitted.py
import jax
import jax.numpy as jnp


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
