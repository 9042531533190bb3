"""Replace a loop over blocks that only adds up by one program on all blocks together.

A tiled product adds `x[i, k] @ y[k, j]` to an accumulator, for each `k`. Along `k` that is the product of whole rows
and columns, which a library computes without writing the accumulator for each block. The first iteration
may start the accumulator, and the last one may use it; whatever else depends on the index keeps the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src.core import dims
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, eval_jaxpr, subjaxprs
from sagax._src.core.staging import stage
from sagax._src.primitives.arithmetic import add_p, max_p, min_p, mul_p
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.reductions import reduce_max_p, reduce_min_p, reduce_prod_p
from sagax._src.primitives.structural import (
    broadcast_in_dim_p,
    convert_element_type_p,
    reduce_sum_p,
    transpose_p,
)
from sagax._src.transforms.prune import prune_jaxpr
from sagax.experimental.pallas._blocks import Blocked, BlockMapping

# a reduction, and the operation that joins its results over parts
_JOINED = {reduce_sum_p: add_p, reduce_max_p: max_p, reduce_min_p: min_p, reduce_prod_p: mul_p}


class _Cut(NamedTuple):
    """A value for each element along the loop, which runs over its dimension `at`."""

    at: int


class _Part(NamedTuple):
    """A reduction over the elements of one block; `join` combines those of two blocks."""

    join: Any


_TIED = "tied to one iteration"


class _Sum(NamedTuple):
    """A step of an accumulator: the equation that joins what was `before` and the `part` of a block."""

    eqn: Eqn
    before: Any
    part: Any


class Phases(NamedTuple):
    """A kernel on values: for the first iteration of a loop, those between if there are any, and the last."""

    first: ClosedJaxpr
    middle: ClosedJaxpr | None
    last: ClosedJaxpr


def widened(mapping: BlockMapping, axis: int, count: int) -> tuple[BlockMapping, int | None] | None:
    """Return a mapping to all blocks along an axis of the grid, and the dimension of the reference that they cut.

    None: they are no consecutive blocks of one dimension of the array.
    """
    if mapping.forms is None:
        return None
    users = [
        j for j, (_, factors) in enumerate(mapping.forms) if any(a == axis for a, _ in factors)
    ]
    if not users:
        return mapping, None
    j = users[0]
    d, size = mapping.dims[j], mapping.array_aval.shape[j]
    if len(users) > 1 or type(d) is not Blocked or mapping.forms[j] != (0, ((axis, 1),)):
        return None
    if dims.is_dim(size) or dims.is_dim(d.block_size) or size != d.block_size * count:
        return None
    wide = BlockMapping(
        mapping.array_aval,
        (*mapping.dims[:j], Blocked(size), *mapping.dims[j + 1 :]),
        (*mapping.forms[:j], (0, ()), *mapping.forms[j + 1 :]),
        None,
        mapping.origin,
        mapping.memory_space,
    )
    return wide, sum(type(other) is Blocked for other in mapping.dims[:j])


def in_one(
    phases: Phases, index: int, cuts: Mapping[int, tuple[int, int]], n_memory: int
) -> ClosedJaxpr | None:
    """Return a jaxpr that does what all iterations do, where that is to add up; else None.

    Args:
      phases: jaxprs with the same inputs, and the last `n_memory` of them are memory that lasts; they return
        its new contents.
      index: the position of the index of the loop among the inputs.
      cuts: for each input that is a block, by position, the dimension along which blocks follow each other,
        and its size over all of them.
    """
    if any(p is not None and p.jaxpr.effects for p in phases):
        return None  # prints and checks happen in each iteration
    if any(p is not None and _holds_checks(p.jaxpr) for p in phases):
        return None
    first = _Reading(phases.first, index, cuts, n_memory, complete=False)
    last = _Reading(phases.last, index, cuts, n_memory, complete=True)
    sums = last.accumulators()
    if sums is None:
        return None
    if phases.middle is not None:
        middle = _Reading(phases.middle, index, cuts, n_memory, complete=False)
        if not middle.only_adds(sums, last):
            return None
    start = first.start(sums, last)
    if start is None:
        return None
    begin = prune_jaxpr(first.jaxpr.replace(outvars=[v for v, _ in start]))
    alone = [found for found, (_, skipped) in zip(sums, start, strict=True) if found and skipped]
    rest = _without_joins(last.jaxpr, alone)

    def fun(*xs: Any) -> list:
        given = eval_jaxpr(begin, phases.first.consts, *xs)
        return eval_jaxpr(rest, phases.last.consts, *xs[: len(xs) - n_memory], *given)

    avals = list(phases.last.in_avals)
    for i, (at, size) in cuts.items():
        shape = avals[i].shape
        avals[i] = avals[i].update(shape=(*shape[:at], size, *shape[at + 1 :]))
    jaxpr, consts = stage(fun, avals, phases.last.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts)


def _holds_checks(jaxpr: Jaxpr) -> bool:
    """Return whether equations without results, such as checks for debugging, would be lost."""
    return any(
        not eqn.outvars or any(map(_holds_checks, subjaxprs(eqn.params))) for eqn in jaxpr.eqns
    )


class _Reading:
    """Tell plain values of one phase from those for each element along the loop, and from parts of sums.

    `complete`: accumulators hold the whole sum after this phase, so that it may go on with them.
    """

    def __init__(
        self,
        closed: ClosedJaxpr,
        index: int,
        cuts: Mapping[int, tuple[int, int]],
        n_memory: int,
        complete: bool,
    ) -> None:
        jaxpr = self.jaxpr = prune_jaxpr(closed.jaxpr)
        self.consts = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        self.places = {v: i for i, v in enumerate(jaxpr.invars)}
        self.memory = jaxpr.invars[len(jaxpr.invars) - n_memory :]
        self.makers = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
        read = [v for eqn in jaxpr.eqns for v in eqn.invars] + jaxpr.outvars
        self.uses = Counter(v for v in read if type(v) is not Literal)
        self.sums: dict[Any, _Sum] = {}
        self.kinds: dict[Any, Any] = {jaxpr.invars[i]: _Cut(at) for i, (at, _) in cuts.items()}
        self.kinds[jaxpr.invars[index]] = _TIED
        for eqn in jaxpr.eqns:
            kinds = [self.kind(v) for v in eqn.invars]
            if any(kinds):
                found = self._sum(eqn, kinds)
                if found is None:
                    kind = _kind(eqn, kinds)
                else:
                    self.sums[eqn.outvars[0]] = found
                    kind = None if complete else _TIED
                self.kinds.update(dict.fromkeys(eqn.outvars, kind))

    def kind(self, v: Any) -> Any:
        return None if type(v) is Literal else self.kinds.get(v)

    def _sum(self, eqn: Eqn, kinds: Sequence[Any]) -> _Sum | None:
        for part, before in ((0, 1), (1, 0)) if len(kinds) == 2 else ():
            if kinds[part] == _Part(eqn.primitive) and kinds[before] is None:
                return _Sum(eqn, eqn.invars[before], eqn.invars[part])
        return None

    def accumulators(self) -> list[_Sum | None] | None:
        """Return the step of each memory that is an accumulator; None if there are none, or more happens."""
        found = {s.before: s for s in self.sums.values() if type(s.before) is not Literal}
        if not found or len(found) != len(self.sums):
            return None
        if not set(found) <= set(self.memory) or any(self.uses[v] != 1 for v in found):
            return None
        if any(self.kind(v) for v in self.jaxpr.outvars):
            return None
        return [found.get(v) for v in self.memory]

    def only_adds(self, sums: Sequence[_Sum | None], last: _Reading) -> bool:
        """Return whether this phase adds the same parts as `last`, and changes nothing else that `last` reads."""
        for v, out, wanted, read in zip(
            self.memory, self.jaxpr.outvars, sums, last.memory, strict=True
        ):
            if wanted is not None:
                found = self.sums.get(out)
                if found is None or found.before is not v or self.uses[v] != 1:
                    return False
                if not self._same(found.part, last, wanted.part):
                    return False
            elif out is not v and (last.uses[read] or self.uses[v]):
                return False
        return True

    def start(self, sums: Sequence[_Sum | None], last: _Reading) -> list[tuple] | None:
        """Return what memory holds before the sums, as a value of this phase, and whether that counts for nothing."""
        found: list[tuple] = []
        for v, out, wanted, read in zip(
            self.memory, self.jaxpr.outvars, sums, last.memory, strict=True
        ):
            if wanted is None:
                if last.uses[read] and self.kind(out):
                    return None
                found.append((out if last.uses[read] else v, False))
                continue
            step = self.sums.get(out)
            part = out if step is None else step.part
            if self.kind(part) != _Part(wanted.eqn.primitive):
                return None
            if not self._same(part, last, wanted.part):
                return None
            if step is None:  # the first part is written, not added
                found.append((v, True))
            else:
                nothing = wanted.eqn.primitive is add_p and self._is_zero(step.before)
                found.append((step.before, nothing))
        return found

    def _is_zero(self, v: Any) -> bool:
        maker = None if type(v) is Literal else self.makers.get(v)
        if maker is not None and maker.primitive is broadcast_in_dim_p:
            v = maker.invars[0]
        return type(v) is Literal and not np.any(v.val)

    def _same(self, mine: Any, other: _Reading, theirs: Any) -> bool:
        """Return whether two values are made alike from inputs that are no memory."""
        rest, seen = [(mine, theirs)], set()
        while rest:
            v, w = pair = rest.pop()
            if pair in seen:
                continue
            seen.add(pair)
            if type(v) is Literal or type(w) is Literal:
                if type(v) is not type(w) or v.aval != w.aval or not np.array_equal(v.val, w.val):
                    return False
                continue
            one, two = self.makers.get(v), other.makers.get(w)
            if one is None or two is None:
                if one is not two or not self._same_leaf(v, other, w):
                    return False
                continue
            if one.primitive is not two.primitive or one.params.keys() != two.params.keys():
                return False
            if one.outvars.index(v) != two.outvars.index(w) or one.effects or two.effects:
                return False
            if not all(_equal(x, two.params[name]) for name, x in one.params.items()):
                return False
            rest += zip(one.invars, two.invars, strict=True)
        return True

    def _same_leaf(self, v: Any, other: _Reading, w: Any) -> bool:
        if v in self.consts:
            return self.consts[v] is other.consts.get(w)
        return v not in self.memory and self.places.get(v) == other.places.get(w)


def _equal(x: Any, y: Any) -> bool:
    """Return whether two parameters are equal; arrays and jaxprs must be the same object."""
    if x is y:
        return True
    return not isinstance(x, (np.ndarray, ClosedJaxpr, Jaxpr)) and bool(x == y)


def _kind(eqn: Eqn, kinds: Sequence[Any]) -> Any:
    """Return what the results are along the loop, where at least one operand is no plain value."""
    p = eqn.primitive
    cut = [k for k in kinds if k is not None]
    if not all(type(k) is _Cut for k in cut):
        return _TIED
    at = cut[0].at
    if p.elementwise or p is convert_element_type_p:
        plain = [v for v, k in zip(eqn.invars, kinds, strict=True) if k is None]
        alike = all(k == cut[0] for k in cut) and all(v.aval.shape == () for v in plain)
        return cut[0] if alike else _TIED
    if p is transpose_p:
        return _Cut(eqn.params["permutation"].index(at))
    if p in _JOINED:
        axes = eqn.params["axes"]
        return _Part(_JOINED[p]) if at in axes else _Cut(at - sum(a < at for a in axes))
    if p is dot_general_p and len(cut) == 2:
        (left, right), _ = eqn.params["dimension_numbers"]
        if (at, cut[1].at) in zip(left, right, strict=True):
            return _Part(add_p)
    return _TIED


def _without_joins(jaxpr: Jaxpr, sums: Sequence[_Sum]) -> Jaxpr:
    """Return the jaxpr with parts in place of accumulators that begin with nothing."""
    if not sums:
        return jaxpr
    into = {s.eqn.outvars[0]: s.part for s in sums}
    dropped = {id(s.eqn) for s in sums}

    def renamed(vs: Sequence[Any]) -> list:
        return [v if type(v) is Literal else into.get(v, v) for v in vs]

    eqns = [eqn.replace(invars=renamed(eqn.invars)) for eqn in jaxpr.eqns if id(eqn) not in dropped]
    return jaxpr.replace(eqns=eqns, outvars=renamed(jaxpr.outvars))
