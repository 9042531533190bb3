import jax
import jax.numpy as jnp

L = 6
rows, cols = jnp.indices((L, L))
black = (rows + cols) % 2 == 0


def local_field(spins):
    vertical = jnp.roll(spins, 1, 0) + jnp.roll(spins, -1, 0)
    horizontal = jnp.roll(spins, 1, 1) + jnp.roll(spins, -1, 1)
    return vertical + horizontal


@jax.jit
def half_sweep(spins, sublattice):
    cost = 2 * spins * local_field(spins)
    flip = sublattice & (cost < 0)
    spins = jnp.where(flip, -spins, spins)
    return spins


spins = jnp.where((rows * 5 + cols * 3) % 7 < 4, 1, -1)
print(int(spins.sum()))
for sweep in range(3):
    spins = half_sweep(spins, black)
    spins = half_sweep(spins, ~black)
    energy = -0.5 * jnp.sum(spins * local_field(spins))
    print(int(spins.sum()), float(energy))
