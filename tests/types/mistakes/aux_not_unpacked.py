"""The result of value_and_grad with has_aux is taken for an array."""

import sagax
import sagax.numpy as snp
from sagax import Array


def loss(w: Array) -> tuple[Array, Array]:
    return snp.sum(w), w


value, grads = sagax.value_and_grad(loss, has_aux=True)(snp.ones(3))
print(value.item(), grads)  # expect-error
