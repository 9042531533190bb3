"""Fold axes of the grid back into the dimensions that they cut, where operations treat both alike.

A vectorized kernel sees an operand of 2048 rows as 32 blocks of 64. XLA's CPU fusions write their results into the
memory of an operand only if both have one shape. A kernel that ends with 32 x 64 rows, and is then reshaped, needs one
more buffer for that, and 1.25 times the time. So elementwise operations, reductions along other
dimensions and the like run on the operand's own shape. Other operations get the blocks, by a reshape.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal
from sagax._src.core.staging import stage
from sagax._src.core.value import aval_of
from sagax._src.primitives.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
)
from sagax._src.primitives.structural import (
    broadcast_in_dim,
    broadcast_in_dim_p,
    convert_element_type_p,
    reduce_sum_p,
    reshape,
    reshape_p,
    transpose_p,
)
from sagax._src.source_stacks import joined_scopes, written

_REDUCTIONS = (
    reduce_sum_p, reduce_max_p, reduce_min_p, reduce_prod_p, reduce_and_p, reduce_or_p, argmax_p, argmin_p,
)  # fmt: skip
_CUMULATIVE = (cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p)


class _Folded:
    """A value of some shape, held with fewer dimensions: `groups` counts the dimensions that each stands for."""

    __slots__ = ("found", "groups", "shape", "value")

    def __init__(self, value: Any, shape: tuple, groups: tuple) -> None:
        self.value = value
        self.shape = shape
        self.groups = groups
        self.found: Any = None

    def plain(self) -> Any:
        if self.found is None:
            self.found = reshape(self.value, self.shape)
        return self.found


class _Broadcast:
    """A broadcast of a value, which waits until its shape is known: that of blocks, or a folded one."""

    __slots__ = ("dimensions", "found", "operand", "shape")

    def __init__(self, operand: Any, shape: tuple, dimensions: tuple) -> None:
        self.operand = operand
        self.shape = shape
        self.dimensions = dimensions
        self.found: Any = None

    def plain(self) -> Any:
        if self.found is None:
            self.found = broadcast_in_dim(self.operand, self.shape, self.dimensions)
        return self.found


def fold(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return a jaxpr that computes the same, with axes of the grid folded into dimensions of operands."""
    jaxpr = closed.jaxpr
    if jaxpr.effects or not any(_cut(eqn) for eqn in jaxpr.eqns):
        return closed
    run = functools.partial(_run, jaxpr, closed.consts)
    found, consts = stage(run, closed.in_avals, jaxpr.debug_info)
    return ClosedJaxpr(found, consts)


def _cut(eqn: Eqn) -> tuple | None:
    """Return the groups that a reshape cuts the dimensions of its operand into, or None."""
    if eqn.primitive is not reshape_p:
        return None
    old, new = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    return _cuts(old, new)


def _cuts(old: tuple, new: tuple) -> tuple | None:
    if not all(type(n) is int and n for n in (*old, *new)):
        return None
    groups, at = [], 0
    for size in old:
        while size != 1 and at < len(new) and new[at] == 1:
            groups.append(1)
            at += 1
        start, product = at, 1
        while at < len(new) and (product < size or at == start):
            product *= new[at]
            at += 1
        if product != size or start == at:
            return None
        groups.append(at - start)
    if any(n != 1 for n in new[at:]) or max(groups, default=1) == 1:
        return None
    return (*groups, *[1] * (len(new) - at))


def _run(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list:
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    here = written.here
    before = here.state()
    scope = here.scope
    try:
        for eqn in _used(jaxpr):
            here.scope = (
                joined_scopes(scope, eqn.scope) if scope and eqn.scope else eqn.scope or scope
            )
            here.set_origin(eqn)
            ins = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
            found = _folded(eqn, ins)
            if found is None:
                out = eqn.primitive.bind(*map(_plain, ins), **eqn.params)
                outs = out if eqn.primitive.multiple_results else [out]
                env.update(zip(eqn.outvars, outs, strict=True))
            else:
                env[eqn.outvars[0]] = found
    finally:
        here.restore(before)
    return [v.val if type(v) is Literal else _plain(env[v]) for v in jaxpr.outvars]


def _used(jaxpr: Jaxpr) -> list[Eqn]:
    """Return the equations that results depend on, and those that may hold checks; the jaxpr has no effects."""
    needed, found = {v for v in jaxpr.outvars if type(v) is not Literal}, []
    for eqn in reversed(jaxpr.eqns):
        if eqn.primitive.is_higher_order or not needed.isdisjoint(eqn.outvars):
            needed.update(v for v in eqn.invars if type(v) is not Literal)
            found.append(eqn)
    return found[::-1]


def _plain(x: Any) -> Any:
    return x.plain() if type(x) in (_Folded, _Broadcast) else x


def _folded(eqn: Eqn, ins: list) -> Any:
    """Return the result of an equation in a folded form, or None if it has none."""
    p = eqn.primitive
    if p is broadcast_in_dim_p and type(ins[0]) is not _Folded:
        x, to = ins[0], eqn.params["broadcast_dimensions"]
        if type(x) is _Broadcast:
            x, to = x.operand, tuple([to[d] for d in x.dimensions])
        return _Broadcast(x, eqn.params["shape"], to)
    if p is reshape_p and type(ins[0]) is not _Folded:
        groups = _cut(eqn)
        if groups is None:
            return None
        shape = eqn.outvars[0].aval.shape
        return _Folded(reshape(_plain(ins[0]), _merged(shape, groups)), shape, groups)
    if not any(type(x) is _Folded for x in ins):
        return None
    if p.elementwise or p is convert_element_type_p:
        return _elementwise(eqn, ins)
    rule = _RULES.get(p)
    return None if rule is None else rule(eqn, ins)


def _merged(shape: Sequence[int], groups: Sequence[int]) -> tuple[int, ...]:
    """Return the shape whose dimensions are products over groups of dimensions."""
    return tuple([math.prod(shape[start:stop]) for start, stop in _spans(groups)])


def _spans(groups: Sequence[int]) -> list[tuple[int, int]]:
    found, at = [], 0
    for n in groups:
        found.append((at, at + n))
        at += n
    return found


def _result(eqn: Eqn, value: Any, groups: Sequence[int]) -> Any:
    """Return a result with its groups; if each is one dimension, the value itself."""
    if all(n == 1 for n in groups):
        return value
    return _Folded(value, eqn.outvars[0].aval.shape, tuple(groups))


def _elementwise(eqn: Eqn, ins: list) -> Any:
    groups = next(x.groups for x in ins if type(x) is _Folded)
    shape = eqn.outvars[0].aval.shape
    values = [_in_groups(x, shape, groups) for x in ins]
    return _result(eqn, eqn.primitive.bind(*values, **eqn.params), groups)


def _in_groups(x: Any, shape: tuple, groups: tuple) -> Any:
    """Return an operand that broadcasts to `shape`, in groups."""
    if type(x) is _Folded:
        if x.groups == groups and all(
            x.shape[start:stop] == shape[start:stop]
            for start, stop in _spans(groups)
            if stop > start + 1
        ):
            return x.value
        x = x.plain()
    if type(x) is _Broadcast:
        into = _broadcast_dimensions(x.dimensions, groups)
        if into is not None:
            return broadcast_in_dim(
                x.operand, _merged(_whole_groups(x.shape, shape, groups), groups), into
            )
        x = x.plain()
    have = aval_of(x).shape
    if not have:
        return x
    wanted = _whole_groups(have, shape, groups)
    if wanted != have:
        x = broadcast_in_dim(x, wanted, tuple(range(len(wanted))))
    return reshape(x, _merged(wanted, groups))


def _whole_groups(have: tuple, shape: tuple, groups: tuple) -> tuple:
    """Return a shape that broadcasts to `shape` with each group as a whole: all sizes are 1, or none repeats."""
    found = list(have)
    for start, stop in _spans(groups):
        if stop > start + 1 and any(n != 1 for n in have[start:stop]):
            found[start:stop] = shape[start:stop]
    return tuple(found)


def _broadcast_dimensions(dimensions: Sequence[int], groups: tuple) -> tuple | None:
    """Return to which groups a broadcast moves dimensions; None if it moves some into a group of several."""
    found = []
    for d in dimensions:
        k = next(k for k, (start, stop) in enumerate(_spans(groups)) if start <= d < stop)
        if groups[k] > 1:
            return None
        found.append(k)
    return tuple(found)


def _broadcast_folded(eqn: Eqn, ins: list) -> Any:
    (x,) = ins
    shape, dimensions = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    starts = {}
    for start, stop in _spans(x.groups):
        to = dimensions[start:stop]
        if stop > start + 1 and (
            to != tuple(range(to[0], to[0] + len(to)))
            or shape[to[0] : to[0] + len(to)] != x.shape[start:stop]
        ):
            return None
        starts[to[0]] = stop - start
    groups, at = [], 0
    while at < len(shape):
        groups.append(starts.get(at, 1))
        at += groups[-1]
    places = {start: k for k, (start, _) in enumerate(_spans(groups))}
    into = tuple([places[dimensions[start]] for start, _ in _spans(x.groups)])
    return _result(eqn, broadcast_in_dim(x.value, _merged(shape, groups), into), groups)


def _reshape_folded(eqn: Eqn, ins: list) -> Any:
    (x,) = ins
    shape = eqn.outvars[0].aval.shape
    own = aval_of(x.value).shape
    groups = _aligned(x.shape, x.groups, shape) or _aligned(own, (1,) * len(own), shape)
    if groups is None:
        return None
    return _result(eqn, reshape(x.value, _merged(shape, groups)), groups)


def _aligned(old: tuple, groups: Sequence[int], new: tuple) -> list[int] | None:
    """Return the groups of a shape that has those of `old`, and others dimensions of size 1."""
    found: list[int] = []
    at = 0
    for start, stop in _spans(groups):
        part = old[start:stop]
        while new[at : at + len(part)] != part and at < len(new) and new[at] == 1:
            found.append(1)
            at += 1
        if new[at : at + len(part)] == part:
            found.append(stop - start)
            at += len(part)
        elif part != (1,):
            return None
    if any(n != 1 for n in new[at:]):
        return None
    return found + [1] * (len(new) - at)


def _transpose_folded(eqn: Eqn, ins: list) -> Any:
    (x,) = ins
    order = eqn.params["permutation"]
    sizes = {start: (k, stop - start) for k, (start, stop) in enumerate(_spans(x.groups))}
    own, groups, at = [], [], 0
    while at < len(order):
        k, n = sizes.get(order[at], (None, 0))
        if k is None or order[at : at + n] != tuple(range(order[at], order[at] + n)):
            return None
        own.append(k)
        groups.append(n)
        at += n
    return _result(eqn, transpose_p.bind(x.value, permutation=tuple(own)), groups)


def _reduced(eqn: Eqn, ins: list) -> Any:
    (x,) = ins
    axes, kept, own = set(eqn.params["axes"]), [], []
    for k, (start, stop) in enumerate(_spans(x.groups)):
        inside = axes.intersection(range(start, stop))
        if not inside:
            kept.append(stop - start)
        elif len(inside) < stop - start or (
            stop > start + 1 and eqn.primitive in (argmax_p, argmin_p)
        ):
            return None
        else:
            own.append(k)
    params = {**eqn.params, "axes": tuple(own)}
    return _result(eqn, eqn.primitive.bind(x.value, **params), kept)


def _accumulated(eqn: Eqn, ins: list) -> Any:
    (x,) = ins
    spans = _spans(x.groups)
    k = next(k for k, (start, stop) in enumerate(spans) if start <= eqn.params["axis"] < stop)
    if x.groups[k] > 1:
        return None
    return _result(eqn, eqn.primitive.bind(x.value, **{**eqn.params, "axis": k}), x.groups)


def _product(eqn: Eqn, ins: list) -> Any:
    """Multiply matrices whose folded dimensions are rows or columns of the result."""
    contracting, batch = eqn.params["dimension_numbers"]
    values, sides, free = [], [], []
    for x, summed, shared in zip(ins, contracting, batch, strict=True):
        x = x if type(x) is _Folded else _plain(x)
        groups = x.groups if type(x) is _Folded else (1,) * len(aval_of(x).shape)
        values.append(x.value if type(x) is _Folded else x)
        places = {}
        for k, (start, stop) in enumerate(_spans(groups)):
            places[start] = k
            if stop > start + 1 and not {*summed, *shared}.isdisjoint(range(start, stop)):
                return None
        own = tuple([places[d] for d in summed]), tuple([places[d] for d in shared])
        sides.append(own)
        free.append([n for k, n in enumerate(groups) if k not in own[0] and k not in own[1]])
    (left, left_batch), (right, right_batch) = sides
    numbers = ((left, right), (left_batch, right_batch))
    value = dot_general_p.bind(*values, **{**eqn.params, "dimension_numbers": numbers})
    return _result(eqn, value, [1] * len(left_batch) + free[0] + free[1])


_RULES: dict[Any, Callable[[Eqn, list], Any]] = {
    broadcast_in_dim_p: _broadcast_folded,
    reshape_p: _reshape_folded,
    transpose_p: _transpose_folded,
    dot_general_p: _product,
    **dict.fromkeys(_REDUCTIONS, _reduced),
    **dict.fromkeys(_CUMULATIVE, _accumulated),
}
