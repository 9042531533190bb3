# One correct fixed version of sign_by_comparison.py
import jax
import jax.numpy as jnp


def polarity(signal, dead_zone):
    """1 above the dead zone, -1 below, else 0."""
    return (signal > dead_zone).astype(int) - (signal < -dead_zone).astype(int)


@jax.jit
def crossings(signal):
    sign = polarity(signal, 0.1)
    return jnp.sum(jnp.abs(jnp.diff(sign))) // 2


print(int(crossings(jnp.array([1.0, 0.5, -0.4, -1.0, 0.3, 0.7, -0.2]))))
