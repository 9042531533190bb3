# error: none
# expect: SideEffectWarning
# jax-differs: jax silently counts traces, not evaluations
# line: 23
# depends: -
# fix: carry_value
# fixed-file: fixed/nonlocal_count_of_evaluations.py
# result: 0.1374 20
# family: 2/side-effect-under-jit

import jax
import jax.numpy as jnp


def integrate(f, y, dt, steps):
    """Runge-Kutta of order 2; also the number of evaluations of f."""
    evaluations = 0

    @jax.jit
    def advance(y):
        nonlocal evaluations
        middle = y + 0.5 * dt * f(y)
        evaluations += 2
        return y + dt * f(middle)

    for _ in range(steps):
        y = advance(y)
    return y, evaluations


y, evaluations = integrate(lambda y: -2.0 * y, jnp.array(1.0), 0.1, 10)
print(round(float(y), 4), evaluations)
