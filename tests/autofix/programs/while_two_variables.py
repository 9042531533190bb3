# error: TracerBoolConversionError
# line: 14
# depends: b
# fix: while_loop
# result: [12, 2]

import jax
import jax.numpy as jnp


@jax.jit
def gcd(a, b):
    rounds = 0
    while b != 0:
        a, b = b, a % b
        rounds += 1
    return a, rounds


print([int(v) for v in gcd(84, 36)])
