"""A rematerialized function is called without an argument."""

import sagax
import sagax.numpy as snp
from sagax import Array


@sagax.checkpoint
def layer(w: Array, x: Array) -> Array:
    return snp.tanh(w @ x)


print(layer(snp.ones((2, 2))))  # expect-error
