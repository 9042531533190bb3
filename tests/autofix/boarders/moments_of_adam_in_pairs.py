# error: ValueError
# line: 19
# depends: -
# fix: any
# result: [2.6760001182556152, 1.7020000219345093, -0.9700000286102295] [1.6760001182556152, 0.7020000219345093, 1.970000147819519]

import jax
import jax.numpy as jnp


def adam_leaf(p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g**2
    return p - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v


@jax.jit
def adam(params, grads, mean, square):
    params, mean, square = jax.tree.map(adam_leaf, params, grads, mean, square)
    return params, mean, square


def loss(params, x):
    return jnp.sum((params["scale"] * x + params["shift"] - 2.0) ** 2)


params = {"scale": jnp.ones(3), "shift": jnp.zeros(3)}
mean = jax.tree.map(jnp.zeros_like, params)
square = jax.tree.map(jnp.zeros_like, params)
x = jnp.array([0.5, 1.0, -2.0])
for _ in range(5):
    grads = jax.grad(loss)(params, x)
    params, mean, square = adam(params, grads, mean, square)
print(params["scale"].round(3).tolist(), params["shift"].round(3).tolist())
