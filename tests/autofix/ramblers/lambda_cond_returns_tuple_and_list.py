# error: TypeError
# line: 13
# depends: -
# fix: any
# result: 1.0 -0.5

import jax
import jax.numpy as jnp


@jax.jit
def relax(x, velocity, bounce):
    return jax.lax.cond(bounce, lambda x, v: (x, -v), lambda x, v: [x + v, v], x, velocity)


x, v = relax(jnp.array(1.0), jnp.array(0.5), True)
print(float(x), float(v))
