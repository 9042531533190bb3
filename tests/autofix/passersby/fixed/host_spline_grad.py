# One correct fixed version of host_spline_grad.py
"""Differentiate through an error function evaluated on the host."""
import math

import jax
import jax.numpy as jnp
import numpy as np


def host_erf(x):
    return np.vectorize(math.erf)(x).astype(np.float32)


def erf(x):
    return jax.pure_callback(host_erf, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


erf = jax.custom_jvp(erf)
erf.defjvps(lambda dx, out, x: 2.0 / jnp.sqrt(jnp.pi) * jnp.exp(-x * x) * dx)


def survival(x):
    return 0.5 * (1.0 - erf(x / jnp.sqrt(2.0)))


def hazard_area(x):
    return jnp.sum(-jnp.log(survival(x)))


x = jnp.array([-1.0, 0.0, 0.5, 1.5])
print("area", round(float(hazard_area(x)), 4))
g = jax.grad(hazard_area)(x)
print("hazard", [round(float(v), 4) for v in g])
