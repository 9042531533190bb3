# One correct fixed version of life_board_inplace.py
"""Langton's ant on a small torus."""
import jax.numpy as jnp

MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]


class Ant:
    def __init__(self, size):
        self.board = jnp.zeros((size, size), dtype=jnp.int32)
        self.row = self.col = size // 2
        self.heading = 0

    def step(self):
        size = self.board.shape[0]
        black = int(self.board[self.row, self.col])
        self.heading = (self.heading + (-1 if black else 1)) % 4
        self.board = self.board.at[self.row, self.col].set(1 - black)
        dr, dc = MOVES[self.heading]
        self.row = (self.row + dr) % size
        self.col = (self.col + dc) % size


def simulate(size, steps):
    ant = Ant(size)
    for _ in range(steps):
        ant.step()
    return ant


ant = simulate(9, 40)
print("black", int(ant.board.sum()))
print("at", ant.row, ant.col)
