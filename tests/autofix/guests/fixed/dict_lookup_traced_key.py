# One correct fixed version of dict_lookup_traced_key.py
import jax
import jax.numpy as jnp

MASS = {1: 1.008, 6: 12.011, 8: 15.999}
MASS_TABLE = jnp.array([MASS.get(number, 0.0) for number in range(max(MASS) + 1)])


def atom_mass(species):
    return MASS_TABLE[species]


@jax.jit
def center_of_mass(species, positions):
    masses = jax.vmap(atom_mass)(species)
    return masses @ positions / masses.sum()


species = jnp.array([8, 1, 1])
positions = jnp.array([[0.0, 0.0], [0.76, 0.59], [-0.76, 0.59]])
print([round(float(v), 4) for v in center_of_mass(species, positions)])
