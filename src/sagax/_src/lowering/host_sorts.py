"""Decide which sorts a jitted function leaves to NumPy: its sort of integers is many times as fast as XLA's on CPUs.

XLA calls Python for it, and then finishes the program before the call of the jitted function returns. So a function
does that if most of its work is sorting ("auto"), or where the setting `host_sorts` says so ("always").
"""

from __future__ import annotations

import math
from typing import Any

from sagax._src import config, tuning
from sagax._src.core import memo_keys
from sagax._src.core.families import Pass
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr
from sagax._src.transforms.derived import derived


def least_size(jaxpr: Jaxpr) -> int | None:
    """Return the elements from which on NumPy sorts in the executable of this jaxpr; None: never."""
    how = config.thread.settings.host_sorts
    least = tuning.HOST_SORT_MIN_ELEMENTS.get(how)
    if least is not None and how == "auto":
        sorted_elements, other_work = _work(jaxpr)
        if other_work > tuning.HOST_SORT_MAX_OTHER_WORK * sorted_elements:
            return None
    return least


def _work(jaxpr: Jaxpr) -> tuple[float, float]:
    """Return the elements that a jaxpr sorts, and the operations of all else; loops and branches are infinite."""
    return derived(jaxpr, (memo_keys.SORTING_WORK,), lambda: _sum_of_work(jaxpr))


def _sum_of_work(jaxpr: Jaxpr) -> tuple[float, float]:
    sorted_elements = other_work = 0.0
    for eqn in jaxpr.eqns:
        if eqn.primitive.rewritten_by is Pass.SORTS:
            sorted_elements += eqn.outvars[0].aval.size
        elif eqn.primitive.is_higher_order:
            called = [x for x in eqn.params.values() if isinstance(x, (ClosedJaxpr, Jaxpr))]
            if not eqn.primitive.is_call or not called:
                return sorted_elements, math.inf
            for inner in called:
                work = _work(inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner)
                sorted_elements += work[0]
                other_work += work[1]
        else:
            other_work += _operations(eqn)
    return sorted_elements, other_work


def _operations(eqn: Eqn) -> float:
    cost: Any = eqn.primitive.cost
    results = [v.aval for v in eqn.outvars]
    if not isinstance(cost, int):
        return cost([v.aval for v in eqn.invars], results, eqn.params)
    return max(cost, 1) * max([a.size for a in results], default=0)
