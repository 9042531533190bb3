# One correct fixed version of missing_layer_key.py
import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return {
        f"layer_{i}": {"w": jnp.zeros((sizes[i], sizes[i + 1])), "b": jax.random.normal(k, (sizes[i + 1],))}
        for i, k in enumerate(keys)
    }


@jax.jit
def apply(params, x):
    for i in range(len(params)):
        layer = params[f"layer_{i}"]
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x


params = init(jax.random.key(0), (4, 4, 4))
print(apply(params, jnp.ones((5, 4))).shape)
