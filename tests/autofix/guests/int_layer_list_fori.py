# error: TracerIntegerConversionError
# line: 19
# depends: i
# fix: asarray_index
# fixed-file: fixed/int_layer_list_fori.py
# result: (3,) True

import jax
import jax.numpy as jnp


def init_layers(key, depth, width):
    keys = jax.random.split(key, depth)
    return [{"w": jax.random.normal(k, (width, width)) / width, "b": jnp.ones(width)} for k in keys]


def forward(layers, x):
    def body(i, h):
        layer = layers[i]
        return jnp.tanh(h @ layer["w"] + layer["b"])

    return jax.lax.fori_loop(0, len(layers), body, x)


layers = init_layers(jax.random.key(0), depth=4, width=3)
out = forward(layers, jnp.zeros(3))
print(out.shape, bool(jnp.all(jnp.abs(out) < 1.0)))
