# error: TracerBoolConversionError
# line: 18
# depends: a
# fix: bounded_loop
# trap: lax.while_loop cannot be differentiated in reverse, and the program does so
# fixed-file: fixed/fixed_point_and_gradient.py
# result: -0.045 ; 0.0173
# family: 1/while-loop-differentiated-elsewhere

import jax
import jax.numpy as jnp


def solve(a):
    """The root of x = cos(a x), by iteration."""
    x = jnp.asarray(0.5)
    gap = jnp.asarray(1.0)
    while gap > 1e-5:
        new = jnp.cos(a * x)
        gap = jnp.abs(new - x)
        x = new
    return x


def misfit(a, target):
    return (solve(a) - target) ** 2


slope = jax.grad(misfit)(0.6, 0.8)
print(round(float(slope), 3))
batch = jax.jit(misfit)
print(round(float(batch(0.4, 0.8)), 4))
