# error: none
# expect: BroadcastWarning
# line: 18
# also-line: 17
# depends: -
# fix: any
# result: 1.92 0.1 ; 0.008

import jax
import jax.numpy as jnp

sizes = jnp.array([[0.5], [1.0], [1.5], [2.0]])
prices = jnp.array([1.1, 1.9, 3.1, 3.9])


def loss(params):
    predicted = sizes @ params["w"] + params["b"]
    return jnp.mean((predicted - prices) ** 2)


@jax.jit
def train_step(params):
    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)


params = {"w": jnp.zeros((1, 1)), "b": jnp.zeros(1)}
for _ in range(300):
    params = train_step(params)
print(round(float(params["w"][0, 0]), 2), round(float(params["b"][0]), 2))
print(round(float(loss(params)), 3))
