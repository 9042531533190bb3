# error: ValueError
# expect: ValueError | TypeError
# line: 14
# depends: -
# fix: named_sharding
# result: 140.0

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
x = jax.device_put(jnp.arange(8.0), P("data"))
print(float(jax.jit(lambda x: (x * x).sum())(x)))
