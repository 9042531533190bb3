# error: TypeError
# line: 12
# depends: -
# fix: at_set
# result: [2.0, 2.0, 3.0, 4.0, 4.0]

import jax
import jax.numpy as jnp


def reflect(padded):
    padded.at[0] = padded[1]
    padded.at[-1] = padded[-2]
    return padded


print(jax.jit(reflect)(jnp.arange(5.0) + 1).tolist())
