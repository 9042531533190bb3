"""The pair that scan returns is taken for the carry."""

import sagax.numpy as snp
from sagax import Array, lax


def body(total: Array, x: Array) -> tuple[Array, None]:
    return total + x, None


total = lax.scan(body, snp.zeros(()), snp.arange(3.0))
print(total + 1)  # expect-error
