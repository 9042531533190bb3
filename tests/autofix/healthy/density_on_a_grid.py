import jax
import jax.numpy as jnp

samples = jnp.array([-1.2, -0.9, 0.1, 0.4, 0.5, 1.7])
grid = jnp.linspace(-3.0, 3.0, 61)


@jax.jit
def kernel_density(samples, bandwidth):
    # a column of samples against the row of grid points: all pairs are wanted
    z = (grid - samples.reshape(-1, 1)) / bandwidth
    return jnp.mean(jnp.exp(-0.5 * z**2), axis=0) / (bandwidth * jnp.sqrt(2 * jnp.pi))


density = kernel_density(samples, 0.4)
print(density.shape, round(float(jnp.sum(density) * 0.1), 3))
