# error: none
# expect: IntegerOverflowWarning | OverflowError
# line: 21
# depends: carry, step
# fix: wider_dtype
# result: [160, 70]
# grade: ran
"""Positions of 8 bits that a scan adds up, mapped over walks."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Walk(NamedTuple):
    position: jax.Array
    steps: jax.Array


def move(carry, step):
    here = carry + step * 2
    return here, here


@jax.jit
def follow(walks):
    def one(walk):
        return jax.lax.scan(move, walk.position, walk.steps)[0]

    return jax.vmap(one)(walks)


walks = Walk(jnp.array([100, 50], jnp.int8), jnp.array([[10, 20], [5, 5]], jnp.int8))
print([int(v) for v in follow(walks)])
