# error: TypeError
# expect: TypeError | IndexError
# line: 16
# also-line: 15
# depends: -
# fix: integer_division
# result: 60.0

import jax
import jax.numpy as jnp


@jax.jit
def centered(signal):
    middle = signal.shape[0] / 2
    return signal - signal[middle]


print(float(centered(jnp.arange(9.0) ** 2).sum()))
