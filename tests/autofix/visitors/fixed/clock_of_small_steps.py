# One correct fixed version of clock_of_small_steps.py
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
        return (k + 1) * DT, x, v

    t, x, v = jax.lax.fori_loop(0, steps, step, (0.0, 1.0, 0.0))
    return t, x**2 + v**2


elapsed, energy = run(50000)
print(round(float(elapsed), 2), round(float(energy), 2))
