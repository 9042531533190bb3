"""A jitted method is called with a keyword that it does not have."""

import sagax
import sagax.numpy as snp
from sagax import Array


class Layer:
    @sagax.jit(static_argnames="power")
    def raised(self, x: Array, power: int) -> Array:
        return x**power


print(Layer().raised(snp.ones(3), pwer=2))  # expect-error
