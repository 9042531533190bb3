import functools

import jax
import jax.numpy as jnp

N = 40
DX = 1.0 / N
SPEED, DIFFUSIVITY = -1.0, 0.002


def flux(u, i):
    """Flux through the face between cells i and i + 1 of a ring."""
    left, right = u[i], u[(i + 1) % N]
    return 0.5 * SPEED * (left + right) - DIFFUSIVITY * (right - left) / DX


def tendency(u):
    faces = jax.vmap(functools.partial(flux, u))(jnp.arange(N))
    return -(faces - jnp.roll(faces, 1)) / DX


@functools.partial(jax.jit, static_argnames="steps")
def advect(u, dt, steps):
    def midpoint(_, u):
        return u + dt * tendency(u + 0.5 * dt * tendency(u))

    return jax.lax.fori_loop(0, steps, midpoint, u)


x = (jnp.arange(N) + 0.5) * DX
u0 = jnp.exp(-(((x - 0.3) / 0.1) ** 2))
u = advect(u0, 0.005, 160)
print(round(float(u.sum() * DX), 3), round(float(x[jnp.argmax(u)]), 2), round(float(u.max()), 2))
