"""A vmapped function is called with a dictionary."""

import sagax
import sagax.numpy as snp
from sagax import Array


def f(x: Array, y: Array) -> Array:
    return x @ y


batch = snp.ones((2, 3))
print(sagax.vmap(f)(batch, {"y": batch}))  # expect-error
