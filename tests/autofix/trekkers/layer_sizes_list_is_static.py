# error: ValueError
# line: 19
# depends: sizes
# fix: any
# result: [(4, 8), (8, 2)]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, (m, n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


print([w.shape for w in init(jax.random.key(0), [4, 8, 2])])
