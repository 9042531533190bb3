"""A jitted function is called with a keyword that it does not have."""

from functools import partial

import sagax
import sagax.numpy as snp
from sagax import Array


@partial(sagax.jit, static_argnames="power")
def raised(x: Array, power: int) -> Array:
    return x**power


print(raised(snp.ones(3), pwer=2))  # expect-error
