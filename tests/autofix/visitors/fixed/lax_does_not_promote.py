# One correct fixed version of lax_does_not_promote.py
import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def structure_factor(charges, positions, wave):
    phase = lax.dot(positions, wave)
    charges = lax.convert_element_type(charges, phase.dtype)
    real = lax.mul(charges, lax.cos(phase))
    imaginary = lax.mul(charges, lax.sin(phase))
    return jnp.sum(real) ** 2 + jnp.sum(imaginary) ** 2


charges = jnp.array([1, -1, 1, -1])
positions = jnp.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]])
print(round(float(structure_factor(charges, positions, jnp.array([1.0, 2.0]))), 4))
