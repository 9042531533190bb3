"""A jitted function is called without an argument."""

import sagax
import sagax.numpy as snp
from sagax import Array


@sagax.jit
def scale(x: Array, by: float) -> Array:
    return x * by


print(scale(snp.ones(3)))  # expect-error
