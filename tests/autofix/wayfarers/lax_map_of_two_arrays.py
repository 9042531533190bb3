# error: TypeError
# expect: TypeError | ValueError
# line: 18
# depends: -
# fix: tuple
# result: [2.0, 2.0, 2.0]

import jax
import jax.numpy as jnp


def fit(x, y):
    slope = jnp.vdot(x, y) / jnp.vdot(x, x)
    return slope


x = jnp.arange(1.0, 13.0).reshape(3, 4)
slopes = jax.lax.map(fit, x, 2 * x)
print(slopes.tolist())
