# error: ConcretizationTypeError
# line: 21
# depends: positions
# fix: keep_arrays
# fixed-file: fixed/neighbors_as_a_list.py
# result: [-1.0, 1.0]
# family: concretization/tolist

import jax
import jax.numpy as jnp

SPINS = jnp.array([1.0, -1.0, -1.0, 1.0, 1.0])


@jax.jit
def local_field(positions, site):
    """Sum of the spins of the three sites that are nearest to one site."""
    distance = jnp.abs(positions - positions[site])
    order = jnp.argsort(distance)
    total = 0.0
    for neighbor in order[1:4].tolist():
        total = total + SPINS[neighbor]
    return total


positions = jnp.array([0.0, 1.0, 2.5, 2.9, 6.0])
print([float(local_field(positions, site)) for site in (0, 2)])
