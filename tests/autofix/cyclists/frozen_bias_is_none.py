# error: TypeError
# expect: ValueError
# line: 19
# also-line: 18
# depends: -
# fix: tree
# result: [1.2000000476837158, 2.8000001907348633] 0.5

import jax
import jax.numpy as jnp


def loss(weight):
    return jnp.sum((weight - 2.0) ** 2)


params = {"weight": jnp.array([1.0, 3.0]), "bias": jnp.array(0.5)}
grads = {"weight": jax.grad(loss)(params["weight"]), "bias": None}
params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
print(params["weight"].round(3).tolist(), float(params["bias"]))
