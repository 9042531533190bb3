# One correct fixed version of unused_tree_map_update.py
import jax
import jax.numpy as jnp


def loss_fn(params, t, height):
    predicted = params["h0"] + params["v0"] * t - 0.5 * params["g"] * t**2
    return jnp.mean((predicted - height) ** 2)


params = {"h0": 0.0, "v0": 10.0, "g": 9.0}
t = jnp.array([0.0, 0.5, 1.0, 1.5])
height = 1.0 + 12.0 * t - 0.5 * 9.81 * t**2
start = float(loss_fn(params, t, height))
for _ in range(300):
    grads = jax.grad(loss_fn)(params, t, height)
    params = jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)
print(round(start, 3), bool(loss_fn(params, t, height) < 0.01))
