# error: TracerBoolConversionError
# line: 18
# depends: x
# fix: while_loop
# result: 0.739

import jax
import jax.numpy as jnp


class Iterate:
    def __init__(self, f, tol):
        self.f, self.tol = f, tol

    def fixpoint(self, x):
        while True:
            new = self.f(x)
            if jnp.abs(new - x) < self.tol:
                return new
            x = new


@jax.jit
def solve(x):
    return Iterate(jnp.cos, 1e-4).fixpoint(x)


print(round(float(solve(0.5)), 3))
