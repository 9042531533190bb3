# error: TypeError
# line: 15
# depends: signal
# fix: astype
# fixed-file: fixed/sign_by_comparison.py
# result: 3
# family: 3/bool-minus-bool

import jax
import jax.numpy as jnp


def polarity(signal, dead_zone):
    """1 above the dead zone, -1 below, else 0."""
    return (signal > dead_zone) - (signal < -dead_zone)


@jax.jit
def crossings(signal):
    sign = polarity(signal, 0.1)
    return jnp.sum(jnp.abs(jnp.diff(sign))) // 2


print(int(crossings(jnp.array([1.0, 0.5, -0.4, -1.0, 0.3, 0.7, -0.2]))))
