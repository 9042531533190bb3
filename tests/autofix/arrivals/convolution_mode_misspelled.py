# error: ValueError
# line: 14
# depends: -
# fix: option
# result: [1.0, 2.0, 3.0, 4.0]

import jax
import jax.numpy as jnp


@jax.jit
def smooth(x):
    kernel = jnp.array([0.25, 0.5, 0.25])
    return jnp.convolve(x, kernel, mode="sames")


print([round(float(v), 3) for v in smooth(jnp.array([0.0, 4.0, 0.0, 8.0]))])
