# One correct fixed version of call_counter_jit.py
import jax
import jax.numpy as jnp


class Counted:
    """Wraps an objective and keeps the number of evaluations."""

    def __init__(self, f):
        self.compiled = jax.jit(f)
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.compiled(x)


def golden_section(f, lo, hi, tol=1e-4):
    ratio = 0.6180339887
    a, b = lo, hi
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    fc, fd = f(c), f(d)
    while b - a > tol:
        if fc < fd:
            b, d, fd = d, c, fc
            c = b - ratio * (b - a)
            fc = f(c)
        else:
            a, c, fc = c, d, fd
            d = a + ratio * (b - a)
            fd = f(d)
    return 0.5 * (a + b)


objective = Counted(lambda x: (x - 1.25) ** 2 + 0.3 * jnp.cos(x))
best = golden_section(objective, 0.0, 4.0)
print("x", round(best, 2))
print("evaluations", objective.calls)
