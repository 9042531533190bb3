"""A misspelt option of grad."""

import sagax
import sagax.numpy as snp
from sagax import Array


def f(x: Array, y: Array) -> Array:
    return snp.sum(x * y)


print(sagax.grad(f, argnum=1)(snp.ones(3), snp.ones(3)))  # expect-error
