import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(jax.devices()[:1], ("batch",))


def local_gradient(w, x, y):
    grad = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return jax.lax.pmean(grad, "batch")


@jax.jit
def step(w, x, y):
    grad = jax.shard_map(
        local_gradient, mesh=mesh, in_specs=(P(), P("batch"), P("batch")), out_specs=P()
    )(w, x, y)
    return w - 0.2 * grad


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
y = x @ jnp.array([1.0, 2.0])
w = jnp.zeros(2)
for _ in range(40):
    w = step(w, x, y)
print([round(float(v), 2) for v in w])
