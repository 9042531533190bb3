# One correct fixed version of psum_axis_typo.py
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def local_grad(w, x, y):
    resid = x @ w - y
    return x.T @ resid, jnp.sum(resid ** 2)


def reduce_all(tree):
    return jax.lax.psum(tree, axis_name="data")


@jax.jit
def distributed_grad(w, x, y):
    def shard_fn(w, x, y):
        grad, sse = reduce_all(local_grad(w, x, y))
        return grad, sse

    specs = (P(), P("data"), P("data"))
    return jax.shard_map(shard_fn, mesh=mesh, in_specs=specs, out_specs=(P(), P()))(w, x, y)


x = jnp.sin(jnp.arange(32.0)).reshape(16, 2)
y = x @ jnp.array([1.0, -2.0])
w = jnp.zeros(2)
for _ in range(50):
    grad, sse = distributed_grad(w, x, y)
    w = w - 0.1 * grad
print([round(float(v), 2) for v in w])
