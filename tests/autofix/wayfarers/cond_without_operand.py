# error: TypeError
# expect: TypeError | ValueError
# line: 15
# depends: -
# fix: operand
# result: [0.7, 0.6]

import jax
import jax.numpy as jnp


@jax.jit
def clipped_step(w, g):
    size = jnp.linalg.norm(g)
    g = jax.lax.cond(size > 1.0, lambda g: g / size, lambda g: g)
    return w - 0.5 * g


print([round(float(v), 3) for v in clipped_step(jnp.ones(2), jnp.array([3.0, 4.0]))])
