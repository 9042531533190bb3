# error: TypeError
# line: 17
# depends: -
# fix: convert_dtype
# fixed-file: fixed/lax_does_not_promote.py
# result: 0.2251
# family: types/lax-dtypes

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def structure_factor(charges, positions, wave):
    phase = lax.dot(positions, wave)
    real = lax.mul(charges, lax.cos(phase))
    imaginary = lax.mul(charges, lax.sin(phase))
    return jnp.sum(real) ** 2 + jnp.sum(imaginary) ** 2


charges = jnp.array([1, -1, 1, -1])
positions = jnp.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]])
print(round(float(structure_factor(charges, positions, jnp.array([1.0, 2.0]))), 4))
