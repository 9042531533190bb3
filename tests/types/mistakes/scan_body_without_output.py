"""The body of a scan returns only the carry."""

import sagax.numpy as snp
from sagax import Array, lax


def body(total: Array, x: Array) -> Array:
    return total + x


print(lax.scan(body, snp.zeros(()), snp.arange(3.0)))  # expect-error
