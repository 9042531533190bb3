import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np

mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))
by_model = NamedSharding(mesh, P(None, "model"))
by_data = NamedSharding(mesh, P("data", None))


@jax.jit
def dense(params, x):
    w, b = params
    w = jax.lax.with_sharding_constraint(w, by_model)
    b = jax.lax.with_sharding_constraint(b, NamedSharding(mesh, P("model")))
    h = jax.nn.relu(x @ w + b)
    return jax.lax.with_sharding_constraint(h, by_data)


w = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)
b = jnp.array([0.1, 0.2, 0.3, 0.4])
x = jnp.arange(15.0).reshape(5, 3) / 10.0
h = dense((w, b), x)
print(h.shape)
print(h.sum(axis=0).round(2).tolist())
