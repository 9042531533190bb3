# One correct fixed version of sampler_reads_each_energy.py
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def sweep(spins, field):
    neighbours = jnp.roll(spins, 1) + jnp.roll(spins, -1)
    spins = jnp.tanh(0.8 * neighbours + field)
    energy = -jnp.sum(spins * jnp.roll(spins, 1)) - field * jnp.sum(spins)
    return spins, energy


spins = jnp.linspace(-0.5, 0.6, 16)
energies = []
for i in range(400):
    spins, energy = sweep(spins, 0.1)
    energies.append(energy)
trace = np.asarray(jnp.stack(energies))
print(round(float(trace[-100:].mean()), 3))
