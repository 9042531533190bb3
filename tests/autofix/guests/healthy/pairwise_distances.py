import jax
import jax.numpy as jnp


@jax.jit
def nearest_neighbor(x, y):
    gap = jnp.abs(x[:, None] - y)
    table = x[:, None] * y[None, :]
    return jnp.argmin(gap, axis=1), table.sum()


index, total = nearest_neighbor(jnp.array([0.1, 0.9, 2.2]), jnp.array([0.0, 1.0, 2.0]))
print(index.tolist(), round(float(total), 4))
