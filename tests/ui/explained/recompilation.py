import functools

import sagax
import sagax.numpy as jnp


@functools.partial(sagax.jit, static_argnames="power")
def sum_of_powers(x, power):
    return jnp.sum(jnp.abs(x) ** power)


def sweep(x):
    return [sum_of_powers(x, power=1.0 + k / 4) for k in range(8)]  #~ SX0403 `sum_of_powers` was compiled 5 times for this call: `power` changes each time


print(*(f"{total:.3f}" for total in sweep(jnp.array([1.0, -2.0]))))
