# error: none
# expect: RecompilationWarning
# jax-differs: jax compiles a fresh lambda on every call of the method
# line: 27
# also-line: 25
# depends: -
# fix: hoist_jit
# fixed-file: fixed/solver_jit_per_call.py
# result: steps 10 ; peak 0.3913

"""Heat equation stepper with an implicit solve."""
import jax
import jax.numpy as jnp


class ImplicitHeat:
    def __init__(self, n, dt, kappa=1.0):
        h = 1.0 / (n + 1)
        lap = (jnp.diag(-2.0 * jnp.ones(n)) + jnp.diag(jnp.ones(n - 1), 1)
               + jnp.diag(jnp.ones(n - 1), -1)) / h ** 2
        self.matrix = jnp.eye(n) - dt * kappa * lap
        self.steps = 0

    def advance(self, u):
        solve = jax.jit(lambda A, b: jnp.linalg.solve(A, b))
        self.steps += 1
        return solve(self.matrix, u)

    def run(self, u, n_steps):
        for _ in range(n_steps):
            u = self.advance(u)
        return u


n = 15
x = jnp.arange(1, n + 1) / (n + 1)
solver = ImplicitHeat(n, dt=0.01)
u = solver.run(jnp.sin(jnp.pi * x), 10)
print("steps", solver.steps)
print("peak", round(float(u.max()), 4))
