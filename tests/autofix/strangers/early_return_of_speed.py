# error: TracerBoolConversionError
# line: 17
# depends: margin
# fix: cond
# trap: where(margin > 0, sqrt(margin), 0) has a nan gradient at and below zero
# probe: float(jax.grad(shortfall)(-1.0)) == 0.0 and float(jax.grad(shortfall)(0.0)) == 0.0 and abs(float(jax.grad(shortfall)(4.0)) - 0.25) < 1e-5
# fixed-file: fixed/early_return_of_speed.py
# result: 2.0 -0.25
# family: 1/branch-with-singular-derivative

import jax
import jax.numpy as jnp


def shortfall(margin):
    """What is owed: nothing above the line, the square root below."""
    if margin <= 0.0:
        return 0.0 * margin
    return jnp.sqrt(margin)


@jax.jit
def sensitivity(price, strike):
    value, slope = jax.value_and_grad(shortfall)(strike - price)
    return value, -slope


value, slope = sensitivity(5.0, 9.0)
print(round(float(value), 4), round(float(slope), 4))
