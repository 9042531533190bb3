# error: RecompilationWarning
# line: 17
# depends: -
# fix: hoist_jit
# result: [1.3335, 1.3333, 1.3333]

import jax
import jax.numpy as jnp


def relax(field):
    return 0.5 * field + 0.25 * (jnp.roll(field, 1) + jnp.roll(field, -1))


def simulate(field, steps):
    for _ in range(steps):
        field = jax.jit(lambda f: relax(f) * 1.0)(field)
    return field


print([round(float(v), 4) for v in simulate(jnp.array([4.0, 0.0, 0.0]), 7)])
