# error: ValueError
# line: 27
# also-line: 23
# depends: -
# fix: any
# result: 0.707

import jax
import jax.numpy as jnp


def root(a):
    def unfinished(bounds):
        low, high = bounds
        return high - low > 1e-3

    def halve(bounds):
        low, high = bounds
        middle = 0.5 * (low + high)
        inside = middle**2 < a
        return jnp.where(inside, middle, low), jnp.where(inside, high, middle)

    low, high = jax.lax.while_loop(unfinished, halve, (a * 0.0, a))
    return 0.5 * (low + high)


slope = jax.grad(root)(2.0)
print(round(float(slope), 3))
