"""Canonicalize matrix products to the form that XLA's CPU backend computes without copies.

Some products contract several dimensions, such as the gradient of a layer's weights over batch and time.
XLA turns them into matrix products by transposing an operand, which is a strided copy. If the dimensions
are adjacent in both operands, they can be merged: a reshape costs nothing, and the library accepts either
operand layout.
"""

from __future__ import annotations

import math
from typing import Any

from sagax._src.core import dims, memo_keys
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.structural import reshape_p
from sagax._src.transforms.derived import derived


def merge_contracted_dims(jaxpr: Jaxpr) -> Jaxpr:
    """Merge the contracted dimensions of products in `jaxpr`, also in its sub-jaxprs."""
    return derived(jaxpr, (memo_keys.CANONICAL_DOTS,), lambda: _flat_products(jaxpr))


def _flat_products(jaxpr: Jaxpr) -> Jaxpr:
    eqns = within(jaxpr.eqns, merge_contracted_dims)
    pieces = [_flat(eqn) if eqn.primitive is dot_general_p else None for eqn in eqns]
    if any(pieces):
        eqns = [e for eqn, flat in zip(eqns, pieces) for e in flat or (eqn,)]
    return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)


def _flat(eqn: Eqn) -> list[Eqn] | None:
    """Return the reshapes and the product; None if there is one dimension already, or they are not adjacent."""
    (left, right), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    if len(left) < 2:
        return None
    order = sorted(zip(left, right))
    start, at = order[0]
    count = len(order)
    if order != [(start + i, at + i) for i in range(count)]:
        return None
    if not all(dims.is_static(v.aval.shape) for v in eqn.invars):
        return None
    x, merge_x = _merged(eqn.invars[0], start, count, eqn)
    y, merge_y = _merged(eqn.invars[1], at, count, eqn)
    numbers = (
        ((start,), (at,)),
        (_behind(left_batch, start, count), _behind(right_batch, at, count)),
    )
    params = {**eqn.params, "dimension_numbers": numbers}
    return [merge_x, merge_y, eqn.replace(invars=[x, y], params=params)]


def _behind(numbers: tuple, start: int, count: int) -> tuple:
    """Renumber dimensions after `count` of them, from `start` on, were merged."""
    return tuple([n if n < start else n - count + 1 for n in numbers])


def _merged(v: Any, start: int, count: int, eqn: Eqn) -> tuple[Var, Eqn]:
    shape = v.aval.shape
    sizes = (*shape[:start], math.prod(shape[start : start + count]), *shape[start + count :])
    params = {"new_sizes": sizes}
    out = Var(reshape_p.abstract_eval((v.aval,), params))
    return out, Eqn(reshape_p, [v], [out], params, traceback=eqn.traceback, scope=eqn.scope)
