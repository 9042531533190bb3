from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np


@lru_cache(maxsize=None)
def dct_matrix(n):
    k = np.arange(n)
    return np.cos(np.pi / n * (k[None, :] + 0.5) * k[:, None]).astype(np.float32)


@jax.jit
def compress(block):
    transform = dct_matrix(block.shape[0])
    return transform @ block


for n in (4, 8, 4):
    print(round(float(compress(jnp.ones(n))[0]), 4))
print(dct_matrix(4).shape)
