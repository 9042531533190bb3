"""A jitted method is called without its argument."""

import sagax
from sagax import Array


class Layer:
    @sagax.jit
    def scaled(self, x: Array) -> Array:
        return x * 2


print(Layer().scaled())  # expect-error
