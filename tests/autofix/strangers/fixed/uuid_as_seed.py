# One correct fixed version of uuid_as_seed.py
import uuid

import jax
import jax.numpy as jnp


def fresh_seed():
    return uuid.uuid4().int % (2**31)


@jax.jit
def shuffled(batch, seed):
    key = jax.random.key(seed)
    return jax.random.permutation(key, batch)


batch = jnp.arange(50)
orders = {tuple(shuffled(batch, fresh_seed()).tolist()) for _ in range(4)}
print("orders:", len(orders), "sum:", int(shuffled(batch, fresh_seed()).sum()))
