# error: FloatingPointError
# expect: FloatingPointError | NaNWarning
# line: 19
# also-line: 25
# depends: -
# fix: guard_log
# fixed-file: fixed/nan_hunt_switched_on.py
# result: 0.1064 ; 0.6931
# family: nan/debug-nans

import jax
import jax.numpy as jnp

jax.config.update("jax_debug_nans", True)


@jax.jit
def relative_entropy(p, q):
    return jnp.sum(p * jnp.log(p / q))


model = jnp.array([0.25, 0.25, 0.25, 0.25])
for counts in ([4.0, 3.0, 2.0, 1.0], [5.0, 5.0, 0.0, 0.0]):
    observed = jnp.array(counts) / 10.0
    print(round(float(relative_entropy(observed, model)), 4))
