# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently gives nan: sqrt has an infinite slope at 0
# line: 17
# also-line: 27
# depends: params, x
# fix: stable_formula
# fixed-file: fixed/nan_std_of_constant.py
# result: [0.737, 0.113, 0.15] True

import jax
import jax.numpy as jnp


def layer_norm(x, gain):
    centered = x - x.mean(axis=-1, keepdims=True)
    return gain * centered / (x.std(axis=-1, keepdims=True) + 1e-5)


def loss_fn(params, x):
    h = layer_norm(x * params["scale"], params["gain"])
    return jnp.mean((h - 1.0) ** 2)


params = {"scale": jnp.ones(3), "gain": jnp.ones(3)}
x = jnp.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
grads = jax.grad(loss_fn)(params, x)
print([round(float(g), 3) for g in grads["gain"]], bool(jnp.isfinite(grads["scale"]).all()))
