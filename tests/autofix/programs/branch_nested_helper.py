# error: TracerBoolConversionError
# line: 13
# depends: temps, limits
# fix: where
# result: 21.8

import jax
import jax.numpy as jnp


def squash(level, limits):
    low, high = limits
    if level < low:
        out = low - 0.5 * (low - level)
    elif level > high:
        out = high + 0.1 * (level - high)
    else:
        out = level
    return out * 2.0


def smooth(temps, limits):
    middle = temps.mean()
    return squash(middle, limits)


@jax.jit
def report(temps, limits):
    return smooth(temps, limits) + 1.0


print(round(float(report(jnp.array([3.0, 9.0, 30.0]), (0.0, 10.0))), 4))
