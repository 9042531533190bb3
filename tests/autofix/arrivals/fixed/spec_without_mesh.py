# One correct fixed version of spec_without_mesh.py
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("data")))
print(float(jax.jit(lambda x: (x * x).sum())(x)))
