# error: none
# expect: UnusedResultWarning
# line: 18
# depends: -
# fix: any
# result: 0.0 0.0 ; [-0.05999999865889549, 0.2800000011920929, -0.47999998927116394, -0.11999999731779099, -0.25, -0.14000000059604645, 0.29999998211860657, 0.3100000023841858, 0.11999999731779099]

import jax
import jax.numpy as jnp

courant = 0.5


@jax.jit
def step(u_prev, u):
    lap = jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)
    u_next = 2.0 * u - u_prev + courant**2 * lap
    u_next.at[jnp.array([0, -1])].set(0.0)
    return u, u_next


x = jnp.linspace(0.0, 1.0, 11)
u = jnp.exp(-200.0 * (x - 0.2) ** 2)
u = u.at[0].set(0.0).at[-1].set(0.0)
u_prev = u
for n in range(12):
    u_prev, u = step(u_prev, u)
print(abs(round(float(u[0]), 3)), abs(round(float(u[-1]), 3)))
print(u[1:-1].round(2).tolist())
