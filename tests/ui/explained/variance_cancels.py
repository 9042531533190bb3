import sagax
import sagax.numpy as jnp


@sagax.jit
def variance(x):
    return jnp.mean(x**2) - jnp.mean(x) ** 2  #~ SX0416 mean(x**2) - mean(x)**2 cancels


print(variance(4000.0 + 0.01 * jnp.sin(jnp.arange(50.0))).shape)
