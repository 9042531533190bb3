# error: ConcretizationTypeError
# line: 13
# depends: length
# fix: any
# result: [1.0, 2.0, 0.0, 0.0]

import jax
import jax.numpy as jnp


@jax.jit
def pad_to(x, length):
    return jnp.pad(x, (0, length - x.shape[0]))


print(pad_to(jnp.array([1.0, 2.0]), 4).tolist())
