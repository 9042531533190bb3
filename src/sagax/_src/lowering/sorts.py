"""Rewrite argsorts, and sorts whose readers need few positions.

A sort that carries positions along is an argsort. The packed keys hold the positions already, so that no
gather has to bring them into order.

A median, a quantile or an extremum may be written as a sort with one or two positions that are read. The
element at a position is found bit by bit instead: a bit is set if not too many elements are smaller. That
takes 32 passes over the array, which count; a sort takes 20 times as long, unless NumPy sorts (`host_sorts`). A zero
found so has no sign, and NaN is the default one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var
from sagax._src.core.staging import stage
from sagax._src.higher_order.while_loop import fori_loop
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.bitwise import bitwise_or, shift_right_logical
from sagax._src.primitives.comparison import le, lt
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.packed_sort import from_ordered, is_packable, to_ordered
from sagax._src.primitives.reductions import reduce_max_p, reduce_min_p, reduce_sum_p
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import iota_p
from sagax._src.primitives.slicing import slice_in_dim, slice_p
from sagax._src.primitives.sorting import is_sorted_by_numpy, packed_order, sort_p, take_along
from sagax._src.primitives.structural import broadcast, broadcast_in_dim, convert, reshape
from sagax._src.transforms.derived import derived

_DTYPES = (*map(np.dtype, (np.float32, np.float16, np.int32, np.uint32)), dtypes.bfloat16)
_GREATEST = np.uint32(0xFFFFFFFF)


def rewrite_sorts(jaxpr: Jaxpr, least_host_sort: int | None = None) -> Jaxpr:
    """Rewrite argsorts, and sorts whose readers need few positions, also in sub-jaxprs.

    NumPy sorts arrays of at least `least_host_sort` elements, if it is given.
    """
    key = memo_keys.REWRITTEN_SORTS, least_host_sort
    return derived(jaxpr, key, lambda: _rewritten(jaxpr, least_host_sort))


def _rewritten(jaxpr: Jaxpr, least_host_sort: int | None) -> Jaxpr:
    eqns = within(jaxpr.eqns, lambda inner: rewrite_sorts(inner, least_host_sort))
    eqns = _with_argsorts(eqns)
    sorts = {eqn.outvars[0]: eqn for eqn in eqns if eqn.primitive is sort_p and _may_select(eqn)}
    if sorts:
        readers: Counter = Counter(v for v in jaxpr.outvars if type(v) is Var)
        slices: dict[Var, list[Eqn]] = {v: [] for v in sorts}
        for eqn in eqns:
            for v in eqn.invars:
                if type(v) is not Var or v not in sorts:
                    continue
                readers[v] += 1
                if _position(eqn, sorts[v]) is not None:
                    slices[v].append(eqn)
        eqns = _replaced(eqns, sorts, slices, readers, least_host_sort)
    return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)


def _with_argsorts(eqns: list[Eqn]) -> list[Eqn]:
    iotas = {eqn.outvars[0]: eqn for eqn in eqns if eqn.primitive is iota_p}
    found = [_argsort(eqn, iotas) if eqn.primitive is sort_p else None for eqn in eqns]
    return (
        [e for eqn, new in zip(eqns, found) for e in new or (eqn,)] if any(found) else eqns
    )  # fmt: skip


def _argsort(eqn: Eqn, iotas: dict[Any, Eqn]) -> list[Eqn] | None:
    """Return the equations of a sort of two arrays whose second one are the positions."""
    d = eqn.params["dimension"]
    if len(eqn.invars) != 2 or type(eqn.invars[1]) is not Var:
        return None
    iota = iotas.get(eqn.invars[1])
    avals = [v.aval for v in eqn.invars]
    if iota is None or iota.params["dimension"] != d or dtypes.kind(avals[1].dtype) not in "iu":
        return None
    if not is_packable(avals, d, eqn.params["num_keys"], tuning.PACKED_SORT_MIN_ELEMENTS):
        return None

    def fun(x: Any) -> list:
        order = packed_order(x, d)
        return [take_along(x, order, d), convert(order, avals[1].dtype)]

    return _in_place_of(eqn, fun, eqn.invars[0], eqn.outvars)


def _in_place_of(at: Eqn, fun: Callable, operand: Any, outvars: Sequence[Any]) -> list[Eqn]:
    """Return the equations of a function of one operand, which define `outvars`."""
    inner, consts = stage(fun, [operand.aval])
    assert not consts
    new: dict[Any, Any] = {inner.invars[0]: operand}
    new.update(zip(inner.outvars, outvars, strict=True))
    return [
        e.replace(
            invars=[new[v] if type(v) is Var else v for v in e.invars],
            outvars=[new.setdefault(v, Var(v.aval)) for v in e.outvars],
            traceback=at.traceback,
            scope=at.scope,
        )
        for e in inner.eqns
    ]


def _replaced(
    eqns: list[Eqn], sorts: dict, slices: dict, readers: Counter, least_host_sort: int | None
) -> list[Eqn]:
    results: dict[int, list[Eqn]] = {}  # by the id of the sort
    gone: set[int] = set()
    for v, found in slices.items():
        sort = sorts[v]
        positions = {_position(eqn, sort) for eqn in found}
        if len(found) == readers[v] and 0 < _passes(positions, _length(sort)) <= 1:
            results[id(sort)] = _selected(sort, found, least_host_sort)
            gone.update(map(id, found))
    if not results:
        return eqns
    return [
        e
        for eqn in eqns
        if id(eqn) not in gone
        for e in results.get(id(eqn), (eqn,))
    ]  # fmt: skip


def _may_select(eqn: Eqn) -> bool:
    if len(eqn.invars) != 1 or not dims.is_static(eqn.invars[0].aval.shape):
        return False
    aval = eqn.invars[0].aval
    return aval.dtype in _DTYPES and aval.ndim > 0 and _length(eqn) >= tuning.SELECTION_MIN_ELEMENTS


def _length(sort: Eqn) -> int:
    return sort.invars[0].aval.shape[sort.params["dimension"]]


def _position(eqn: Eqn, sort: Eqn) -> int | None:
    """Return the position that an equation reads from a sorted array, None if it reads another part."""
    if eqn.primitive is not slice_p:
        return None
    d, shape = sort.params["dimension"], sort.invars[0].aval.shape
    starts, limits = eqn.params["start_indices"], eqn.params["limit_indices"]
    for i, (start, limit) in enumerate(zip(starts, limits, strict=True)):
        if limit - start != (1 if i == d else shape[i]):
            return None
    return starts[d]


def _passes(positions: set, length: int) -> float:
    """Return how many searches find these positions: an extremum and the next position need none."""
    inner = sorted(positions - {0, length - 1})
    count = sum(p - 1 not in inner[:i] for i, p in enumerate(inner))
    return count or (0.5 if positions else 0)


def _selected(sort: Eqn, slices: list[Eqn], least_host_sort: int | None) -> list[Eqn]:
    """Return equations that compute what the slices read."""
    d, length = sort.params["dimension"], _length(sort)
    positions = [at for eqn in slices if (at := _position(eqn, sort)) is not None]

    def fun(x: Any) -> list:
        words = optimization_barrier(to_ordered(x))
        if is_sorted_by_numpy(words.aval, least_host_sort):
            (ordered,) = sort_p.bind(words, dimension=d, is_stable=True, num_keys=1)
            return [
                from_ordered(slice_in_dim(ordered, p, p + 1, axis=d), x.aval.dtype)
                for p in positions
            ]
        found = {p: _word(words, p, length, d) for p in positions if p in (0, length - 1)}
        for p in sorted({p for p in positions if p not in found}):
            before = found.get(p - 1)
            found[p] = _search(words, p, d) if before is None else _next(words, before, p, d)
        return [from_ordered(found[p], x.aval.dtype) for p in positions]

    return _in_place_of(sort, fun, sort.invars[0], [eqn.outvars[0] for eqn in slices])


def _with_sorted_dimension(reduced: Any, words: Any, d: int) -> Any:
    shape = words.aval.shape
    return reshape(reduced, (*shape[:d], 1, *shape[d + 1 :]))


def _spread(threshold: Any, words: Any) -> Any:
    shape = words.aval.shape
    return broadcast_in_dim(threshold, shape, tuple(range(len(shape))))


def _word(words: Any, position: int, length: int, d: int) -> Any:
    p = reduce_min_p if position == 0 and length > 1 else reduce_max_p
    return _with_sorted_dimension(p.bind(words, axes=(d,)), words, d)


def _count(mask: Any, words: Any, d: int) -> Any:
    return _with_sorted_dimension(
        reduce_sum_p.bind(convert(mask, np.dtype(np.int32)), axes=(d,)), words, d
    )


def _search(words: Any, position: int, d: int) -> Any:
    """Return the greatest word that at most `position` words are less than, which is one of them."""
    shape = words.aval.shape
    start = broadcast(np.uint32(0), (*shape[:d], 1, *shape[d + 1 :]))

    def with_bit(i: Any, found: Any) -> Any:
        bit = shift_right_logical(np.uint32(1 << 31), convert(i, np.dtype(np.uint32)))
        more = bitwise_or(found, broadcast(bit, found.aval.shape))
        smaller = _count(lt(words, _spread(more, words)), words, d)
        fits = le(smaller, broadcast(np.int32(position), smaller.aval.shape))
        return select_n(fits, found, more)

    return fori_loop(0, 32, with_bit, start)


def _next(words: Any, before: Any, position: int, d: int) -> Any:
    """Return the word at a position from that at the position before."""
    threshold = _spread(before, words)
    count = _count(le(words, threshold), words, d)
    greater = select_n(lt(threshold, words), broadcast(_GREATEST, words.aval.shape), words)
    least = _with_sorted_dimension(reduce_min_p.bind(greater, axes=(d,)), words, d)
    again = lt(broadcast(np.int32(position), count.aval.shape), count)
    return select_n(again, least, before)
