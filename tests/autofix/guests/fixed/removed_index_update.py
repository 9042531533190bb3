# One correct fixed version of removed_index_update.py
import jax
import jax.numpy as jnp


@jax.jit
def heat_step(temperature, alpha):
    laplacian = jnp.zeros_like(temperature)
    interior = temperature[2:] - 2.0 * temperature[1:-1] + temperature[:-2]
    laplacian = laplacian.at[1:-1].set(interior)
    return temperature + alpha * laplacian


rod = jnp.array([0.0, 0.0, 100.0, 0.0, 0.0])
for _ in range(3):
    rod = heat_step(rod, 0.25)
print([round(float(t), 3) for t in rod])
