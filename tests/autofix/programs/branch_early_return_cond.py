# error: TracerBoolConversionError
# line: 14
# depends: x
# fix: cond
# result: [-0.25, 0.25] [0.0, 0.0]

import jax
import jax.numpy as jnp


@jax.jit
def scaled(x):
    total = jnp.abs(x).sum()
    if total == 0:
        return x
    x = x / total
    x = x - x.mean()
    return x


print([round(float(v), 4) for v in scaled(jnp.array([1.0, 3.0]))], [float(v) for v in scaled(jnp.zeros(2))])
