# error: ValueError
# expect: ValueError | TypeError
# line: 14
# depends: -
# fix: array_split
# result: [1.5, 5.0, 8.0]

import jax
import jax.numpy as jnp


@jax.jit
def chunk_means(x):
    return jnp.stack([part.mean() for part in jnp.split(x, 3)])


print([round(float(v), 3) for v in chunk_means(jnp.arange(10.0))])
