# error: TracerBoolConversionError
# line: 24
# depends: x, gain
# fix: where
# trap: only the last condition is traced; the first three must stay as they are
# fixed-file: fixed/one_of_four_branches.py
# result: [[0.375, -0.5]]
# family: 1/needless-edits

import jax
import jax.numpy as jnp


@jax.jit
def prepare(x, gain):
    if x.ndim == 1:
        x = x[None, :]
    if x.shape[1] % 2:
        x = jnp.pad(x, ((0, 0), (0, 1)))
    if not jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.float32)
    x = x * gain
    peak = jnp.max(jnp.abs(x))
    if peak > 1.0:
        x = x / peak
    # values are in range now
    return x.reshape(x.shape[0], -1, 2).mean(axis=2)


print(prepare(jnp.array([1, 2, -4]), 0.5).tolist())
