import jax
import jax.numpy as jnp


@jax.jit
def spectral_gap(matrix):
    values = jnp.sort(jnp.linalg.eigvalsh(matrix))[::-1]
    return values[0] - values[1]


print(round(float(spectral_gap(jnp.array([[2.0, 1.0], [1.0, 3.0]]))), 3))
