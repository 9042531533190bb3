# error: TypeError
# expect: TypeError | ValueError
# line: 14
# depends: -
# fix: where
# result: 5.5

import jax
import jax.numpy as jnp


@jax.jit
def relu_sum(x):
    return jax.lax.select(x > 0, x, 0.0).sum()


print(float(relu_sum(jnp.array([-1.0, 2.0, 3.5]))))
