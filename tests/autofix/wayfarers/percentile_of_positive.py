# error: NonConcreteBooleanIndexError
# expect: NonConcreteBooleanIndexError | IndexError
# line: 14
# depends: waits
# fix: where
# result: 4.0

import jax
import jax.numpy as jnp


@jax.jit
def typical_wait(waits):
    served = waits[waits > 0]
    return jnp.percentile(served, 50)


waits = jnp.array([0.0, 3.0, 0.0, 5.0, 9.0, 0.0, 1.0])
print(float(typical_wait(waits)))
