"""A gradient that is nan: the side of `where` that is not used is differentiated too."""

import sagax
import sagax.numpy as np


def length(x):
    return np.where(x > 0, np.sqrt(x), 0.0).sum()


print(sagax.grad(length)(np.array([0.0, 0.25, 4.0])))
