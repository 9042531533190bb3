"""A misspelt attribute of an array."""

import sagax.numpy as snp
from sagax import Array


def rows(x: Array) -> int:
    return x.shap[0]  # expect-error


print(rows(snp.ones(3)))
