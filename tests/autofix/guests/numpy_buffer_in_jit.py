# error: ValueError
# expect: ValueError | TracerArrayConversionError
# line: 18
# depends: asset_paths
# fix: at_set
# fixed-file: fixed/numpy_buffer_in_jit.py
# result: [100.0, 100.0, 100.0, 101.0]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def average_by_month(asset_paths):
    monthly = np.zeros(4, dtype=np.float32)
    for month in range(4):
        monthly[month] = asset_paths[:, month].mean()
    return jnp.asarray(monthly)


asset_paths = jnp.array([[100.0, 102.0, 101.0, 105.0], [100.0, 98.0, 99.0, 97.0]])
print(average_by_month(asset_paths).tolist())
