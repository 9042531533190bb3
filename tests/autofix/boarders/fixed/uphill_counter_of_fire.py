from typing import NamedTuple

import jax
import jax.numpy as jnp


class FireState(NamedTuple):
    position: jax.Array
    velocity: jax.Array
    dt: float
    uphill: int


def energy(r):
    return jnp.sum((r**2 - 1.0) ** 2) + 0.1 * jnp.sum(r)


def fire_step(state, _):
    force = -jax.grad(energy)(state.position)
    power = jnp.vdot(force, state.velocity)
    velocity = 0.9 * state.velocity + state.dt * force
    dt = jnp.where(power >= 0, jnp.minimum(1.1 * state.dt, 0.2), 0.5 * state.dt)
    uphill = jnp.where(power >= 0, state.uphill, state.uphill + 1)
    position = state.position + dt * velocity
    new = FireState(position, jnp.where(power >= 0, velocity, 0.0), dt, uphill)
    return new, energy(position)


@jax.jit
def minimize(start):
    state = FireState(start, jnp.zeros_like(start), 0.05, jnp.zeros((), jnp.int32))
    return jax.lax.scan(fire_step, state, None, length=60)


state, energies = minimize(jnp.array([0.3, -0.4, 1.7]))
print(int(state.uphill), round(float(energies[-1]), 3))
