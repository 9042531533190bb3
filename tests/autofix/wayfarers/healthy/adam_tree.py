# error: none
# expect: none
# result: 200 True

import jax
import jax.numpy as jnp


def adam(lr, b1=0.9, b2=0.999, eps=1e-8):
    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"m": zeros, "v": zeros, "t": jnp.zeros((), jnp.int32)}

    def update(grads, state):
        t = state["t"] + 1
        m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state["m"], grads)
        v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state["v"], grads)
        scale = lr * jnp.sqrt(1 - b2**t) / (1 - b1**t)
        steps = jax.tree.map(lambda m, v: -scale * m / (jnp.sqrt(v) + eps), m, v)
        return steps, {"m": m, "v": v, "t": t}

    return init, update


init, update = adam(0.05)


@jax.jit
def train(params, state):
    grads = jax.grad(lambda p: jnp.sum((p["a"] - 1) ** 2) + (p["b"] + 2) ** 2)(params)
    steps, state = update(grads, state)
    return jax.tree.map(jnp.add, params, steps), state


params = {"a": jnp.zeros(3), "b": jnp.zeros(())}
state = init(params)
for _ in range(200):
    params, state = train(params, state)
print(int(state["t"]), bool(jnp.allclose(params["a"], 1, atol=0.05)))
