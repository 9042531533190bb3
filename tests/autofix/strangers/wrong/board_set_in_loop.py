# One wrong fix of board_set_in_loop.py: the new cells are a local variable, and the board stays empty
import jax.numpy as jnp


class Board:
    def __init__(self, size):
        self.cells = jnp.zeros((size, size), dtype=jnp.int32)

    def play(self, row, column, player):
        if int(self.cells[row, column]) != 0:
            raise ValueError("taken")
        cells = self.cells.at[row, column].set(player)
        assert cells.shape == self.cells.shape

    def score(self, player):
        return int((self.cells == player).sum())


board = Board(3)
for move, (row, column) in enumerate([(0, 0), (1, 1), (2, 2)]):
    board.play(row, column, 1 + move % 2)
print(board.score(1), board.score(2))
