# error: TypeError
# line: 18
# depends: counts
# fix: at_set
# fixed-file: fixed/grid_add_in_place.py
# result: 6 3 [0, 1]

import jax
import jax.numpy as jnp

SIZE = 4


@jax.jit
def visit(counts, position, action):
    moves = jnp.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
    position = jnp.clip(position + moves[action], 0, SIZE - 1)
    counts[position[0], position[1]] += 1
    return counts, position


counts = jnp.zeros((SIZE, SIZE), dtype=jnp.int32)
position = jnp.array([0, 0])
for action in (0, 0, 1, 2, 3, 3):
    counts, position = visit(counts, position, action)
print(int(counts.sum()), int(counts[0, 1]), position.tolist())
