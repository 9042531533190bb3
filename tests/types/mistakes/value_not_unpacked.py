"""The value is forgotten: value_and_grad gives two results."""

import sagax
import sagax.numpy as snp
from sagax import Array


def loss(w: Array) -> Array:
    return snp.sum(w**2)


w = snp.ones(3)
w = w - 0.1 * sagax.value_and_grad(loss)(w)  # expect-error
print(w)
