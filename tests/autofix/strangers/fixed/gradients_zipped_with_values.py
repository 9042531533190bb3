# One correct fixed version of gradients_zipped_with_values.py
import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((params["slope"] * x + params["offset"] - y) ** 2)


def sgd(params, grads, rate):
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


x = jnp.array([0.0, 1.0, 2.0, 3.0])
y = 3.0 * x - 1.0
params = {"slope": jnp.array(0.0), "offset": jnp.array(0.0)}
for _ in range(400):
    params = sgd(params, jax.grad(loss)(params, x, y), 0.05)
print(round(float(params["slope"]), 2), round(float(params["offset"]), 2))
