from functools import partial

import jax
import jax.numpy as jnp


def layer(x, config):
    y = x * config["scale"]
    if config["activation"] == "relu":
        y = jax.nn.relu(y)
    return y


out = layer(jnp.array([-1.0, 2.0]), config={"scale": 3.0, "activation": "relu"})
print(out.tolist())
