# error: ValueError
# line: 13
# depends: -
# fix: any
# result: 6.0

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
sharding = NamedSharding(mesh, P("batch", None))
x = jax.device_put(jnp.arange(4.0).reshape(2, 2), sharding)
print(float(x.sum()))
