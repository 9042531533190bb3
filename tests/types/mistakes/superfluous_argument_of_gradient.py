"""A gradient function is called with one argument too many."""

import sagax
import sagax.numpy as snp
from sagax import Array


def loss(w: Array, x: Array) -> Array:
    return snp.sum(w * x)


x = snp.ones(3)
print(sagax.grad(loss)(x, x, x))  # expect-error
