"""A gradient that is nan: the side of `where` that is not used is differentiated too."""

import sagax
import sagax.numpy as snp


def length(x):
    return snp.where(x > 0, snp.sqrt(x), 0.0).sum()


print(sagax.grad(length)(snp.array([0.0, 0.25, 4.0])))
