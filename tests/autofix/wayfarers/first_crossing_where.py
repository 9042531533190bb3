# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError
# line: 15
# depends: trace, level
# fix: size
# result: 2

import jax
import jax.numpy as jnp


@jax.jit
def crossing(trace, level):
    above = trace > level
    return jnp.where(above)[0][0]


trace = jnp.array([0.1, 0.4, 1.2, 0.8, 2.0])
print(int(crossing(trace, 1.0)))
