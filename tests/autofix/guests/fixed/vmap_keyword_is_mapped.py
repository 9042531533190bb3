# One correct fixed version of vmap_keyword_is_mapped.py
import jax
import jax.numpy as jnp

samples = jnp.array([0.1, 0.4, 0.5, 1.3])


def density(point, bandwidth=0.2):
    kernels = jnp.exp(-0.5 * ((point - samples) / bandwidth) ** 2)
    return kernels.mean() / (bandwidth * jnp.sqrt(2.0 * jnp.pi))


points = jnp.linspace(0.0, 1.5, 4)
default = jax.vmap(density)(points)
smooth = jax.vmap(lambda point: density(point, bandwidth=0.6))(points)
print([round(float(v), 3) for v in default], [round(float(v), 3) for v in smooth])
