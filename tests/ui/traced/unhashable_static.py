"""A static argument that cannot be hashed."""
from functools import partial

import sagax
import sagax.numpy as jnp


@partial(sagax.jit, static_argnames="widths")
def blocks(x, widths):
    return [x[:n].sum() for n in widths]


blocks(jnp.arange(6.0), widths=[1, 2, 3])  #~ SX0006 Non-hashable static arguments
