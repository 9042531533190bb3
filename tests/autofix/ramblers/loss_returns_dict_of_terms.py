# error: TypeError
# line: 18
# depends: -
# fix: any
# result: [-0.9000000357627869, 2.1000001430511475]

import jax
import jax.numpy as jnp


def loss(w):
    fit = jnp.sum((w - 1.0) ** 2)
    penalty = 0.1 * jnp.sum(jnp.abs(w))
    return {"total": fit + penalty, "fit": fit}


w = jnp.array([0.5, 2.0])
grads = jax.grad(loss)(w)
print(grads.round(3).tolist())
