# error: ValueError
# line: 17
# also-line: 28
# depends: -
# fix: custom_jvp
# fixed-file: fixed/callback_needs_gradient.py
# result: 1.2

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import jv


def bessel_j0(x):
    shape = jax.ShapeDtypeStruct(jnp.shape(x), jnp.float32)
    return jax.pure_callback(lambda v: np.asarray(jv(0, v), np.float32), shape, x)


def misfit(wavenumber, radius, measured):
    return jnp.sum((bessel_j0(wavenumber * radius) - measured) ** 2)


radius = jnp.array([0.5, 1.0, 1.5])
measured = jnp.array([0.90, 0.67, 0.34])
wavenumber = 1.0
for _ in range(30):
    wavenumber = wavenumber - 0.1 * jax.grad(misfit)(wavenumber, radius, measured)
print(round(float(wavenumber), 2))
