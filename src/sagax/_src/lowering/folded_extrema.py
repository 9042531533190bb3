"""Fold an array before it is reduced to maxima or minima, so that its NaNs are looked for in one pass on the CPU.

XLA of jaxlib 0.12 loses NaNs in reductions to extrema, not in elementwise ones. So a large array is cut into slices along
what is reduced, and they are combined element by element, which SIMD vectors do as fast as memory is read. What is left is
so small that looking at it twice takes no time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import tuning


def folded(b: Any, combine: str, x: Any, axes: Sequence[int]) -> Any:
    """Combine slices of `x` along the reduced axes; return what is left, and the axes that it is reduced along.

    None where XLA would read such slices more slowly than the whole array twice.
    """
    shape = x.aval.shape
    if x.aval.dtype != np.float32 or x.aval.size < tuning.FOLDED_EXTREMUM_MIN_ELEMENTS:
        return None
    first, last = axes[0], axes[-1] + 1
    if last - first != len(axes):
        return None  # other dimensions are in between
    before, length, after = (math.prod(s) for s in (shape[:first], shape[first:last], shape[last:]))
    count = tuning.FOLDED_EXTREMUM_SLICES if before == 1 else tuning.FOLDED_ROWS_SLICES
    part = -(-length // count)
    if part < 1 or part * after < tuning.FOLDED_EXTREMUM_MIN_RUN:
        return None
    # slices along the first dimension are runs of memory: loops over one dimension are the quickest
    size, part_size, total = (before, part * after, length * after)
    x = b.reshape(x, (size, total) if size != 1 else (total,))
    lead = (0,) if size != 1 else ()
    ends = (size,) if size != 1 else ()
    # the last slices overlap: an element may count twice
    starts = [min(i * part, length - part) * after for i in range(count)]
    parts = [b.slice(x, (*lead, at), (*ends, at + part_size)) for at in dict.fromkeys(starts)]
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [b.op(combine, p, p[0].aval) if len(p) == 2 else p[0] for p in pairs]
    (left,) = parts
    # a choice, so that XLA does not fuse the extrema into the reduction
    left = b.select(b.compare("NE", left, left), b.full(np.nan, left.aval), left)
    return b.reshape(left, (*shape[:first], part, *shape[last:])), (first,)
