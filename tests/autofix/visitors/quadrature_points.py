# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError
# line: 15
# depends: points
# fix: static_argument
# fixed-file: fixed/quadrature_points.py
# result: 1.8128 ; 2.1558
# family: concretization/linspace

import jax
import jax.numpy as jnp


def trapezoid(f, lower, upper, points):
    x = jnp.linspace(lower, upper, points)
    return jnp.sum((f(x[1:]) + f(x[:-1])) / 2) * (upper - lower) / (points - 1)


@jax.jit
def partition_function(beta, points):
    return trapezoid(lambda x: jnp.exp(-beta * x**4), -3.0, 3.0, points)


print(round(float(partition_function(1.0, 200)), 4))
print(round(float(partition_function(0.5, 400)), 4))
