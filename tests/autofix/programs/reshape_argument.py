# error: TracerIntegerConversionError
# expect: TracerIntegerConversionError | TypeError | ConcretizationTypeError
# line: 15
# depends: columns
# fix: static_args
# result: [3.0, 5.0, 7.0]

import jax
import jax.numpy as jnp
from jax import jit


@jit
def fold(values, columns):
    table = values.reshape(-1, columns)
    return table.sum(axis=0)


print([float(v) for v in fold(jnp.arange(6.0), 3)])
