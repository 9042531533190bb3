from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def update(params, velocity, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    velocity = jax.tree.map(lambda v, g: 0.8 * v - 0.05 * g, velocity, grads)
    return jax.tree.map(jnp.add, params, velocity), velocity


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = jnp.array([1.0, 2.0, 3.5])
params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
velocity = jax.tree.map(jnp.zeros_like, params)
for _ in range(60):
    params, velocity = update(params, velocity, x, y)
print(sorted(params), bool(jnp.abs(x @ params["w"] + params["b"] - y).max() < 0.5))
