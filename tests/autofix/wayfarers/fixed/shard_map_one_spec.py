# One correct fixed version of shard_map_one_spec.py
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("rows",))


def block(x, scale):
    return x * scale


scaled = jax.shard_map(block, mesh=mesh, in_specs=(P("rows"), P()), out_specs=P("rows"))
x = jnp.arange(6.0).reshape(3, 2)
print(float(scaled(x, jnp.float32(2.0)).sum()))
