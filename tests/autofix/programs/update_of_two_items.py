# error: TypeError
# line: 17
# depends: grid
# fix: at_set
# result: [0.0, 0.9479999542236328, 1.5080000162124634, 0.9479999542236328, 0.0]

import jax
import jax.numpy as jnp


class Heat:
    def __init__(self, rate):
        self.rate = rate

    def step(self, grid):
        new = grid * 1.0
        new[1:-1] += self.rate * (grid[2:] - 2 * grid[1:-1] + grid[:-2])
        new[0], new[-1] = 0.0, 0.0
        return new


def simulate(heat, grid, rounds):
    return jax.lax.fori_loop(0, rounds, lambda i, grid: heat.step(grid), grid)


print(jnp.round(jax.jit(lambda grid: simulate(Heat(0.1), grid, 3))(jnp.array([0.0, 1.0, 2.0, 1.0, 0.0])), 4).tolist())
