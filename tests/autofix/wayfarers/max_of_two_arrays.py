# error: ConcretizationTypeError
# expect: TypeError | ValueError | ConcretizationTypeError | TracerIntegerConversionError
# line: 14
# depends: -
# fix: maximum
# result: 7.0

import jax
import jax.numpy as jnp


@jax.jit
def pooled(left, right):
    return jnp.max(left, right).sum()


print(float(pooled(jnp.array([1.0, 5.0]), jnp.array([2.0, 3.0]))))
