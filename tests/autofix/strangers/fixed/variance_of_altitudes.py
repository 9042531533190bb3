# One correct fixed version of variance_of_altitudes.py
import jax
import jax.numpy as jnp


@jax.jit
def roughness(heights):
    mean = jnp.mean(heights)
    variance = jnp.mean((heights - mean) ** 2)
    return jnp.sqrt(jnp.abs(variance))


# meters above the sea, a plain at 4 km
plain = 4000.0 + 0.05 * jnp.sin(jnp.arange(100.0))
print(round(float(roughness(plain)), 3))
