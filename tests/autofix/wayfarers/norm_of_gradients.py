# error: TypeError
# expect: TypeError | ValueError
# line: 18
# depends: -
# fix: tree_norm
# result: 2.0574

import jax
import jax.numpy as jnp


def loss(params, x):
    return jnp.sum(jnp.tanh(x @ params["w"] + params["b"]))


params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
grads = jax.grad(loss)(params, jnp.eye(3))
size = jnp.linalg.norm(grads)
print(round(float(size), 4))
