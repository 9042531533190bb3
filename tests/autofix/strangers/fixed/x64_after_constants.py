# One correct fixed version of x64_after_constants.py
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

nodes = jnp.array([0.1, 0.2, 0.7])
weights = jnp.array([0.3, 0.3, 0.4])


@jax.jit
def quadrature(nodes, weights):
    return jnp.sum(weights * jnp.exp(nodes))


total = quadrature(nodes, weights)
print(total.dtype, nodes.dtype, round(float(total), 4))
