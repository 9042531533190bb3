"""Factorize many small matrices at once: each step of the factorization is a loop over the matrices.

LAPACK is called for each matrix, which takes longer than the arithmetic of a small one.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims
from sagax._src.core.avals import ShapedArray
from sagax._src.core.value import aval_of
from sagax._src.primitives.arithmetic import div, mul, sqrt, sub
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import gt
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import concatenate, stack
from sagax._src.primitives.slicing import slice as sliced
from sagax._src.primitives.structural import broadcast_in_dim, reshape, squeeze, transpose, zeros_of

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def is_many_small(x: ShapedArray) -> bool:
    """Return whether matrices of this type are factorized together."""
    if not dims.is_static(x.shape) or x.dtype not in _DTYPES:
        return False
    count, n = math.prod(x.shape[:-2]), x.shape[-1]
    return 1 < n <= tuning.SMALL_CHOLESKY_MAX_SIZE and count >= tuning.SMALL_CHOLESKY_MIN_COUNT


def lower_factors(x: Any) -> Any:
    """Return the factors of matrices, column by column; all NaN where a pivot is not positive.

    The other triangle is not read, and not part of the result.
    """
    shape = aval_of(x).shape
    n, count = shape[-1], math.prod(shape[:-2])
    x = optimization_barrier(
        transpose(reshape(x, (count, n, n)), (2, 1, 0))
    )  # columns, rows, matrices
    columns: list[Any] = []
    positive: list[Any] = []
    for j in range(n):
        column = squeeze(sliced(x, (j, j, 0), (j + 1, n, count)), (0,))
        for k, before in enumerate(columns):
            rest = sliced(before, (j - k, 0), (n - k, count))
            first = sliced(before, (j - k, 0), (j - k + 1, count))
            column = sub(column, mul(rest, _rows(first, n - j)))
        pivot = sliced(column, (0, 0), (1, count))
        positive.append(gt(pivot, zeros_of(pivot.aval)))
        columns.append(optimization_barrier(div(column, _rows(sqrt(pivot), n - j))))
    whole = []
    for j, column in enumerate(columns):
        above = zeros_of(aval_of(column).update(shape=(j, count)))
        whole.append(concatenate([above, column], 0) if j else column)
    factors = transpose(stack(whole, 1), (2, 0, 1))
    valid = reshape(functools.reduce(bitwise_and, positive), (count,))
    valid = broadcast_in_dim(valid, (count, n, n), (0,))
    nan = broadcast_in_dim(np.asarray(np.nan, factors.aval.dtype)[()], (count, n, n))
    return reshape(select_n(valid, nan, factors), shape)


def _rows(x: Any, number: int) -> Any:
    return broadcast_in_dim(x, (number, aval_of(x).shape[1]), (0, 1))
