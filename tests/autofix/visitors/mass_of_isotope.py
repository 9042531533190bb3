# error: TypeError
# line: 16
# depends: protons
# fix: array_table
# fixed-file: fixed/mass_of_isotope.py
# result: 1.8662
# family: concretization/dict-key

import jax
import jax.numpy as jnp

MASSES = {1: 1.008, 6: 12.011, 7: 14.007, 8: 15.999}


def moment(protons, position):
    return MASSES[protons] * jnp.sum(position**2)


@jax.jit
def inertia(elements, positions):
    """Moment of inertia about the origin."""
    return jnp.sum(jax.vmap(moment)(elements, positions))


elements = jnp.array([8, 1, 1])
positions = jnp.array([[0.0, 0.0], [0.76, 0.59], [-0.76, 0.59]])
print(round(float(inertia(elements, positions)), 4))
