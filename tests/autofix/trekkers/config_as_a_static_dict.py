# error: ValueError
# line: 21
# depends: config
# fix: any
# result: [0.0, 6.0]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="config")
def layer(x, config):
    y = x * config["scale"]
    if config["activation"] == "relu":
        y = jax.nn.relu(y)
    return y


out = layer(jnp.array([-1.0, 2.0]), config={"scale": 3.0, "activation": "relu"})
print(out.tolist())
