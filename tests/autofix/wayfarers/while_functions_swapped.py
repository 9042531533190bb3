# error: TypeError
# expect: TypeError | ValueError
# line: 22
# depends: -
# fix: swap_arguments
# result: 7

import jax
import jax.numpy as jnp


@jax.jit
def halvings(x):
    def unfinished(state):
        value, count = state
        return value > 1.0

    def halve(state):
        value, count = state
        return value / 2, count + 1

    return jax.lax.while_loop(halve, unfinished, (x, 0))[1]


print(int(halvings(100.0)))
