# One correct fixed version of dict_values_zip_grads.py
import jax
import jax.numpy as jnp


def loss_fn(params, x, y):
    return jnp.mean((params["slope"] * x + params["intercept"] - y) ** 2)


x = jnp.array([0.0, 1.0, 2.0, 3.0])
y = 2.0 * x - 1.0
params = {"slope": jnp.array(0.0), "intercept": jnp.array(0.0)}
for _ in range(400):
    grads = jax.grad(loss_fn)(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
print(round(float(params["slope"]), 2), round(float(params["intercept"]), 2))
