import jax
import jax.numpy as jnp


@jax.jit
def relax(u):
    inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u.at[1:-1, 1:-1].set(inner)


u = jnp.zeros((8, 8)).at[0].set(1.0)
for _ in range(150):
    u = relax(u)
print(round(float(u[3, 3] + u[4, 3]), 3), bool(jnp.all(u <= 1.0)))
