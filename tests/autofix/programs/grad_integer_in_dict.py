# error: TypeError
# line: 14
# depends: params
# fix: float_input
# result: 28.0 14.0

import jax
import jax.numpy as jnp

def loss(params):
    return (params["a"] * 2.0 + params["b"]) ** 2

params = {"a": jnp.array(3), "b": jnp.array(1.0)}
g = jax.grad(loss)(params)
print(float(g["a"]), float(g["b"]))
