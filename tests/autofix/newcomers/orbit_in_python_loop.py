# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax silently compiles 300 copies of the step
# line: 20
# depends: -
# fix: fori_or_scan
# result: [-0.99, 0.14] 1.0

import jax
import jax.numpy as jnp


def acceleration(r):
    return -r / jnp.linalg.norm(r) ** 3


@jax.jit
def orbit(r, v):
    dt = 0.01
    for _ in range(300):
        v = v + 0.5 * dt * acceleration(r)
        r = r + dt * v
        v = v + 0.5 * dt * acceleration(r)
    return r, v


r, v = orbit(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]))
print([round(c, 2) for c in r.tolist()], round(float(jnp.linalg.norm(v)), 3))
