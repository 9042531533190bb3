# error: TypeError
# line: 24
# depends: -
# fix: any
# result: 7.843 ; [0.74, 0.35, -0.23, -0.89]

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(jax.devices()[:1], ("batch",))
MICRO = 4


def accumulate(w, x, y):
    xs = x.reshape(MICRO, -1, x.shape[-1])
    ys = y.reshape(MICRO, -1)

    def add_microbatch(total, batch):
        xb, yb = batch
        residual = xb @ w - yb
        return total + jnp.sum(residual**2), residual.mean()

    total, means = jax.lax.scan(add_microbatch, 0.0, (xs, ys))
    return jax.lax.psum(total, "batch"), jax.lax.pmean(means, "batch")


accumulate = jax.shard_map(
    accumulate, mesh=mesh, in_specs=(P(), P("batch"), P("batch")), out_specs=P()
)
x = jnp.sin(jnp.arange(32.0)).reshape(16, 2)
y = jnp.linspace(-1.0, 1.0, 16)
total, means = jax.jit(accumulate)(jnp.array([0.5, -0.25]), x, y)
print(round(float(total), 3))
print([round(float(m), 2) for m in means])
