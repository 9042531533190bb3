"""A misspelt transformation."""

import sagax
import sagax.numpy as snp
from sagax import Array


def f(x: Array) -> Array:
    return x * x


print(sagax.value_and_gradd(f)(snp.ones(())))  # expect-error
