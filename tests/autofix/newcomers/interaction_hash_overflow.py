# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax silently wraps around
# line: 17
# depends: -
# fix: wider_dtype
# result: [7, 999, 33]

import jax
import jax.numpy as jnp

N_ITEMS = 50_000


@jax.jit
def bucket(user, item, n_buckets):
    pair = user * N_ITEMS + item
    return pair % n_buckets


users = jnp.array([12, 40_000, 71_113], dtype=jnp.int32)
items = jnp.array([7, 49_999, 33], dtype=jnp.int32)
print(bucket(users, items, 1000).tolist())
