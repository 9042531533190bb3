# error: none
# expect: none
# result: 1.0

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("x",))


def block(x):
    top = jax.lax.pmax(x.max(), "x")
    e = jnp.exp(x - top)
    return e / jax.lax.psum(e.sum(), "x")


f = jax.jit(jax.shard_map(block, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
x = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("x")))
print(round(float(f(x).sum()), 4))
