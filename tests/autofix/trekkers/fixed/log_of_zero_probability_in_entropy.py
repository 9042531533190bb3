import jax
import jax.numpy as jnp


def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0))


p = jnp.array([0.5, 0.5, 0.0])
print(round(float(jax.jit(entropy)(p)), 4))
