# error: ValueError
# line: 25
# depends: -
# fix: any
# result: [-0.2, -0.8, -0.7] ; 0.0

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(jax.devices()[:1], ("data",))


def gradient(w, x, y):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    return jax.lax.pmean(jax.grad(loss)(w), "data")


sharded_gradient = jax.jit(
    jax.shard_map(
        gradient,
        mesh=mesh,
        in_specs=(P(), P("data")),
        out_specs=P(),
    )
)

x = jnp.cos(jnp.arange(24.0)).reshape(8, 3)
y = x @ jnp.array([1.0, -2.0, 0.5])
w = jnp.zeros(3)
for _ in range(40):
    w = w - 0.5 * sharded_gradient(w, x, y)
print([round(float(v), 1) for v in w])
print(round(float(jnp.mean((x @ w - y) ** 2)), 2))
