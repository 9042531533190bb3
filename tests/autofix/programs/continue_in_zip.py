# error: TracerBoolConversionError
# line: 15
# depends: xs
# fix: where
# result: 3.25

import jax
import jax.numpy as jnp


def robust(xs, w):
    total = 0.0
    count = 0
    for x, weight in zip(xs, w):
        if x < 0:
            continue
        total += x * weight
        count += 1
    return total / count


@jax.jit
def summary(xs, w):
    return robust(xs, w)


print(round(float(summary(jnp.array([1.0, -2.0, 3.0]), jnp.array([0.5, 1.0, 2.0]))), 4))
