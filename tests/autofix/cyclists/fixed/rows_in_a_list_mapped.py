import jax
import jax.numpy as jnp


def spread(row):
    return row.max() - row.min()


rows = [jnp.array([1.0, 4.0, 2.0]), jnp.array([0.0, -1.0, 5.0])]
print(jax.vmap(spread)(jnp.stack(rows)).tolist())
