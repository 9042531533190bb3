import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(jax.devices()[:1], ("data",))
rows = NamedSharding(mesh, P("data"))
whole = NamedSharding(mesh, P())


@jax.jit
def step(w, x, y):
    grad = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * grad


x = jax.device_put(jnp.arange(12.0).reshape(6, 2) / 6.0, rows)
y = jax.device_put(jnp.ones(6), rows)
w = jax.device_put(jnp.zeros(2), whole)
for _ in range(10):
    w = step(w, x, y)
print(w.shape, bool(jnp.all(jnp.isfinite(w))))
