# error: TypeError
# line: 14
# depends: -
# fix: float_input
# result: 12.0

import jax


def cube(x):
    return x ** 3


slope = jax.grad(cube)(2)
print(float(slope))
