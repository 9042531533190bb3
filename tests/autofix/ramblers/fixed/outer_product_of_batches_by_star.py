import jax
import jax.numpy as jnp


def outer_products(u, v):
    return u[:, :, None] * v[:, None, :]


u = jnp.array([[1.0, 2.0], [3.0, 4.0]])
v = jnp.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
print(outer_products(u, v).tolist())
