# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently stops adding once the sum is large
# line: 26
# also-line: 28
# depends: -
# fix: sum_at_once
# fixed-file: fixed/clock_of_small_steps.py
# result: 5.0 1.0
# family: silent/precision-accumulated-time

import jax
import jax.numpy as jnp

DT = 1e-4


@jax.jit
def run(steps):
    """Integrates an oscillator and keeps the time."""

    def step(k, state):
        t, x, v = state
        v = v - DT * x
        x = x + DT * v
        return t + DT, x, v

    t, x, v = jax.lax.fori_loop(0, steps, step, (20000.0, 1.0, 0.0))
    return t - 20000.0, x**2 + v**2


elapsed, energy = run(50000)
print(round(float(elapsed), 2), round(float(energy), 2))
