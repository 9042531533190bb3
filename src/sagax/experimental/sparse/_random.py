"""Create random sparse arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.numpy as snp
import sagax.random as sagax_random
from sagax.experimental.sparse._bcoo import BCOO
from sagax.experimental.sparse._elements import batched
from sagax.experimental.sparse._operands import wrong


def random_bcoo(
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = float,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable = sagax_random.uniform,
    **kwds: Any,
) -> BCOO:
    """Create a sparse array with random elements at random indices.

    Args:
      nse: the number of stored elements of each batch, or below 1 their fraction.
      generator: draws the elements, as `generator(key, shape, dtype, **kwds)`.

    >>> sparse.random_bcoo(sagax.random.key(0), (4, 5), nse=3).nse
    3
    """
    shape = tuple(shape)
    sizes = shape[n_batch : len(shape) - n_dense]
    count = math.prod(sizes)
    n = math.ceil(nse * count) if 0 < nse < 1 else int(nse)
    if not 0 <= n <= count:
        raise wrong("random_bcoo", "nse", nse, f"a number from 0 to {count}, or a fraction below 1")
    batch = shape[:n_batch]
    places, values = sagax_random.split(key)

    def draw(key: Any) -> Any:
        if unique_indices:
            flat = sagax_random.permutation(key, count)[:n]
        else:
            flat = sagax_random.randint(key, (n,), 0, count)
        return snp.sort(flat) if sorted_indices else flat

    flat = batched(draw, n_batch, sagax_random.split(places, batch) if batch else places)
    columns = snp.unravel_index(flat, sizes) if sizes else ()
    dtype_of = np.int32 if indices_dtype is None else indices_dtype
    indices = snp.stack(columns, -1) if columns else snp.zeros((*batch, n, 0), np.int32)
    data = generator(values, (*batch, n, *shape[len(shape) - n_dense :]), dtype, **kwds)
    return BCOO._like(data, indices.astype(dtype_of), shape, sorted_indices, unique_indices)
