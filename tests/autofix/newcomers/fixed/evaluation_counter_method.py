import jax
import jax.numpy as jnp


class Objective:
    def __init__(self, f):
        self.f = f
        self.n_evals = 0
        self._compiled = jax.jit(self._evaluate)

    def _evaluate(self, x):
        return self.f(x)

    def __call__(self, x):
        self.n_evals += 1
        return self._compiled(x)


def golden_section(f, a, b, n=12):
    phi = (5**0.5 - 1) / 2
    for _ in range(n):
        c, d = b - phi * (b - a), a + phi * (b - a)
        a, b = (a, d) if f(c) < f(d) else (c, b)
    return 0.5 * (a + b)


objective = Objective(lambda x: jnp.sin(x) + 0.1 * x**2)
best = golden_section(objective, -3.0, 1.0)
print(round(best, 2), objective.n_evals)
