# One correct fixed version of ensemble_sizes_mapped.py
import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) / jnp.sqrt(m), "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def apply(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


keys = jax.random.split(jax.random.key(0), 6)
members = jax.vmap(init, in_axes=(0, None))(keys, [2, 8, 1])
x = jnp.linspace(-1, 1, 10).reshape(5, 2)
outputs = jax.vmap(apply, in_axes=(0, None))(members, x)
print(outputs.shape, round(float(outputs.std(axis=0).mean()), 4))
