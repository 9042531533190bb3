# error: TracerBoolConversionError
# line: 12
# depends: x
# fix: where
# result: [[0.5, -1.0], [0.0, 0.0]]

import jax
import jax.numpy as jnp


def scale_of(x):
    return jnp.abs(x).max() or 1.0


@jax.jit
def normalise(xs):
    return jax.vmap(lambda x: x / scale_of(x))(xs)


print(normalise(jnp.array([[1.0, -2.0], [0.0, 0.0]])).tolist())
