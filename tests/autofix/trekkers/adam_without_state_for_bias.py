# error: KeyError
# line: 18
# depends: -
# fix: any
# result: [-0.6000000238418579]

import jax
import jax.numpy as jnp


def loss(params, x):
    return jnp.mean((x @ params["kernel"] + params["bias"]) ** 2)


def momentum(params, grads, state):
    new = {}
    for name, grad in grads.items():
        m = 0.9 * state[name] + grad
        state = {**state, name: m}
        new[name] = params[name] - 0.1 * m
    return new, state


params = {"kernel": jnp.ones((2, 1)), "bias": jnp.zeros(1)}
state = {"kernel": jnp.zeros((2, 1)), "biases": jnp.zeros(1)}
grads = jax.grad(loss)(params, jnp.array([[1.0, 2.0]]))
params, state = momentum(params, grads, state)
print(params["bias"].round(3).tolist())
