# One correct fixed version of mass_of_isotope.py
import jax
import jax.numpy as jnp

MASSES = {1: 1.008, 6: 12.011, 7: 14.007, 8: 15.999}
TABLE = jnp.zeros(max(MASSES) + 1).at[jnp.array(list(MASSES))].set(jnp.array(list(MASSES.values())))


def moment(protons, position):
    return TABLE[protons] * jnp.sum(position**2)


@jax.jit
def inertia(elements, positions):
    """Moment of inertia about the origin."""
    return jnp.sum(jax.vmap(moment)(elements, positions))


elements = jnp.array([8, 1, 1])
positions = jnp.array([[0.0, 0.0], [0.76, 0.59], [-0.76, 0.59]])
print(round(float(inertia(elements, positions)), 4))
