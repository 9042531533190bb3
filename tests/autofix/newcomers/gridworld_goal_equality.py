# error: TracerBoolConversionError
# line: 28
# depends: cell, action
# fix: where
# result: 2 2 0.7

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Cell:
    row: jax.Array
    col: jax.Array


MOVES = jnp.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
GOAL = Cell(jnp.array(2), jnp.array(2))


@jax.jit
def env_step(cell, action):
    move = MOVES[action]
    nxt = Cell(jnp.clip(cell.row + move[0], 0, 3), jnp.clip(cell.col + move[1], 0, 3))
    reward = 1.0 if nxt == GOAL else -0.1
    return nxt, reward


cell = Cell(jnp.array(0), jnp.array(0))
total = 0.0
for a in (1, 3, 1, 3):
    cell, reward = env_step(cell, a)
    total += float(reward)
print(int(cell.row), int(cell.col), round(total, 3))
