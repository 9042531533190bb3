"""The condition is in a helper, under grad, vmap and jit; the batch is a dict."""
import sagax
import sagax.numpy as jnp


def penalty(weight, scale):
    if weight > scale:  #~ SX0102 Attempted boolean conversion
        return weight - scale
    return 0.0


def loss(params, batch):
    error = (params["w"][0] * batch["x"] - batch["y"]) ** 2
    return error + penalty(params["w"][1], batch["scale"])


def total(params, batch):
    return sagax.vmap(loss, in_axes=(None, 0))(params, batch).sum()


batch = {"x": jnp.ones(3), "y": jnp.zeros(3), "scale": jnp.arange(3.0)}
sagax.jit(sagax.grad(total))({"w": [1.0, 2.0]}, batch)
