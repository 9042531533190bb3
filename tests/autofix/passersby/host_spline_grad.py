# error: ValueError
# expect: ValueError | NotImplementedError | TypeError
# line: 23
# also-line: 36
# depends: x
# fix: custom_jvp
# fixed-file: fixed/host_spline_grad.py
# result: area 4.7478 ; hazard [0.2876, 0.7979, 1.1411, 1.9387]

"""Differentiate through an error function evaluated on the host."""
import math

import jax
import jax.numpy as jnp
import numpy as np


def host_erf(x):
    return np.vectorize(math.erf)(x).astype(np.float32)


def erf(x):
    return jax.pure_callback(host_erf, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def survival(x):
    return 0.5 * (1.0 - erf(x / jnp.sqrt(2.0)))


def hazard_area(x):
    return jnp.sum(-jnp.log(survival(x)))


x = jnp.array([-1.0, 0.0, 0.5, 1.5])
print("area", round(float(hazard_area(x)), 4))
g = jax.grad(hazard_area)(x)
print("hazard", [round(float(v), 4) for v in g])
