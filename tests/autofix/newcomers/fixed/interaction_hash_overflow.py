import jax
import jax.numpy as jnp

N_ITEMS = 50_000


@jax.jit
def bucket(user, item, n_buckets):
    return ((user % n_buckets) * (N_ITEMS % n_buckets) + item) % n_buckets


users = jnp.array([12, 40_000, 71_113], dtype=jnp.int32)
items = jnp.array([7, 49_999, 33], dtype=jnp.int32)
print(bucket(users, items, 1000).tolist())
