# error: TracerIntegerConversionError
# expect: TracerIntegerConversionError | ConcretizationTypeError | TypeError
# line: 16
# depends: t
# fix: any
# result: [6.0, 9.0, 6.0]

import jax
import jax.numpy as jnp
from jax import lax


def pooled(packed, batch_sizes):
    def body(t, state):
        offset, totals = state
        rows = lax.dynamic_slice_in_dim(packed, offset, batch_sizes[t])
        return offset + batch_sizes[t], totals.at[t].set(rows.sum())

    steps = batch_sizes.shape[0]
    return lax.fori_loop(0, steps, body, (0, jnp.zeros(steps)))[1]


packed = jnp.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
batch_sizes = jnp.array([3, 2, 1])
print(jax.jit(pooled)(packed, batch_sizes).tolist())
