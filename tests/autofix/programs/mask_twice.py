# error: NonConcreteBooleanIndexError
# line: 12
# depends: w
# fix: where_mask_sum
# result: 5.0

import jax
import jax.numpy as jnp

def penalty(w):
    active = w > 0
    return (w[active]).sum() + w[active].size

print(float(jax.jit(penalty)(jnp.array([1.0, -1.0, 2.0]))))
