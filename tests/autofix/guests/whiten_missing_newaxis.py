# error: ValueError
# expect: ValueError | TypeError
# line: 16
# depends: -
# fix: match_shape
# fixed-file: fixed/whiten_missing_newaxis.py
# result: [-1.069, -0.5345, 0.0, 1.6036]

import jax
import jax.numpy as jnp


@jax.jit
def normalize_rows(matrix):
    mean = matrix.mean(axis=1)
    centered = matrix - mean
    scale = jnp.sqrt((centered**2).mean(axis=1, keepdims=True))
    return centered / scale


spectra = jnp.array([[1.0, 2.0, 3.0, 6.0], [0.0, 1.0, 0.0, 3.0], [5.0, 5.0, 4.0, 6.0]])
out = normalize_rows(spectra)
print([round(float(v), 4) for v in out[0]])
