# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently keeps the seed of the first call
# line: 19
# also-line: 24
# depends: -
# fix: pass_argument
# fixed-file: fixed/uuid_as_seed.py
# result: orders: 4 sum: 1225
# family: 2/impure-while-tracing

import uuid

import jax
import jax.numpy as jnp


def fresh_seed():
    return uuid.uuid4().int % (2**31)


@jax.jit
def shuffled(batch):
    key = jax.random.key(fresh_seed())
    return jax.random.permutation(key, batch)


batch = jnp.arange(50)
orders = {tuple(shuffled(batch).tolist()) for _ in range(4)}
print("orders:", len(orders), "sum:", int(shuffled(batch).sum()))
