# error: IndexError
# expect: IndexError | TracerIntegerConversionError
# line: 16
# depends: step
# fix: dynamic_slice
# result: [10.0, 12.0]

import jax
import jax.numpy as jnp

BATCH = 2


@jax.jit
def batch_sum(data, step):
    rows = data[step * BATCH:step * BATCH + BATCH]
    return rows.sum(axis=0)


print([float(v) for v in batch_sum(jnp.arange(12.0).reshape(6, 2), 1)])
