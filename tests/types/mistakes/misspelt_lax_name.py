"""A misspelt name of lax."""

import sagax.numpy as snp
from sagax import Array, lax


def double(x: Array) -> Array:
    return lax.mull(x, 2)  # expect-error


print(double(snp.ones(3)))
