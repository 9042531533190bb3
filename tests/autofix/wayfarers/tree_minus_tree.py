# error: TypeError
# line: 18
# depends: -
# fix: tree_map
# result: 1.7369 1.6927

import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((x * params["slope"] + params["offset"] - y) ** 2)


@jax.jit
def train_step(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return params - 0.1 * grads


params = {"slope": jnp.array(0.0), "offset": jnp.array(0.0)}
x = jnp.linspace(0, 1, 5)
for _ in range(20):
    params = train_step(params, x, 3 * x + 1)
print(round(float(params["slope"]), 4), round(float(params["offset"]), 4))
