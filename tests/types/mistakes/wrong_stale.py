"""A value of jit's option that does not exist."""

import sagax
import sagax.numpy as snp
from sagax import Array


def f(x: Array) -> Array:
    return x


print(sagax.jit(f, stale="recompile")(snp.ones(3)))  # expect-error
