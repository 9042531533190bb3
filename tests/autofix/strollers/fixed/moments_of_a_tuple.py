# One correct fixed version of moments_of_a_tuple.py
import jax
import jax.numpy as jnp


def loss(params, x):
    w, b = params
    return jnp.sum((jnp.tanh(w * x) + b) ** 2)


params = (jnp.array([0.5, -0.5]), jnp.array(0.1))
m = jax.tree.map(jnp.zeros_like, params)
for _ in range(4):
    g = jax.grad(loss)(params, jnp.array([1.0, 2.0]))
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    params = jax.tree.map(lambda p, d: p - d, params, m)
print([round(float(v), 4) for v in params[0]], round(float(params[1]), 4))
