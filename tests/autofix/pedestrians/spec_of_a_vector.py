# error: ValueError
# expect: ValueError
# line: 16
# also-line: 14
# depends: -
# fix: sharding
# result: P('data',) 6.0

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

mesh = jax.make_mesh((1,), ("data",))
rows = NamedSharding(mesh, PartitionSpec("data", None))
inputs = jax.device_put(jnp.arange(8.0).reshape(4, 2), rows)
labels = jax.device_put(jnp.array([0.0, 1.0, 1.0, 0.0]), rows)
print(labels.sharding.spec, float((labels * inputs[:, 0]).sum()))
