"""A branch gets no operand."""

import sagax.numpy as snp
from sagax import Array, lax


def double(x: Array) -> Array:
    return 2 * x


x = snp.ones(3)
print(lax.cond(x[0] > 0, double, double))  # expect-error
