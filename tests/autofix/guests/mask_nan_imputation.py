# error: NonConcreteBooleanIndexError
# line: 14
# depends: column
# fix: where
# fixed-file: fixed/mask_nan_imputation.py
# result: [[-1.225, 0.0, -1.225], [0.0, -1.225, 0.0], [1.225, 0.0, 1.225], [0.0, 1.225, 0.0]]

import jax
import jax.numpy as jnp
import numpy as np


def standardize(column):
    observed = column[~jnp.isnan(column)]
    mean, std = observed.mean(), observed.std()
    filled = jnp.where(jnp.isnan(column), mean, column)
    return (filled - mean) / std


def load_table():
    return np.array([
        [1.0, np.nan, 3.0],
        [2.0, 5.0, np.nan],
        [3.0, 7.0, 9.0],
        [np.nan, 9.0, 6.0],
    ], dtype=np.float32)


table = jax.vmap(standardize, in_axes=1, out_axes=1)(load_table())
print([[round(float(v), 3) for v in row] for row in table])
