# error: TypeError
# line: 20
# depends: -
# fix: at_set
# result: 0.1248

import jax
import jax.numpy as jnp


class Poisson1D:
    def __init__(self, n, source):
        self.h = 1.0 / (n - 1)
        self.f = source
        self.u = jnp.zeros(n)

    def sweep(self, times=1):
        for _ in range(times):
            for i in range(1, len(self.u) - 1):
                self.u[i] = 0.5 * (self.u[i - 1] + self.u[i + 1] + self.h**2 * self.f[i])
        return self


problem = Poisson1D(9, source=jnp.ones(9)).sweep(times=40)
print(round(float(problem.u[4]), 4))
