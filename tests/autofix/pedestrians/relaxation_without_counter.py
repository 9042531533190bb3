# error: TypeError
# expect: TypeError
# line: 20
# also-line: 13
# depends: -
# fix: parameter
# result: [1.0, 1.0, 1.0, 1.0]

import jax
import jax.numpy as jnp


def relax(field):
    left, right = jnp.roll(field, 1), jnp.roll(field, -1)
    return 0.5 * field + 0.25 * (left + right)


@jax.jit
def diffuse(field):
    return jax.lax.fori_loop(0, 20, relax, field)


print(diffuse(jnp.array([0.0, 4.0, 0.0, 0.0])).round(3).tolist())
