# error: none
# expect: none
# result: [6.0, 6.0] 0.0

import jax
import jax.numpy as jnp

params = {"backbone": {"w": jnp.ones(3)}, "head": {"w": jnp.ones(2), "b": None}}
trainable = {"backbone": False, "head": True}


def select(flag, subtree):
    return jax.tree.map(lambda p: p if flag else jax.lax.stop_gradient(p), subtree)


def loss(params):
    p = {k: select(trainable[k], v) for k, v in params.items()}
    return jnp.sum(p["backbone"]["w"]) * jnp.sum(p["head"]["w"] ** 2)


grads = jax.jit(jax.grad(loss))(params)
print(grads["head"]["w"].tolist(), float(jnp.abs(grads["backbone"]["w"]).sum()))
