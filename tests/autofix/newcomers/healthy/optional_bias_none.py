import jax
import jax.numpy as jnp


def init(key, n_in, n_out, use_bias):
    w = jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in)
    return {"w": w, "b": jnp.zeros(n_out) if use_bias else None}


@jax.jit
def apply(layer, x):
    y = x @ layer["w"]
    if layer["b"] is not None:
        y = y + layer["b"]
    return y


def sgd(layer, grads):
    return jax.tree.map(lambda p, g: p - 0.1 * g, layer, grads)


for use_bias in (True, False):
    layer = init(jax.random.key(3), 4, 2, use_bias)
    grads = jax.grad(lambda p: apply(p, jnp.ones((5, 4))).sum())(layer)
    layer = sgd(layer, grads)
    print(sorted(k for k, v in layer.items() if v is not None))
