# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently gives nan: 1/0 on the side that where drops
# line: 18
# also-line: 24
# depends: masses, positions
# fix: double_where
# fixed-file: fixed/nan_softened_inverse.py
# result: [[1.0, 0.5], [-3.1789, 0.3578], [0.0894, -0.9289]]

import jax
import jax.numpy as jnp


def gravity_energy(masses, positions):
    offsets = positions[:, None] - positions[None, :]
    squared = jnp.sum(offsets**2, axis=-1)
    inverse = jnp.where(squared > 0.0, 1.0 / jnp.sqrt(squared), 0.0)
    return -0.5 * masses @ inverse @ masses


masses = jnp.array([3.0, 1.0, 2.0])
positions = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
acceleration = -jax.grad(gravity_energy, argnums=1)(masses, positions) / masses[:, None]
print([[round(float(a), 4) for a in row] for row in acceleration])
