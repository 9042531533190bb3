import jax
import jax.numpy as jnp

courant = 0.5


@jax.jit
def step(u_prev, u):
    lap = jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)
    u_next = 2.0 * u - u_prev + courant**2 * lap
    u_next = u_next.at[jnp.array([0, -1])].set(0.0)
    return u, u_next


x = jnp.linspace(0.0, 1.0, 11)
u = jnp.exp(-200.0 * (x - 0.2) ** 2)
u = u.at[0].set(0.0).at[-1].set(0.0)
u_prev = u
for n in range(12):
    u_prev, u = step(u_prev, u)
print(abs(round(float(u[0]), 3)), abs(round(float(u[-1]), 3)))
print(u[1:-1].round(2).tolist())
