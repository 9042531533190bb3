# error: ValueError
# line: 24
# also-line: 21
# depends: -
# fix: any
# result: [[-1.0, -0.5], [1.0, 1.5], [3.0, 3.5], [5.0, 5.5]]

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("data",))


def block_update(block, rate):
    total = jax.lax.psum(block.sum(axis=0), "data")
    return block - rate * total


update = jax.shard_map(block_update, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
rows = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
rate = jnp.array(0.125)
print(jax.jit(update)(rows, rate).tolist())
