# error: none
# expect: StaleValueWarning
# jax-differs: jax keeps the first value
# line: 17
# depends: -
# fix: pass_argument
# result: [3.0, 6.0, 12.0]

import jax
import jax.numpy as jnp

SETTINGS = {"gain": 1.0}


@jax.jit
def amplify(x):
    return SETTINGS["gain"] * jnp.sum(x)


sums = []
for gain in (1.0, 2.0, 4.0):
    SETTINGS["gain"] = gain
    sums.append(float(amplify(jnp.ones(3))))
print(sums)
