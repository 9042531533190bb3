# error: ValueError
# line: 22
# also-line: 19, 26, 32
# note: -
# note: -
# depends: -
# fix: any
# result: 0.0747

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))


def shard_loss(w, x, y):
    residual = jnp.tanh(x @ w) - y
    return jnp.mean(residual ** 2)


loss = jax.shard_map(
    shard_loss,
    mesh=mesh,
    in_specs=(P(), P("data"), P("data")),
    out_specs=P(),
)

x = jnp.arange(8.0).reshape(4, 2) / 8.0
y = jnp.array([0.1, 0.3, 0.2, 0.6])
w = jnp.array([0.5, -0.25])
print(round(float(loss(w, x, y)), 4))
