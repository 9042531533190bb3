"""A traced value kept in a list, and looked at after the compiled function has returned."""

import sagax
import sagax.numpy as snp

history = []


@sagax.jit
def step(position, velocity):
    middle = position + 0.5 * velocity
    history.append(middle)
    return position + velocity


end = step(snp.array([0.0, 1.0]), snp.array([2.0, 2.0]))
print(end, history[0] * 2)
