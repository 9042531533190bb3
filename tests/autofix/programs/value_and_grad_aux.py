# error: TypeError
# line: 17
# depends: -
# fix: has_aux
# result: 5.0 3.0 7.0

import jax
import jax.numpy as jnp


def loss(w, x, y):
    residual = w * x - y
    return (residual ** 2).mean(), {"worst": jnp.abs(residual).max()}


step = jax.value_and_grad(loss)
(value, info), grads = step(jnp.array(2.0), jnp.array([1.0, 2.0]), jnp.array([1.0, 1.0]))
print(float(value), float(info["worst"]), float(grads))
