# One correct fixed version of nan_std_of_constant.py
import jax
import jax.numpy as jnp


def layer_norm(x, gain):
    centered = x - x.mean(axis=-1, keepdims=True)
    return gain * centered / jnp.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def loss_fn(params, x):
    h = layer_norm(x * params["scale"], params["gain"])
    return jnp.mean((h - 1.0) ** 2)


params = {"scale": jnp.ones(3), "gain": jnp.ones(3)}
x = jnp.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
grads = jax.grad(loss_fn)(params, x)
print([round(float(g), 3) for g in grads["gain"]], bool(jnp.isfinite(grads["scale"]).all()))
