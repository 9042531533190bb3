import jax
import jax.numpy as jnp


@jax.jit
def life(board):
    neighbours = sum(
        jnp.roll(board, (dy, dx), axis=(0, 1))
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    return ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(board.dtype)


board = jnp.zeros((6, 6), dtype=jnp.int32)
board = board.at[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]].set(1)
for _ in range(4):
    board = life(board)
corner = board.at[:2, :2].max(5)
print(int(board.sum()), int(corner.sum()), board[1].tolist())
