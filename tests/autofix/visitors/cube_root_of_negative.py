# error: none
# expect: NaNWarning
# jax-differs: jax silently returns nan
# line: 18
# depends: x
# fix: cbrt
# fixed-file: fixed/cube_root_of_negative.py
# result: [0.8165, -0.4082, 0.0, 1.2247, -1.633]
# family: silent/nan-forward-power

import jax
import jax.numpy as jnp


@jax.jit
def signed_root(x):
    """The cube-root transform for rainfall anomalies, which keeps the sign."""
    return x ** (1.0 / 3.0)


def standardized(x):
    shifted = signed_root(x)
    return (shifted - shifted.mean()) / shifted.std()


anomalies = jnp.array([8.0, -1.0, 0.0, 27.0, -64.0])
print([round(float(v), 4) for v in standardized(anomalies)])
