# One correct fixed version of mapped_update_dropped.py
import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 11)
y = 2.0 * x + 1.0


def loss(params):
    return jnp.mean((params["slope"] * x + params["offset"] - y) ** 2)


def fit(params, epochs):
    gradient = jax.jit(jax.grad(loss))
    for _ in range(epochs):
        slopes = gradient(params)
        params = jax.tree.map(lambda p, g: p - 0.3 * g, params, slopes)
    return params


params = fit({"slope": jnp.array(0.0), "offset": jnp.array(0.0)}, 40)
print(round(float(params["slope"]), 2), round(float(params["offset"]), 2))
