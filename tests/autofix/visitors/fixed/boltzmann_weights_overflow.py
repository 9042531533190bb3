# One correct fixed version of boltzmann_weights_overflow.py
import jax
import jax.numpy as jnp


def occupation(energies, beta):
    return jax.nn.softmax(-beta * energies)


@jax.jit
def mean_energy(energies, beta):
    return jnp.sum(energies * occupation(energies, beta))


energies = jnp.array([-12.0, -11.5, -3.0])
for beta in (0.1, 1.0, 10.0):
    print(round(float(mean_energy(energies, beta)), 4))
