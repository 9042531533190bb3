import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("widths",))
def forward(x, key, widths):
    for width in widths:
        key, part = jax.random.split(key)
        weight = jax.random.normal(part, (x.shape[-1], width)) / x.shape[-1] ** 0.5
        x = jnp.tanh(x @ weight)
    return x


settings = {"widths": (8, 8, 2), "seed": 4}
inputs = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
outputs = forward(inputs, jax.random.key(settings["seed"]), widths=settings["widths"])
print(outputs.shape, outputs.round(3).tolist()[0])
