import jax
import jax.numpy as jnp


def neighbours(board):
    shifts = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
    return sum(jnp.roll(board, s, axis=(0, 1)) for s in shifts)


def generation(i, board):
    n = neighbours(board)
    alive = (n == 3) | ((board == 1) & (n == 2))
    return alive.astype(jnp.int32)


@jax.jit
def play(board):
    return jax.lax.fori_loop(0, 8, generation, board)


board = jnp.zeros((8, 8), jnp.int32)
glider = jnp.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]])
board = board.at[1:4, 1:4].set(glider)
after = play(board)
print(int(after.sum()))
print(jnp.argwhere(after == 1).tolist())
