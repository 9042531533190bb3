# error: ValueError
# expect: ValueError | TypeError
# line: 27
# depends: config
# fix: hashable_static
# result: 1.284

"""A dict as a static argument, held by an object."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("config",))
def network(x, config):
    for width in config["widths"]:
        x = jnp.tanh(x[:width])
    return x.sum() * config["scale"]


class Model:
    def __init__(self, widths, scale=2.0):
        self.config = {"widths": tuple(widths), "scale": scale}

    def __call__(self, x):
        return network(x, config=self.config)


print(round(float(Model([3, 2])(jnp.arange(4.0))), 4))
