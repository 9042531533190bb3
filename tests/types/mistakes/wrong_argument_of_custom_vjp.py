"""A function with its own derivative is called with None."""

import sagax
import sagax.numpy as snp
from sagax import Array


@sagax.custom_vjp
def f(x: Array, y: Array) -> Array:
    return x * y


def fwd(x: Array, y: Array) -> tuple[Array, tuple[Array, Array]]:
    return x * y, (x, y)


def bwd(saved: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    x, y = saved
    return g * y, g * x


f.defvjp(fwd, bwd)
print(f(snp.ones(3), None))  # expect-error
