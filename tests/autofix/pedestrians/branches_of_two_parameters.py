# error: TypeError
# expect: TypeError
# line: 23
# also-line: 13, 17
# depends: -
# fix: parameter
# result: 2.200000047683716 1.213

import jax
import jax.numpy as jnp


def grow(mass, rate):
    return mass * (1.0 + rate)


def decay(mass, rate):
    return mass * jnp.exp(-rate)


@jax.jit
def update(mass, rate):
    return jax.lax.cond(rate > 0.2, decay, grow, (mass, rate))


print(float(update(2.0, 0.1)), round(float(update(2.0, 0.5)), 3))
