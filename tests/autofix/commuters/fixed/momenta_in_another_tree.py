import jax
import jax.numpy as jnp

weights = {"bias": jnp.zeros(2), "kernel": jnp.ones((3, 2))}
momenta = jax.tree.map(jnp.zeros_like, weights)
rows = jnp.arange(12.0).reshape(4, 3) / 12


def loss(weights):
    return jnp.mean((rows @ weights["kernel"] + weights["bias"]) ** 2)


@jax.jit
def step(weights, momenta):
    slopes = jax.grad(loss)(weights)
    momenta = jax.tree.map(lambda s, m: 0.9 * m + s, slopes, momenta)
    return jax.tree.map(lambda w, m: w - 0.1 * m, weights, momenta), momenta


for _ in range(3):
    weights, momenta = step(weights, momenta)
print(weights["bias"].round(4).tolist(), round(float(loss(weights)), 4))
