# error: TypeError
# expect: TypeError | ValueError
# line: 18
# depends: -
# fix: positional
# result: [-5.0, -8.5] -2.0

import jax
import jax.numpy as jnp


def loss(params, batch):
    return jnp.mean((batch @ params["w"] + params["b"]) ** 2)


params = {"w": jnp.array([1.0, -1.0]), "b": jnp.array(0.5)}
batch = jnp.array([[1.0, 2.0], [3.0, 5.0]])
grads = jax.grad(loss)(params=params, batch=batch)
print([round(float(v), 3) for v in grads["w"]], round(float(grads["b"]), 3))
