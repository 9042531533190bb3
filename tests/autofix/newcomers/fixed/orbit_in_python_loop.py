import jax
import jax.numpy as jnp


def acceleration(r):
    return -r / jnp.linalg.norm(r) ** 3


@jax.jit
def orbit(r, v):
    dt = 0.01

    def leapfrog(_, state):
        r, v = state
        v = v + 0.5 * dt * acceleration(r)
        r = r + dt * v
        return r, v + 0.5 * dt * acceleration(r)

    return jax.lax.fori_loop(0, 300, leapfrog, (r, v))


r, v = orbit(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]))
print([round(c, 2) for c in r.tolist()], round(float(jnp.linalg.norm(v)), 3))
