# error: TracerBoolConversionError
# line: 16
# depends: row
# fix: logical_ops
# result: [3.0, 0.0, 0.0]

import jax
import jax.numpy as jnp

LIMIT = 4.0


@jax.jit
def weights(rows):
    def weigh(row):
        outside = row[0] < 0.0 or not (row[1] <= LIMIT)
        return jnp.where(outside, 0.0, row.sum())

    return jax.vmap(weigh)(rows)


print([float(v) for v in weights(jnp.array([[1.0, 2.0], [-1.0, 3.0], [2.0, 9.0]]))])
