# One correct fixed version of double_precision_integrator.py
"""Leapfrog orbit with an energy drift check."""
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def acceleration(q):
    return -q / jnp.sum(q ** 2) ** 1.5


def leapfrog(state, dt):
    q, p = state
    p = p + 0.5 * dt * acceleration(q)
    q = q + dt * p
    p = p + 0.5 * dt * acceleration(q)
    return q, p


def energy(state):
    q, p = state
    return 0.5 * jnp.sum(p ** 2) - 1.0 / jnp.sqrt(jnp.sum(q ** 2))


def orbit(q0, p0, dt=1e-3, steps=20000):
    state = (jnp.array(q0, dtype=jnp.float64), jnp.array(p0, dtype=jnp.float64))
    e0 = energy(state)
    body = lambda s, _: (leapfrog(s, dt), None)
    state, _ = jax.lax.scan(body, state, length=steps)
    return state, jnp.abs((energy(state) - e0) / e0)


state, drift = orbit([1.0, 0.0], [0.0, 1.0])
print("drift below 1e-9:", bool(drift < 1e-9))
