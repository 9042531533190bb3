import jax
import jax.numpy as jnp


def loss(w):
    fit = jnp.sum((w - 1.0) ** 2)
    penalty = 0.1 * jnp.sum(jnp.abs(w))
    return {"total": fit + penalty, "fit": fit}


w = jnp.array([0.5, 2.0])
grads = jax.grad(lambda w: loss(w)["total"])(w)
print(grads.round(3).tolist())
