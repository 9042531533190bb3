"""Canonicalize matrix products to the form that XLA's CPU backend computes without copies.

Some products contract several dimensions, such as the gradient of a layer's weights over batch and time.
XLA turns them into matrix products by transposing an operand, which is a strided copy. If the dimensions
are adjacent in both operands, they can be merged: a reshape costs nothing, and the library accepts either
operand layout.

XLA also transposes a whole matrix, element by element, for `x.T @ m` with a vector or few columns m. The
product with exchanged operands, `m.T @ x`, reads it as it lies. Its few rows are transposed afterwards,
behind a barrier: XLA would turn that into the first form again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, memo_keys
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.dot_algorithms import flipped
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.identities import optimization_barrier_p
from sagax._src.primitives.structural import reshape_p, transpose_p
from sagax._src.transforms.derived import derived


def merge_contracted_dims(jaxpr: Jaxpr) -> Jaxpr:
    """Merge the contracted dimensions of products in `jaxpr`, also in its sub-jaxprs."""
    return derived(jaxpr, (memo_keys.CANONICAL_DOTS,), lambda: _flat_products(jaxpr))


def _flat_products(jaxpr: Jaxpr) -> Jaxpr:
    eqns = within(jaxpr.eqns, merge_contracted_dims)
    pieces = [_flat(eqn) if eqn.primitive is dot_general_p else None for eqn in eqns]
    if any(pieces):
        eqns = [e for eqn, flat in zip(eqns, pieces) for e in flat or (eqn,)]
    eqns = _narrow_products(eqns)
    return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)


def _narrow_products(eqns: list[Eqn]) -> list[Eqn]:
    """Let products with few rows or columns read the other, large operand as it lies in memory."""
    swapped = {v: eqn for eqn in eqns if _is_matrix_transpose(eqn) for v in eqn.outvars}
    narrow: set[Any] = set()  # results that XLA must not transpose by exchanging the operands again
    found: list[Eqn] = []
    changed = False
    for eqn in eqns:
        if eqn.primitive is dot_general_p:
            new = _large_operand_last(eqn, swapped)
            if new is not None:
                product, *others = new
                narrow.add(product.outvars[0])
                changed |= product is not eqn
                found += [product, *others]
                continue
        elif _is_matrix_transpose(eqn) and eqn.invars[0] in narrow:
            kept, barrier = _barrier_after(eqn.invars[0], eqn)
            found += [barrier, eqn.replace(invars=[kept])]
            changed = True
            continue
        found.append(eqn)
    return found if changed else eqns


def _is_matrix_transpose(eqn: Eqn) -> bool:
    return eqn.primitive is transpose_p and tuple(eqn.params["permutation"]) == (1, 0)


def _large_operand_last(eqn: Eqn, swapped: dict[Any, Eqn]) -> list[Eqn] | None:
    """Return the product of a narrow operand with a large one that is contracted in its first dimension.

    What follows it restores the order of the result. None: the product is of another kind.
    """
    (left, right), (batch, _) = eqn.params["dimension_numbers"]
    avals = [v.aval for v in eqn.invars]
    if batch or len(left) != 1 or any(a.dtype not in _LARGE_DTYPES for a in avals):
        return None
    if not all(dims.is_static(a.shape) and 1 <= len(a.shape) <= 2 for a in avals):
        return None
    operands, contracted = list(eqn.invars), [left[0], right[0]]
    for i, v in enumerate(operands):
        if type(v) is Var and v in swapped:
            operands[i], contracted[i] = swapped[v].invars[0], 1 - contracted[i]
    free = [a.size // max(a.shape[c], 1) for a, c in zip(avals, (left[0], right[0]))]
    large = 0 if free[0] >= free[1] else 1
    few = 1 - large
    if (
        len(avals[large].shape) != 2
        or contracted[large] != 0
        or free[few] > tuning.NARROW_PRODUCT_MAX_COLUMNS
        or avals[large].size < tuning.NARROW_PRODUCT_MIN_ELEMENTS
    ):
        return None
    is_vector = len(avals[few].shape) == 1
    if large == 1 and operands == eqn.invars:
        return [eqn]
    numbers = (((contracted[few],), (contracted[large],)), ((), ()))
    precision = eqn.params["precision"]
    if large == 0:
        precision = flipped(precision)
    params = {**eqn.params, "dimension_numbers": numbers, "precision": precision}
    invars = [operands[few], operands[large]]
    if large == 1 or is_vector:
        return [eqn.replace(invars=invars, params=params)]
    (out,) = eqn.outvars
    rows = Var(out.aval.update(shape=out.aval.shape[::-1]))
    product = eqn.replace(invars=invars, outvars=[rows], params=params)
    kept, barrier = _barrier_after(rows, eqn)
    at = {"traceback": eqn.traceback, "scope": eqn.scope}
    return [product, barrier, Eqn(transpose_p, [kept], [out], {"permutation": (1, 0)}, **at)]


_LARGE_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def _barrier_after(v: Any, eqn: Eqn) -> tuple[Var, Eqn]:
    """Return a barrier after a value, and the value behind it."""
    out = Var(v.aval)
    return out, Eqn(
        optimization_barrier_p, [v], [out], {}, traceback=eqn.traceback, scope=eqn.scope
    )


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
