# error: none
# expect: none
# result: isometry True ; error drops True

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np


@lru_cache(maxsize=None)
def dct_matrix(n):
    k, i = np.mgrid[:n, :n]
    basis = np.cos(np.pi * (2 * i + 1) * k / (2 * n)) * np.sqrt(2.0 / n)
    basis[0] /= np.sqrt(2.0)
    return basis.astype(np.float32)


@jax.jit
def dct2(block):
    return dct_matrix(block.shape[0]) @ block @ dct_matrix(block.shape[1]).T


@jax.jit
def compress(block, keep):
    coeff = dct2(block)
    order = jnp.add.outer(jnp.arange(block.shape[0]), jnp.arange(block.shape[1]))
    kept = jnp.where(order < keep, coeff, 0.0)
    return dct_matrix(block.shape[0]).T @ kept @ dct_matrix(block.shape[1])


block = jnp.sin(jnp.arange(64.0) / 9.0).reshape(8, 8)
print("isometry", bool(jnp.allclose(jnp.sum(block ** 2), jnp.sum(dct2(block) ** 2), rtol=1e-4)))
print("error drops", bool(jnp.abs(compress(block, 15) - block).max() < jnp.abs(compress(block, 2) - block).max()))
