import jax
import jax.numpy as jnp
from jax import lax


def laplacian(u):
    return jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)


def diffuse(u, steps, alpha=0.2):
    def body(_, u):
        return u + alpha * laplacian(u)

    u = lax.fori_loop(0, steps, body, u)
    return u


u0 = jnp.zeros(16).at[8].set(1.0)
u = diffuse(u0, 25)
print(round(float(u[8]), 4), round(float(u.sum()), 4))
