# One correct fixed version of cached_kernel_matrix.py
import functools

import jax
import jax.numpy as jnp

INPUTS = jnp.linspace(0.0, 1.0, 6)


@functools.lru_cache(maxsize=None)
def kernel_matrix(scale):
    """Computed once for each length scale of the grid search."""
    distance = INPUTS[:, None] - INPUTS[None, :]
    return jnp.exp(-((distance / scale) ** 2)) + 1e-3 * jnp.eye(6)


@jax.jit
def evidence(K, y):
    _, logdet = jnp.linalg.slogdet(K)
    return -0.5 * (y @ jnp.linalg.solve(K, y) + logdet)


y = jnp.sin(3.0 * INPUTS)
scales = [0.2, 0.5, 1.0]
best = max(scales, key=lambda scale: float(evidence(kernel_matrix(scale), y)))
print(round(float(best), 2))
