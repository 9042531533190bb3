# error: none
# expect: NaNWarning
# jax-differs: nan
# line: 14
# depends: -
# fix: any
# result: 0.6931

import jax
import jax.numpy as jnp


def entropy(p):
    return -jnp.sum(p * jnp.log(p))


p = jnp.array([0.5, 0.5, 0.0])
print(round(float(jax.jit(entropy)(p)), 4))
