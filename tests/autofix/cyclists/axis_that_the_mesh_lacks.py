# error: ValueError
# expect: ValueError
# line: 13
# depends: -
# fix: sharding
# result: P('data', None) 5.0

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

mesh = jax.make_mesh((1, 1), ("data", "model"))
by_batch = NamedSharding(mesh, PartitionSpec("batch", None))
inputs = jax.device_put(jnp.arange(6.0).reshape(3, 2), by_batch)
print(inputs.sharding.spec, float(inputs.max()))
