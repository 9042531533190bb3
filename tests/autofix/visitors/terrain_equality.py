# error: TracerBoolConversionError
# line: 27
# depends: terrain
# fix: where
# fixed-file: fixed/terrain_equality.py
# result: 10.0 ; 29.851
# family: concretization/dataclass-eq

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Plane:
    slope: jax.Array
    height: jax.Array


FLAT = Plane(jnp.array(0.0), jnp.array(0.0))


@jax.jit
def contact_force(terrain, x, z):
    if terrain == FLAT:
        depth = -z
    else:
        depth = (terrain.height + terrain.slope * x - z) * jnp.cos(jnp.arctan(terrain.slope))
    return 1000.0 * jnp.maximum(depth, 0.0)


print(round(float(contact_force(FLAT, 0.5, -0.01)), 3))
print(round(float(contact_force(Plane(jnp.array(0.1), jnp.array(0.0)), 0.5, 0.02)), 3))
