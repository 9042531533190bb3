from functools import partial

import jax
import jax.numpy as jnp


def predict(model, x, scale=1.0):
    return scale * (x @ model["w"] + model["shared"])


models = {"w": jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "shared": jnp.array(0.5)}
axes = ({"w": 0, "shared": None}, None)
out = jax.vmap(partial(predict, scale=2.0), in_axes=axes)(models, jnp.array([3.0, 4.0]))
gram = jax.vmap(jax.vmap(jnp.dot, in_axes=(None, 0)), in_axes=(0, None))(models["w"], models["w"])
print(out.tolist(), gram.shape)
