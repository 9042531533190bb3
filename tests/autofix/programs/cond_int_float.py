# error: TypeError
# line: 17
# also-line: 13, 22
# depends: -
# fix: match_dtype
# result: 3.5

import jax
import jax.numpy as jnp


def half(n):
    return n / 2


def keep(n):
    return n


@jax.jit
def share(n, big):
    return jax.lax.cond(big, half, keep, n)


print(float(share(jnp.array(7), True)))
