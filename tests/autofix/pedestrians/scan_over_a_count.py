# error: ValueError
# expect: TypeError | ValueError
# line: 19
# depends: -
# fix: length
# result: [105.0, 110.25, 115.75999450683594, 121.54999542236328]

import jax
import jax.numpy as jnp


def compound(balance, _):
    balance = balance * 1.05
    return balance, balance


@jax.jit
def savings(start):
    _, history = jax.lax.scan(compound, start, 4)
    return history


print(savings(100.0).round(2).tolist())
