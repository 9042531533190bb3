# error: StaleValueWarning
# line: 15
# depends: GAIN
# fix: pass_argument
# result: 7.0 16.0

import jax
import jax.numpy as jnp

GAIN = 2.0


@jax.jit
def amplify(x):
    return x * GAIN + 1.0


x = jnp.array(3.0)
first = float(amplify(x))
GAIN = 5.0
print(first, float(amplify(x)))
