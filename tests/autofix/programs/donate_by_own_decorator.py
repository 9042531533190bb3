# error: RuntimeError
# expect: RuntimeError|DeletedArrayError
# line: 34
# depends: -
# fix: copy_before_donate
# result: 7 9.341

"""A loop that compares a state with the one before, whose buffer was donated."""
import functools

import jax
import jax.numpy as jnp


def compiled(**options):
    """A decorator: jit with options."""
    return functools.partial(jax.jit, **options)


class Relaxation:
    def __init__(self, grid):
        self.grid = grid

    @staticmethod
    @compiled(donate_argnums=(0,))
    def sweep(grid):
        middle = 0.25 * (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:])
        return grid.at[1:-1, 1:-1].set(middle)

    def until(self, tolerance, most=50):
        for count in range(most):
            before = self.grid
            self.grid = self.sweep(before)
            change = jnp.max(jnp.abs(self.grid - before))
            if change < tolerance:
                return count
        return most


relaxation = Relaxation(jnp.zeros((6, 6)).at[0].set(1.0))
print(relaxation.until(0.02), round(float(relaxation.grid.sum()), 3))
