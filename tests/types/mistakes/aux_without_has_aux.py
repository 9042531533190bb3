"""The function of has_aux returns no pair."""

import sagax
import sagax.numpy as snp
from sagax import Array


def loss(w: Array) -> Array:
    return snp.sum(w**2)


print(sagax.grad(loss, has_aux=True)(snp.ones(3)))  # expect-error
