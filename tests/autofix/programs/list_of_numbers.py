# error: TracerIntegerConversionError
# line: 15
# depends: grade
# fix: asarray_index
# result: 125.0

import jax
import jax.numpy as jnp

BONUS = [0.0, 10.0, 25.0]


@jax.jit
def pay(salary, grade):
    return salary + BONUS[grade]


print(float(pay(100.0, 2)))
