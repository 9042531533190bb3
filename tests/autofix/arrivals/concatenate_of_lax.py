# error: TypeError
# line: 13
# depends: -
# fix: dimension
# result: [1.0, 2.0, 4.0, 6.0]

import jax
import jax.numpy as jnp


@jax.jit
def joined(a, b):
    return jax.lax.concatenate([a, b]).cumsum()


print(joined(jnp.ones(2), 2 * jnp.ones(2)).tolist())
