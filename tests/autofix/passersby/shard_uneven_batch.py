# error: ValueError
# line: 32
# depends: batch
# fix: pad_shape
# fixed-file: fixed/shard_uneven_batch.py
# result: [497.25, 517.01, 537.29]

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",))
rows = NamedSharding(mesh, P("data"))


def batches(x, size):
    for start in range(0, x.shape[0], size):
        yield x[start:start + size]


@jax.jit
def column_sums(batch):
    return jnp.sum(jnp.square(batch), axis=0)


def total(x, size):
    out = jnp.zeros(x.shape[1])
    for batch in batches(x, size):
        batch = jax.device_put(batch, rows)
        out = out + column_sums(batch)
    return out


x = jnp.arange(78.0).reshape(26, 3) / 10.0
print([round(float(v), 2) for v in total(x, 8)])
