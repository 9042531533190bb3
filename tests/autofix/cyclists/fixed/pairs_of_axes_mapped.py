import jax
import jax.numpy as jnp


def weighted(x, y):
    return 2.0 * x + y


left = jnp.arange(9.0).reshape(3, 3)
right = jnp.arange(0.0, -9.0, -1.0).reshape(3, 3)
both = jax.vmap(weighted, in_axes=0)
print(both(left, right).tolist())
