# error: TypeError
# line: 13
# depends: -
# fix: one_minus
# result: [1.0, 3.0, 6.0]

import jax
import jax.numpy as jnp


@jax.jit
def mix(frames, mask):
    return mask * frames + ~mask * frames.mean()


frames = jnp.array([1.0, 2.0, 6.0])
print(mix(frames, jnp.array([1.0, 0.0, 1.0])).tolist())
