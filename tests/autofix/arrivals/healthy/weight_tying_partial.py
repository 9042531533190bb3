# error: none
# expect: none
# result: True

from functools import partial

import jax
import jax.numpy as jnp


def layer(act, p, x):
    return act(x @ p["w"] + p["b"])


hidden = partial(layer, jax.nn.gelu)
head = partial(layer, lambda x: x)


@jax.jit
def forward(params, x):
    for p in params["hidden"]:
        x = hidden(p, x)
    return head({"w": params["hidden"][0]["w"].T, "b": params["b"]}, x)


p = {"w": jnp.eye(3) * 0.5, "b": jnp.zeros(3)}
params = {"hidden": [p, p], "b": jnp.zeros(3)}
g = jax.grad(lambda q: forward(q, jnp.ones((2, 3))).sum())(params)
print(jax.tree.structure(g) == jax.tree.structure(params))
