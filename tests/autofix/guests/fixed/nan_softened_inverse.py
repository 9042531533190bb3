# One correct fixed version of nan_softened_inverse.py
import jax
import jax.numpy as jnp


def gravity_energy(masses, positions):
    offsets = positions[:, None] - positions[None, :]
    squared = jnp.sum(offsets**2, axis=-1)
    apart = squared > 0.0
    inverse = jnp.where(apart, 1.0 / jnp.sqrt(jnp.where(apart, squared, 1.0)), 0.0)
    return -0.5 * masses @ inverse @ masses


masses = jnp.array([3.0, 1.0, 2.0])
positions = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
acceleration = -jax.grad(gravity_energy, argnums=1)(masses, positions) / masses[:, None]
print([[round(float(a), 4) for a in row] for row in acceleration])
