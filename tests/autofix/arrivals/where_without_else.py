# error: TypeError
# expect: ValueError | TypeError
# line: 14
# depends: -
# fix: where
# result: 13.0

import jax
import jax.numpy as jnp


@jax.jit
def penalty(slack):
    return jnp.sum(jnp.where(slack > 0, slack**2))


print(float(penalty(jnp.array([-1.0, 2.0, 3.0]))))
