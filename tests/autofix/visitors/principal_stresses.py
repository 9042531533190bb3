# error: TracerBoolConversionError
# line: 18
# depends: stress
# fix: jnp_function
# fixed-file: fixed/principal_stresses.py
# result: 92.426
# family: concretization/builtin-sorted

import jax
import jax.numpy as jnp


def principal(stress):
    """Principal stresses of a plane stress state and the one of zero, from large to small."""
    sx, sy, txy = stress
    center = (sx + sy) / 2
    radius = jnp.sqrt(((sx - sy) / 2) ** 2 + txy**2)
    return sorted((center + radius, center - radius, 0.0), reverse=True)


@jax.jit
def tresca(stress):
    s1, _, s3 = principal(stress)
    return s1 - s3


print(round(float(tresca(jnp.array([80.0, 20.0, 30.0]))), 3))
