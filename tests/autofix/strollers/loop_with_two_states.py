# error: TypeError
# expect: TypeError | ValueError
# line: 19
# depends: -
# fix: tuple
# result: -0.4169 -0.9078

import jax
import jax.numpy as jnp


def leapfrog(q, p, n, dt=0.1):
    def step(_, state):
        q, p = state
        p = p - 0.5 * dt * q
        q = q + dt * p
        return q, p - 0.5 * dt * q

    return jax.lax.fori_loop(0, n, step, q, p)


q, p = leapfrog(jnp.array(1.0), jnp.array(0.0), 20)
print(round(float(q), 4), round(float(p), 4))
