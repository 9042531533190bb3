"""NaN in one iteration of a loop."""
import sagax
import sagax.numpy as jnp


def step(level, change):
    level = level + change
    return level, jnp.log(level)  #~ SX0112 invalid value (nan) encountered in log


with sagax.debug_nans(True):
    sagax.jit(lambda xs: sagax.lax.scan(step, 1.0, xs)[1].sum())(jnp.array([1.0, -1.5, -2.0, 1.0]))
