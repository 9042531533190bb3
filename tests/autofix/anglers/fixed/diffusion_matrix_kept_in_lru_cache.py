import jax
import jax.numpy as jnp


def laplacian(n):
    off = jnp.ones(n - 1)
    return jnp.diag(off, 1) + jnp.diag(off, -1) - 2.0 * jnp.eye(n)


@jax.jit
def explicit_step(u, dt):
    return u + dt * laplacian(u.shape[0]) @ u


@jax.jit
def implicit_step(u, dt):
    n = u.shape[0]
    return jnp.linalg.solve(jnp.eye(n) - dt * laplacian(n), u)


u0 = jnp.sin(jnp.linspace(0.0, jnp.pi, 9))
u, v = u0, u0
for _ in range(5):
    u = explicit_step(u, 0.2)
    v = implicit_step(v, 0.2)
print(round(float(u.sum()), 3), round(float(v.sum()), 3))
print(round(float(jnp.abs(u - v).max()), 4))
