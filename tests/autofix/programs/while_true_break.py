# error: TracerBoolConversionError
# line: 16
# depends: x
# fix: while_loop
# result: 3.0

import jax
import jax.numpy as jnp

@jax.jit
def newton(x):
    y = x
    i = 0
    while True:
        new = 0.5 * (y + x / y)
        if jnp.abs(new - y) < 1e-4:
            break
        y = new
        i = i + 1
    return y

print(round(float(newton(9.0)), 3))
