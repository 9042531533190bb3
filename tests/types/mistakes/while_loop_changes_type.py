"""The body of a loop returns something else than it takes."""

import sagax.numpy as snp
from sagax import Array, lax


def more(x: Array) -> Array:
    return x < 10


def body(x: Array) -> tuple[Array, int]:
    return x + 1, 1


print(lax.while_loop(more, body, snp.zeros(())))  # expect-error
