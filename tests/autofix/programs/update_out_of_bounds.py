# error: OutOfBoundsIndexWarning
# line: 13
# depends: slots
# fix: index_mode
# result: 2.0
# grade: ran
import jax
import jax.numpy as jnp


@jax.jit
def fill(board, slots):
    board = board.at[slots].set(1.0)
    return board.sum()


print(float(fill(jnp.zeros(4), jnp.array([1, 5, 3]))))
