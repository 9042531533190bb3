# error: TypeError
# line: 30
# also-line: 28
# depends: -
# fix: initial_value
# fixed-file: fixed/none_as_first_hidden_state.py
# result: [0.5544, 0.5544] 1.0974
# family: 3/none-in-carry

import jax
import jax.numpy as jnp


class Cell:
    def __init__(self, w, u):
        self.w, self.u = w, u

    def __call__(self, hidden, x):
        drive = self.w @ x
        if hidden is not None:
            drive = drive + self.u @ hidden
        return jnp.tanh(drive)


def encode(cell, xs):
    def step(hidden, x):
        hidden = cell(hidden, x)
        return hidden, hidden.mean()

    return jax.lax.scan(step, None, xs)


cell = Cell(jnp.eye(2) * 0.5, jnp.ones((2, 2)) * 0.2)
last, means = encode(cell, jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
print([round(float(v), 4) for v in last], round(float(means.sum()), 4))
