"""A function returns an array for a number."""

import sagax.numpy as snp
from sagax import Array


def mean(x: Array) -> float:
    return x.mean()  # expect-error


print(mean(snp.ones(3)))
