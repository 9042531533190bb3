"""A misspelt option of jit."""

import sagax
import sagax.numpy as snp
from sagax import Array


def f(x: Array, n: int) -> Array:
    return x**n


g = sagax.jit(f, static_argname="n")  # expect-error
print(g(snp.ones(3), 2))
