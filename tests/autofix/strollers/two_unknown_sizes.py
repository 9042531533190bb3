# error: TypeError
# expect: ValueError | TypeError
# line: 14
# depends: -
# fix: reshape
# result: (2,)

import jax
import jax.numpy as jnp


@jax.jit
def flat_rows(x):
    return x.reshape(x.shape[0], -1, -1).sum(axis=1)


print(flat_rows(jnp.ones((2, 3, 4))).shape)
