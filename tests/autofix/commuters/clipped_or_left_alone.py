# error: TypeError
# line: 17
# also-line: 14, 16
# depends: -
# fix: any
# result: [[3.0, 4.0, 5.0], [15.0, 20.0, 25.0], [1.0, 0.0, 2.0]]

import jax
import jax.numpy as jnp


def shrink(counts, limit):
    total = counts.sum()
    return jax.lax.cond(
        total > limit,
        lambda c: c * (limit / total),
        lambda c: c,
        counts,
    )


tallies = jnp.array([[3, 4, 5], [30, 40, 50], [1, 0, 2]])
shrunk = jax.jit(jax.vmap(shrink, in_axes=(0, None)))(tallies, 60.0)
print(shrunk.round(2).tolist())
