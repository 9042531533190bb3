# error: TypeError
# line: 13
# depends: -
# fix: arguments
# result: 2.4 -1.0

import jax
import jax.numpy as jnp

params = {"w": jnp.ones(3), "b": jnp.zeros(())}
grads = {"w": jnp.array([0.1, 0.2, 0.3]), "b": jnp.array(1.0)}
velocity = jax.tree.map(jnp.zeros_like, params)
velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads, params)
params = jax.tree.map(lambda p, v: p - v, params, velocity)
print(round(float(params["w"].sum()), 3), float(params["b"]))
