import jax
import jax.numpy as jnp


def block(params, x, train):
    h = jax.nn.gelu(x @ params["up"]) @ params["down"]
    if train:
        h = 0.5 * h
    return x + h


def loss(layers, x, train):
    for params in layers:
        x = jax.checkpoint(block, static_argnums=2)(params, x, train)
    return jnp.mean(x**2)


layers = [{"up": jnp.eye(2, 4) * s, "down": jnp.ones((4, 2)) * s} for s in (0.5, 0.25)]
x = jnp.array([[1.0, -1.0], [0.5, 2.0]])
grads = jax.grad(loss)(layers, x, True)
print(grads[0]["down"].round(3).tolist(), round(float(loss(layers, x, False)), 4))
