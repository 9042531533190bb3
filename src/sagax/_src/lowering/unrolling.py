"""Choose how far LLVM unrolls the loops of a jaxpr's CPU kernels: further where columns are reduced.

XLA reduces columns (any axes but the last) of integers and booleans in blocks of 32 rows. LLVM vectorizes a block
only after it has unrolled it: without, `any(axis=0)` takes 16 times as long. Most other kernels gain from less
unrolling, reductions of rows most of all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from sagax._src import tuning
from sagax._src.core import dtypes, memo_keys
from sagax._src.core.families import REDUCTION
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr
from sagax._src.transforms.derived import derived


class _Work(NamedTuple):
    """Count the elements of integers and booleans that are reduced along columns and rows, and other operations."""

    columns: float = 0.0
    rows: float = 0.0
    other: float = 0.0

    def plus(self, more: _Work) -> _Work:
        return _Work(*[a + b for a, b in zip(self, more, strict=True)])


def unroll_threshold(jaxpr: Jaxpr, general: int | None) -> int | None:
    """Return the size up to which loops are unrolled for this jaxpr, where `general` is that of most others."""
    if general != tuning.UNROLL_THRESHOLD:  # the user's
        return general
    if not any(e.primitive.family is REDUCTION or e.primitive.is_call for e in jaxpr.eqns):
        return general
    columns, rows, other = _work(jaxpr)
    most = columns * tuning.COLUMNS_MAX_OTHER_WORK
    if columns >= tuning.COLUMNS_MIN_ELEMENTS and columns > rows and other <= most:
        return tuning.COLUMNS_UNROLL_THRESHOLD
    return general


def _work(jaxpr: Jaxpr) -> _Work:
    return derived(jaxpr, (memo_keys.REDUCING_WORK,), lambda: _sum_of_work(jaxpr))


def _sum_of_work(jaxpr: Jaxpr) -> _Work:
    found = _Work()
    for eqn in jaxpr.eqns:
        if not eqn.primitive.is_higher_order:
            found = found.plus(_work_of(eqn))
            continue
        called = [x for x in eqn.params.values() if isinstance(x, (ClosedJaxpr, Jaxpr))]
        if not eqn.primitive.is_call or not called:
            return found._replace(other=math.inf)  # loops and branches
        for inner in called:
            found = found.plus(_work(inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner))
    return found


def _work_of(eqn: Eqn) -> _Work:
    results = [v.aval for v in eqn.outvars]
    if eqn.primitive.family is REDUCTION and "axes" in eqn.params:
        x = eqn.invars[0].aval
        if dtypes.kind(x.dtype) in "biu":
            along_rows = x.ndim - 1 in eqn.params["axes"]
            return _Work(rows=x.size) if along_rows else _Work(columns=x.size)
    cost: Any = eqn.primitive.cost
    if not isinstance(cost, int):
        return _Work(other=cost([v.aval for v in eqn.invars], results, eqn.params))
    return _Work(other=max(cost, 1) * max([a.size for a in results], default=0))
