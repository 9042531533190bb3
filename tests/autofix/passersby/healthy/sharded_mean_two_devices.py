# error: none
# expect: none
# result: same True ; mean True

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2,), ("rows",), axis_types=(AxisType.Auto,))


def standardise(block):
    n = block.shape[0] * jax.lax.psum(1, "rows")
    mean = jax.lax.psum(block.sum(axis=0), "rows") / n
    var = jax.lax.psum(((block - mean) ** 2).sum(axis=0), "rows") / n
    return (block - mean) / jnp.sqrt(var + 1e-6), mean


sharded = jax.jit(jax.shard_map(standardise, mesh=mesh, in_specs=P("rows"), out_specs=(P("rows"), P())))
x = jnp.cos(jnp.arange(24.0) ** 1.1).reshape(8, 3)
z, mean = sharded(jax.device_put(x, NamedSharding(mesh, P("rows"))))
want = (x - x.mean(axis=0)) / jnp.sqrt(x.var(axis=0) + 1e-6)
print("same", bool(jnp.allclose(z, want, atol=1e-4)))
print("mean", bool(jnp.allclose(mean, x.mean(axis=0), atol=1e-5)))
