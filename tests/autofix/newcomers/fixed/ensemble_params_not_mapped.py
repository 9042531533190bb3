import jax
import jax.numpy as jnp


def init(key, sizes=(3, 5, 1)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)), "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def apply(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


ensemble = jax.vmap(init)(jax.random.split(jax.random.key(0), 4))
batch = jnp.ones((7, 3))
predictions = jax.vmap(apply, in_axes=(0, None))(ensemble, batch)
print(predictions.shape)
