"""A gradient function is called with the arguments in the wrong order."""

from typing import NamedTuple

import sagax
import sagax.numpy as snp
from sagax import Array


class Params(NamedTuple):
    w: Array


def loss(params: Params, x: Array) -> Array:
    return snp.sum(params.w * x)


params, x = Params(snp.ones(3)), snp.ones(3)
print(sagax.grad(loss)(x, params))  # expect-error
