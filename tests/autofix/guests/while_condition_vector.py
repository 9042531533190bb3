# error: TypeError
# line: 17
# also-line: 25
# depends: -
# fix: reduce_condition
# fixed-file: fixed/while_condition_vector.py
# result: [1.0, 0.5, 0.2]

import jax
import jax.numpy as jnp


@jax.jit
def inverse_sqrt(values, tolerance):
    def not_done(state):
        guess, change = state
        return jnp.abs(change) > tolerance

    def newton(state):
        guess, _ = state
        new = guess * (1.5 - 0.5 * values * guess**2)
        return new, new - guess

    start = (0.1 * jnp.ones_like(values), jnp.ones_like(values))
    return jax.lax.while_loop(not_done, newton, start)[0]


roots = inverse_sqrt(jnp.array([1.0, 4.0, 25.0]), 1e-6)
print([round(float(r), 4) for r in roots])
