"""Insert fusion fences: keep XLA from recomputing a value for each reader.

XLA for the CPU merges a cheap operation into each operation that reads it, and so computes it as often
as it is read in different places. It spares operations on several arrays where it sees that not all ways
to a reader can be merged, but not what stands before an operation on one array (a sum, then an offset
for each row, as in the derivative of a normalisation; a sum, then max(x, 0)). A residual stream is a chain
of such values: merged into all that reads it, it is computed from its beginning at each place, and the
time to compile and to run grows with the square of the depth. An optimization barrier after a value
stops that: it is written to memory once, and read.

The rule: a value of inexact numbers, at least 1,024 of them, made element by element, gets a fence if it
would be computed in two places or more and that costs more than writing and reading it.

- A reduction is a place, so is a result of the program, and so is what no operation is merged with (a
  product of matrices, a convolution, a loop). An operation element by element is computed where its
  readers are, one that moves elements at a place of its own within each: what a stencil reads at five
  offsets is computed five times. Readers that meet in one place cost nothing.
- XLA writes by itself what takes long (an exponential, a square root) and what is made of several arrays,
  if it has several readers and one of them is reached over something that is written as well.
- What computing takes is found from the first equation on: the arrays to read, the operations on the way.

What takes long to compute (the rounds of a cipher, a long chain of operations) is computed once whatever
its size and dtype: each place compiles it again, and LLVM's vectorizer follows every way through it where
it stands behind a condition, of which the rounds of one cipher have thousands. So it gets a fence if it
would be computed in two places, and also before it is stretched, padded or joined to something else.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.families import Fusion, Recompute
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from sagax._src.lazy_import import lazy_imports
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.arithmetic import div_p
from sagax._src.primitives.identities import optimization_barrier_p
from sagax._src.primitives.structural import broadcast_in_dim_p
from sagax._src.transforms.derived import derived

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import slicing


LEAST_ELEMENTS = 1024  # below, a loop of its own costs more than computing again
ONLY_LONG = math.inf
_HEAVY = 80  # operations in a row that are computed once, however small the value

_MOST_PLACES, _MOST_READS = 4, 8  # counted up to here: more are as good as these
# What writing an element costs, in reads of one: to memory, and while it stays in the processor's cache.
_WRITE, _WRITE_NEAR = 3.0, 0.5
_NEAR = 1 << 17  # bytes
_MARGINS = 1.5  # a value with its margins is at most so many times as large
_STEP = 0.05  # what computing costs, in reads, for each operation on the longest way to a value
_WINDOW = 2048  # equations: what is read farther away is reached over something that is written
_AHEAD = (1 << (_WINDOW + 1)) - 1

Places = frozenset
_NOTHING = _NOWHERE = frozenset()


class _Made(NamedTuple):
    """What it takes to compute an element of a value: the arrays to read, the operations in a row."""

    reads: frozenset
    steps: int


class _Fenced(NamedTuple):
    """A program with fences, and what one that calls it needs to know."""

    jaxpr: Jaxpr
    inputs: list[Places]  # where each input would be computed; ("out", k): where output k is
    delicate: list[bool]  # whether an input that is long to compute is to be written
    outputs: list[_Made | None]  # from which inputs; None for those that are written


def fenced(jaxpr: Jaxpr, least_elements: float = LEAST_ELEMENTS) -> Jaxpr:
    """`jaxpr` with an optimization barrier after each value that is better computed once.

    Values of fewer than `least_elements` get one only if they take long to compute.
    """
    return _fenced(jaxpr, least_elements).jaxpr


def _fenced(jaxpr: Jaxpr, least_elements: float) -> _Fenced:
    key = (memo_keys.FUSION_FENCES, least_elements)
    return derived(jaxpr, key, lambda: _with_fences(jaxpr, least_elements))


def _with_fences(jaxpr: Jaxpr, least: float) -> _Fenced:
    called = [_called(eqn, least) if eqn.primitive.is_call else None for eqn in jaxpr.eqns]
    meeting = _meeting(jaxpr, called, least)
    places, written, delicate = _places(jaxpr, called, meeting)
    fences, made = _chosen(jaxpr, called, meeting, places, written)
    fences = _behind_pads(jaxpr, fences)
    eqns = within(jaxpr.eqns, functools.partial(fenced, least_elements=least))
    found = jaxpr
    if fences or eqns is not jaxpr.eqns:
        found = _rewritten(jaxpr, eqns, fences)
    number = {v: k for k, v in enumerate(jaxpr.invars)}
    outputs: list[_Made | None] = [None] * len(jaxpr.outvars)
    for k, v in enumerate(jaxpr.outvars):
        if type(v) is Var and v in made:
            reads = [("in", number[r]) if r in number else r for r in made[v].reads]
            outputs[k] = _Made(frozenset(reads), made[v].steps)
    inputs = [places.get(v, _NOWHERE) for v in jaxpr.invars]
    return _Fenced(found, inputs, [v in delicate for v in jaxpr.invars], outputs)


class _Moved:
    """A place, or an array, as it is seen by way of an equation that moves elements."""

    __slots__ = ("number", "seen")

    def __init__(self, number: int, seen: Any) -> None:
        self.number = number
        self.seen = seen


class _Meeting(NamedTuple):
    """How the equations of a program meet their readers."""

    kinds: list[int]
    stretched: set[Any]  # values of one number for each row, or one in all
    long: set[Any]  # values that are long to compute, if nothing on the way is written
    least: float  # elements of a value that is large
    stretching: dict[
        int, list[Any]
    ]  # equations: operands that they compute again, or at a condition
    moved: dict[tuple[int, Any], _Moved]

    def by_way_of(self, number: int, seen: frozenset) -> frozenset:
        """Places or arrays by way of an equation: the same objects each time, which compare quickly."""
        found = []
        for one in seen:
            key = number, one
            if key not in self.moved:
                self.moved[key] = _Moved(number, one)
            found.append(self.moved[key])
        return frozenset(found)


def _meeting(jaxpr: Jaxpr, called: Sequence[_Fenced | None], least: float) -> _Meeting:
    kinds = []
    stretched: set[Any] = set()
    depths: dict[Any, int] = {}  # operations in a row
    stretching: dict[int, list[Any]] = {}
    depth_of = depths.get
    for number, (eqn, inner) in enumerate(zip(jaxpr.eqns, called)):
        primitive = eqn.primitive
        kind, recomputes = primitive.fusion, primitive.recomputes
        if primitive is broadcast_in_dim_p:
            stretched.add(eqn.outvars[0])
        elif primitive is div_p and not _whole(eqn.invars[1], eqn, stretched):
            kind = (
                Fusion.INLINE
            )  # a product with the inverse, which is computed before it is stretched
        kinds.append(kind)
        if inner is not None:
            for v, through in zip(eqn.outvars, inner.outputs):
                if through is not None:
                    operands = [eqn.invars[k] for k in _inputs_of(through)]
                    before = [depth_of(x, 0) for x in operands if type(x) is Var]
                    depths[v] = max(before, default=0) + through.steps
            again = [v for v, d in zip(eqn.invars, inner.delicate) if d and type(v) is Var]
        elif kind > Fusion.EXPENSIVE:
            again = [v for v in eqn.invars if type(v) is Var]
        else:
            depth = 0
            for v in eqn.invars:
                if type(v) is Var and (before := depth_of(v, 0)) > depth:
                    depth = before
            depth += primitive.latency
            for v in eqn.outvars:
                depths[v] = depth
            if recomputes == Recompute.ONCE:
                continue
            again = [
                v
                for v in eqn.invars
                if type(v) is Var
                and (recomputes == Recompute.CONDITIONALLY or _grows(v, eqn.outvars[0]))
            ]
        if again:
            stretching[number] = again
    long = {v for v, depth in depths.items() if depth >= _HEAVY}
    return _Meeting(kinds, stretched, long, least, stretching, {})


def _inputs_of(made: _Made) -> list[int]:
    """The inputs of a program that a result of it is computed from."""
    return [r[1] for r in made.reads if isinstance(r, tuple) and r[0] == "in"]


def _grows(v: Any, out: Any) -> bool:
    """Whether each element of an operand is read for several of the result."""
    return not dims.same_shape(v.aval.shape, out.aval.shape) and (
        not (dims.is_static(v.aval.shape) and dims.is_static(out.aval.shape))
        or v.aval.size < out.aval.size
    )


def _whole(v: Any, eqn: Eqn, stretched: set[Any]) -> bool:
    """Whether an operand has a number of its own for each of the result."""
    return type(v) is Var and v not in stretched and v.aval.shape == eqn.outvars[0].aval.shape


def _places(
    jaxpr: Jaxpr, called: Sequence[_Fenced | None], meeting: _Meeting
) -> tuple[dict[Any, Places], set[Any], set[Any]]:
    """Where each value would be computed; those that XLA writes without fences; those that are stretched.

    Whether XLA spares a value depends on what lies between it and its readers. `reached` and `over`
    hold, for each equation, itself and which of the next ones need its result, and which of these need it
    by way of something that is written: bit d stands for the one d equations later.
    """
    places: dict[Any, Places] = {}
    readers: dict[Any, list[int]] = {}
    own: dict[Any, Places] = {}  # of values that are computed once: their readers find them there
    written: set[Any] = set()
    results = {v for v in jaxpr.outvars if type(v) is Var}
    apart = set(results)  # what is read by something that nothing is merged with
    delicate: set[Any] = set()
    eqns, kinds, long_ones = jaxpr.eqns, meeting.kinds, meeting.long
    reached, over = [0] * len(eqns), [0] * len(eqns)

    def of(v: Any) -> Places:
        return own[v] if v in own else places.get(v, _NOWHERE)

    def computed(v: Any, where: Places, number: int) -> None:
        if type(v) is Var:
            before = places.get(v)
            if before is None:
                places[v], readers[v] = where, [number]
                return
            if where is not before and len(before) < _MOST_PLACES:
                places[v] = before | where
            if not readers[v] or readers[v][-1] != number:
                readers[v].append(number)

    for v, k in {v: k for k, v in enumerate(jaxpr.outvars) if type(v) is Var}.items():
        places[v], readers[v] = frozenset({("out", k)}), []
    long = len(eqns) > _WINDOW
    for number in range(len(eqns) - 1, -1, -1):
        eqn, inner, kind = eqns[number], called[number], kinds[number]
        ahead = beyond = 0
        keep = kind >= Fusion.REDUCES if inner is None else None in inner.outputs
        for v in eqn.outvars:
            read_by = readers.get(v)
            if read_by is None:
                continue
            far = v in apart
            direct = through = 0
            for reader in read_by:
                d = reader - number
                if d > _WINDOW:
                    far = True
                    continue
                ahead |= reached[reader] << d
                through |= over[reader] << d
                direct |= 1 << d
            beyond |= through
            if kind >= Fusion.REDUCES:
                continue
            several = len(read_by) > 1 or (v in results and read_by)
            if not (several or len(places[v]) > 1):
                continue
            if kind == Fusion.EXPENSIVE:
                spared = True
            else:
                spared = several and (far or direct & through) and _of_several(eqn, meeting)
            if spared:
                own[v] = frozenset({v})
                written.add(v)
                keep = True
            elif len(places[v]) > 1 and _may_have_fence(eqn, v, meeting):
                own[v] = frozenset({v})
        if long:
            ahead &= _AHEAD
            beyond &= _AHEAD
        again = meeting.stretching.get(number)
        if again is not None:
            delicate.update(again)
            own.update([(v, frozenset({v})) for v in again if v in long_ones])
        if delicate and not delicate.isdisjoint(eqn.outvars):
            if kind < Fusion.REDUCES:
                delicate.update([v for v in eqn.invars if type(v) is Var])
            elif inner is not None:
                for v, through in zip(eqn.outvars, inner.outputs):
                    if v in delicate and through is not None:
                        operands = [eqn.invars[k] for k in _inputs_of(through)]
                        delicate.update([x for x in operands if type(x) is Var])
        reached[number] = ahead | 1
        over[number] = ahead if keep else beyond
        if inner is not None:
            for v, inside in zip(eqn.invars, inner.inputs):
                where: Places = frozenset()
                for p in inside:
                    passed = isinstance(p, tuple) and p[0] == "out"
                    where |= of(eqn.outvars[p[1]]) if passed else {(number, p)}
                computed(v, where, number)
        elif kind == Fusion.SEPARATE:
            for v in eqn.invars:
                computed(v, frozenset({v}), number)
                apart.add(v)
        else:
            if kind == Fusion.REDUCES:
                where = frozenset({number})
            else:
                where = of(eqn.outvars[0])
                for v in eqn.outvars[1:]:
                    where |= of(v)
                if kind == Fusion.MOVES_ELEMENTS:
                    where = meeting.by_way_of(number, where)
            for v in eqn.invars:  # as `computed` does: most equations come here
                if type(v) is Var:
                    before = places.get(v)
                    if before is None:
                        places[v], readers[v] = where, [number]
                        continue
                    if where is not before and len(before) < _MOST_PLACES:
                        places[v] = before | where
                    read_by = readers[v]
                    if not read_by or read_by[-1] != number:
                        read_by.append(number)
    return places, written, delicate


def _of_several(eqn: Eqn, meeting: _Meeting) -> bool:
    """Whether an operation reads several arrays of the size of its result."""
    whole = {v for v in eqn.invars if _whole(v, eqn, meeting.stretched)}
    return len(whole) > 1 and eqn.primitive.elementwise


def _may_have_fence(eqn: Eqn, v: Any, meeting: _Meeting) -> bool:
    if v in meeting.long:
        return True
    return (eqn.primitive.elementwise or eqn.primitive.is_call) and _is_large(v, meeting.least)


def _is_large(v: Any, least: float) -> bool:
    """Whether a value is large enough for a loop of its own to pay."""
    aval = v.aval
    return dtypes.is_inexact(aval.dtype) and dims.is_static(aval.shape) and aval.size >= least


def _chosen(
    jaxpr: Jaxpr,
    called: Sequence[_Fenced | None],
    meeting: _Meeting,
    places: dict[Any, Places],
    written: set[Any],
) -> tuple[set[Any], dict[Any, _Made]]:
    """The values that cost more to compute again than to write and read; what the others are computed from."""
    fences: dict[Any, _Made] = {}
    merged_again: set[Any] = set()  # in several places, and better so
    results = {v for v in jaxpr.outvars if type(v) is Var}
    made: dict[Any, _Made] = {}
    stretched = {v for again in meeting.stretching.values() for v in again if v in meeting.long}

    def of(v: Any) -> _Made:
        return made[v] if v in made else _Made(frozenset({v}), 0)

    for number, (eqn, inner, kind) in enumerate(zip(jaxpr.eqns, called, meeting.kinds)):
        if inner is None and kind > Fusion.EXPENSIVE:
            continue
        merged: _Made | None = None
        if inner is None:
            reads: frozenset = _NOTHING
            steps = 0
            for v in eqn.invars:
                if type(v) is Var:
                    m = made.get(v)
                    if m is None:
                        reads |= {v}
                        continue
                    if not reads:
                        reads = m.reads
                    elif reads is not m.reads and len(reads) < _MOST_READS:
                        reads |= m.reads
                    if m.steps > steps:
                        steps = m.steps
            if kind == Fusion.MOVES_ELEMENTS:  # elsewhere in the array is another read
                reads = meeting.by_way_of(number, reads)
            steps += eqn.primitive.latency
            if kind == Fusion.EXPENSIVE:  # as if written, unless it takes so long to get there
                if steps < _HEAVY:
                    continue
                reads = frozenset(eqn.outvars)
            merged = _Made(reads, steps)
        for k, v in enumerate(eqn.outvars):
            found = merged
            if inner is not None:
                through = inner.outputs[k]
                found = None if through is None else _through(through, v, eqn.invars, of)
            if found is None or v in written:
                continue
            where = places.get(v, _NOWHERE)
            if v in stretched:
                if found.steps >= _HEAVY:
                    fences[v] = found
                    continue
            if len(where) > 1 and _may_have_fence(eqn, v, meeting):
                if _worth_it(v, where, found, v in results, meeting.least):
                    fences[v] = found
                    continue
                merged_again.add(v)
            made[v] = found
    # What reads a value that gets no fence is where that is computed, which may be one place for several.
    known: dict[Any, Places] = {}
    for v in reversed(list(fences)):
        where = frozenset([p for q in places[v] for p in _behind(q, merged_again, places, known)])
        if v not in stretched and not _worth_it(v, where, fences[v], v in results, meeting.least):
            made[v] = fences.pop(v)
            merged_again.add(v)
    return set(fences), made


def _behind(
    place: Any, merged: set[Any], places: dict[Any, Places], known: dict[Any, Places]
) -> Places:
    """Where a place is, if it is a value that is merged with its readers."""
    path = []
    while type(place) is _Moved:
        path.append(place.number)
        place = place.seen
    found = frozenset({place})
    if type(place) is Var and place in merged:
        if place not in known:
            known[place] = found  # as a reader of its own: it is written for what is not merged
            others = [q for q in places[place] if q is not place]
            inside = [p for q in others for p in _behind(q, merged, places, known)]
            known[place] = frozenset(inside) | (found & places[place])
        found = known[place]
    return frozenset([(*path, p) for p in found]) if path else found


def _worth_it(v: Any, where: Places, found: _Made, result: bool, least: float) -> bool:
    """Whether computing a value again in the other places costs more than writing and reading it."""
    if found.steps >= _HEAVY:
        return len(where) > 1
    if not _is_large(v, least):
        return False
    again = (len(where) - 1) * (len(found.reads) + _STEP * found.steps)
    if v in where or result:
        once = len(where) - 1 + _WRITE_NEAR  # it is written in any case
    else:
        once = len(where) + (_WRITE if _bytes(v.aval) > _NEAR else _WRITE_NEAR)
    return again > once


def _through(inner: _Made, v: Any, operands: Sequence[Any], of: Callable[[Any], _Made]) -> _Made:
    """What it takes to compute the result of a call, from what its program says of its inputs."""
    reads: set = set()
    steps = 0
    for r in inner.reads:
        if isinstance(r, tuple) and r[0] == "in":
            if type(operands[r[1]]) is Var:
                m = of(operands[r[1]])
                reads |= m.reads
                steps = max(steps, m.steps)
        else:
            reads.add((v, r))
    return _Made(frozenset(reads), steps + inner.steps)


def _called(eqn: Eqn, least: float) -> _Fenced | None:
    """What is known of the program that XLA puts in the place of a call."""
    held = [v for v in eqn.params.values() if isinstance(v, (ClosedJaxpr, Jaxpr))]
    if len(held) != 1:
        return None
    jaxpr = held[0].jaxpr if isinstance(held[0], ClosedJaxpr) else held[0]
    same = len(jaxpr.invars) == len(eqn.invars) and len(jaxpr.outvars) == len(eqn.outvars)
    return _fenced(jaxpr, least) if same else None


def _behind_pads(jaxpr: Jaxpr, fences: set[Any]) -> set[Any]:
    """The fences, where only a pad reads a value behind that: it is written with its margins at once."""
    pads = [
        eqn
        for eqn in jaxpr.eqns
        if eqn.primitive.recomputes == Recompute.CONDITIONALLY
        and eqn.invars[0] in fences
        and eqn.primitive is slicing.pad_p
    ]
    if not pads:
        return fences
    reads = Counter([v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is Var])
    reads.update([v for v in jaxpr.outvars if type(v) is Var])
    found = set(fences)
    for eqn in pads:
        v, padded = eqn.invars[0], eqn.outvars[0]
        static = dims.is_static(padded.aval.shape)
        if reads[v] == 1 and static and padded.aval.size <= _MARGINS * v.aval.size:
            found.remove(v)
            found.add(padded)
    return found


def _bytes(aval: Any) -> int:
    return aval.size * aval.dtype.itemsize


def _rewritten(jaxpr: Jaxpr, eqns: Sequence[Eqn], fences: set[Any]) -> Jaxpr:
    behind: dict[Any, Var] = {}  # a value -> the same behind its fence

    def read(atoms: Sequence[Any]) -> list:
        return [behind.get(v, v) if type(v) is Var else v for v in atoms]

    out: list[Eqn] = []
    behind_none, none_of = behind.keys().isdisjoint, fences.isdisjoint
    for eqn in eqns:
        if not behind_none(eqn.invars):
            eqn = eqn.replace(invars=read(eqn.invars))
        out.append(eqn)
        if none_of(eqn.outvars):
            continue
        for v in eqn.outvars:
            if v in fences:
                after = behind[v] = Var(v.aval)
                at = {"traceback": eqn.traceback, "scope": eqn.scope}
                out.append(Eqn(optimization_barrier_p, [v], [after], {}, **at))
    return jaxpr.replace(eqns=out, outvars=read(jaxpr.outvars))
