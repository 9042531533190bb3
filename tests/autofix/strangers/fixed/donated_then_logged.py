# One correct fixed version of donated_then_logged.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    def loss(p):
        return jnp.mean((x @ p["w"] + p["b"] - y) ** 2)

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = jnp.array([1.0, 2.0, 3.0])
params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
moved = 0.0
for _ in range(5):
    before = params["w"].copy()
    params = train_step(params, x, y)
    moved += float(jnp.abs(params["w"] - before).sum())
print(round(moved, 4))
