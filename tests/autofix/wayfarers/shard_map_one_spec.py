# error: ValueError
# expect: ValueError | TypeError
# line: 23
# also-line: 21
# depends: -
# fix: in_specs
# result: 30.0

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("rows",))


def block(x, scale):
    return x * scale


scaled = jax.shard_map(block, mesh=mesh, in_specs=(P("rows"),), out_specs=P("rows"))
x = jnp.arange(6.0).reshape(3, 2)
print(float(scaled(x, jnp.float32(2.0)).sum()))
