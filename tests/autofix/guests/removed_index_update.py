# error: AttributeError
# line: 16
# depends: -
# fix: at_set
# fixed-file: fixed/removed_index_update.py
# result: [0.0, 21.875, 31.25, 21.875, 0.0]

import jax
import jax.numpy as jnp


@jax.jit
def heat_step(temperature, alpha):
    laplacian = jnp.zeros_like(temperature)
    interior = temperature[2:] - 2.0 * temperature[1:-1] + temperature[:-2]
    laplacian = jax.ops.index_update(laplacian, slice(1, -1), interior)
    return temperature + alpha * laplacian


rod = jnp.array([0.0, 0.0, 100.0, 0.0, 0.0])
for _ in range(3):
    rod = heat_step(rod, 0.25)
print([round(float(t), 3) for t in rod])
