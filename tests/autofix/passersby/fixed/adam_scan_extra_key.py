# One correct fixed version of adam_scan_extra_key.py
import jax
import jax.numpy as jnp


def adam_init(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": jnp.int32(0)}


def adam_update(grads, state, lr=0.05, b1=0.9, b2=0.999):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state["v"], grads)
    scale = lr * jnp.sqrt(1 - b2 ** t) / (1 - b1 ** t)
    delta = jax.tree.map(lambda m, v: -scale * m / (jnp.sqrt(v) + 1e-8), m, v)
    return delta, {"m": m, "v": v, "t": t}


def himmelblau(p):
    x, y = p["x"], p["y"]
    return (x ** 2 + y - 11) ** 2 + (x + y ** 2 - 7) ** 2


@jax.jit
def optimise(p0):
    def body(carry, _):
        params, state = carry
        loss, grads = jax.value_and_grad(himmelblau)(params)
        delta, state = adam_update(grads, state)
        params = jax.tree.map(jnp.add, params, delta)

        return (params, state), loss

    (params, _), losses = jax.lax.scan(body, (p0, adam_init(p0)), length=400)
    return params, losses


params, losses = optimise({"x": jnp.array(2.0), "y": jnp.array(1.0)})
print(round(float(params["x"]), 2), round(float(params["y"]), 2))
print(losses.shape, bool(losses[-1] < 1e-2))
