# One correct fixed version of shard_out_specs.py
"""Data-parallel logistic loss, reporting the mean over the mesh."""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((2,), ("dp",), axis_types=(jax.sharding.AxisType.Auto,))


def logistic(w, x, y):
    z = x @ w
    return jnp.mean(jnp.logaddexp(0.0, z) - y * z)


@jax.jit
@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("dp"), P("dp")), out_specs=P())
def global_loss(w, x, y):
    loss = logistic(w, x, y)
    return jax.lax.pmean(loss, "dp")


x = jnp.sin(jnp.arange(24.0)).reshape(8, 3)
y = (x.sum(axis=1) > 0).astype(jnp.float32)
w = jnp.array([0.5, 0.5, 0.5])
print("loss", round(float(global_loss(w, x, y)), 4))
