# error: TypeError
# line: 19
# depends: params
# fix: any
# result: {'b': 2.07, 'w': 6.21}

import jax
import jax.numpy as jnp


def loss(params):
    y = params["w"] * 3.0 + params["b"]
    if params["steps"] > 5:
        y = y * 0.9
    return (y - 2.0) ** 2


params = {"w": 1.0, "b": 0.5, "steps": 7}
grads = jax.grad(loss)(params)
print({k: round(float(grads[k]), 3) for k in ("b", "w")})
