# One correct fixed version of principal_stresses.py
import jax
import jax.numpy as jnp


def principal(stress):
    """Principal stresses of a plane stress state and the one of zero, from large to small."""
    sx, sy, txy = stress
    center = (sx + sy) / 2
    radius = jnp.sqrt(((sx - sy) / 2) ** 2 + txy**2)
    return jnp.sort(jnp.stack([center + radius, center - radius, jnp.zeros_like(center)]))[::-1]


@jax.jit
def tresca(stress):
    s1, _, s3 = principal(stress)
    return s1 - s3


print(round(float(tresca(jnp.array([80.0, 20.0, 30.0]))), 3))
