import sagax
import sagax.numpy as jnp


@sagax.jit
def heat(u):
    for _ in range(200):  #~ SX0404 this loop puts 200 copies of its body into the program
        u = u + 0.25 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))
    return u


print(heat(jnp.zeros(16).at[3].set(8.0)).sum())
