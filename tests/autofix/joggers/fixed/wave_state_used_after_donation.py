import jax
import jax.numpy as jnp


def leapfrog(u, velocity):
    laplacian = jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)
    velocity = velocity + 0.25 * laplacian
    return u + velocity, velocity


step = jax.jit(leapfrog)

u = jnp.exp(-((jnp.arange(8.0) - 3.0) ** 2))
velocity = jnp.zeros(8)
for _ in range(3):
    new_u, velocity = step(u, velocity)
    change = jnp.max(jnp.abs(new_u - u))
    print(round(float(change), 4))
    u = new_u
print(u.round(3).tolist())
