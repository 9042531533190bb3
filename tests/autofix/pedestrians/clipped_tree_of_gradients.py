# error: TypeError
# expect: TypeError
# line: 19
# depends: -
# fix: tree
# result: [0.09699999541044235, -0.574999988079071, 1.899999976158142] 0.4

import jax
import jax.numpy as jnp


def loss(params):
    return jnp.sum(params["w"] ** 3) + 10.0 * params["b"] ** 2


@jax.jit
def step(params):
    grads = jax.grad(loss)(params)
    grads = jnp.clip(grads, -1.0, 1.0)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


params = step({"w": jnp.array([0.1, -0.5, 2.0]), "b": jnp.array(0.5)})
print(params["w"].round(4).tolist(), round(float(params["b"]), 4))
