"""The mapped tree has the type of the tree."""

from typing import NamedTuple

import sagax
import sagax.numpy as snp
from sagax import Array


class Params(NamedTuple):
    w: Array


params = sagax.tree.map(lambda p: p * 2, Params(snp.ones(3)))
print(params.weights)  # expect-error
