"""Insert fusion fences: keep XLA from recomputing a value for each consumer.

XLA for the CPU fuses a cheap operation into each consumer, and so computes it once per fusion that reads
it. It avoids that for operations on several arrays if not all paths to a consumer can be fused. It does not
avoid it for what precedes an operation on one array. Examples: a sum, then an offset for each row, as in
the derivative of a normalization; a sum, then max(x, 0). A residual stream is a chain of such values. Fused
into all consumers, it is recomputed from its beginning in each, and the time to compile and to run is
quadratic in the depth. An optimization barrier after a value stops that: it is stored once, and read.

The rule: an elementwise value of inexact numbers, at least 1,024 of them, gets a fence if it would be
computed in two fusions or more and that costs more than storing and reading it.

- A reduction is a fusion root, so is a result of the jaxpr, and so is an operation that never fuses (a
  matrix product, a convolution, a loop). An elementwise operation is computed in the fusions of its
  consumers. One that moves elements makes a separate access within each: a value that a stencil reads at
  five offsets is computed five times. Consumers in the same fusion cost nothing.
- XLA itself stores expensive values (an exponential, a square root) and values of several arrays,
  if there are several consumers and the path to one of them has a stored value.
- The cost of a value is derived from the first equation on: the arrays to read, the operations in between.

An expensive value (the rounds of a cipher, a long chain of operations) is computed once whatever its size
and dtype: each fusion compiles it again. Behind a condition, LLVM's vectorizer follows every path through
it, thousands for the rounds of one cipher. So it gets a fence if it would be computed in two fusions, and
also before it is broadcast, padded or concatenated.
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


LEAST_ELEMENTS = 1024  # below, a separate loop costs more than recomputation
ONLY_LONG = math.inf
_BYTE_CHAIN = 3  # consecutive operations on floats of one byte
_HEAVY = 80  # consecutive operations that are computed once, however small the value

_MAX_SITES, _MAX_READS = 4, 8  # counted up to here: more are equivalent to these
# The cost of storing an element, in reads of one: in memory, and in the processor's cache.
_WRITE, _WRITE_NEAR = 3.0, 0.5
_NEAR = 1 << 17  # bytes
_MARGINS = 1.5  # the size limit of a value with its padding, relative to the value
_STEP = 0.05  # the cost of computing, in reads, for each operation on the longest path to a value
_WINDOW = 2048  # equations: a consumer farther away is assumed to be behind a stored value
_AHEAD = (1 << (_WINDOW + 1)) - 1

Sites = frozenset
_NOTHING = _NO_SITES = frozenset()


class _Cost(NamedTuple):
    """Describe the cost of an element of a value: the arrays to read, the number of consecutive operations."""

    reads: frozenset
    steps: int


class _Fenced(NamedTuple):
    """Hold a fenced jaxpr, and the facts that a calling jaxpr needs."""

    jaxpr: Jaxpr
    inputs: list[Sites]  # the fusions that would compute each input; ("out", k): that of output k
    delicate: list[bool]  # whether an expensive input is to be stored
    outputs: list[_Cost | None]  # the inputs of each output; None for stored ones


def fenced(jaxpr: Jaxpr, least_elements: float = LEAST_ELEMENTS) -> Jaxpr:
    """Insert an optimization barrier in `jaxpr` after each value that is better computed once.

    Values of fewer than `least_elements` get one only if they are expensive.
    """
    return _fenced(jaxpr, least_elements).jaxpr


def _fenced(jaxpr: Jaxpr, least_elements: float) -> _Fenced:
    key = (memo_keys.FUSION_FENCES, least_elements)
    return derived(jaxpr, key, lambda: _with_fences(jaxpr, least_elements))


def _with_fences(jaxpr: Jaxpr, least: float) -> _Fenced:
    called = [_fence_call(eqn, least) if eqn.primitive.is_call else None for eqn in jaxpr.eqns]
    info = _fusion_info(jaxpr, called, least)
    sites, stored, delicate = _fusion_sites(jaxpr, called, info)
    fences, costs = _choose_fences(jaxpr, called, info, sites, stored)
    fences = _move_behind_pads(jaxpr, fences) | _ends_of_byte_chains(jaxpr, info.kinds)
    eqns = within(jaxpr.eqns, functools.partial(fenced, least_elements=least))
    found = jaxpr
    if fences or eqns is not jaxpr.eqns:
        found = _insert_fences(jaxpr, eqns, fences)
    number = {v: k for k, v in enumerate(jaxpr.invars)}
    outputs: list[_Cost | None] = [None] * len(jaxpr.outvars)
    for k, v in enumerate(jaxpr.outvars):
        if type(v) is Var and v in costs:
            reads = [("in", number[r]) if r in number else r for r in costs[v].reads]
            outputs[k] = _Cost(frozenset(reads), costs[v].steps)
    inputs = [sites.get(v, _NO_SITES) for v in jaxpr.invars]
    return _Fenced(found, inputs, [v in delicate for v in jaxpr.invars], outputs)


class _Moved:
    """A fusion, or an array, as accessed through an equation that moves elements."""

    __slots__ = ("number", "site")

    def __init__(self, number: int, site: Any) -> None:
        self.number = number
        self.site = site


class _FusionInfo(NamedTuple):
    """Classify the operands of a jaxpr's equations for fusion."""

    kinds: list[int]
    broadcasts: set[Any]  # values of one number for each row, or one in all
    long: set[Any]  # expensive values, if no intermediate value is stored
    least: float  # the number of elements of a large value
    # equations: operands that they recompute, or compute under a condition
    recomputing: dict[int, list[Any]]
    moved: dict[tuple[int, Any], _Moved]

    def through_equation(self, number: int, sites: frozenset) -> frozenset:
        """Access fusions or arrays through an equation: the objects are interned, to compare quickly."""
        found = []
        for site in sites:
            key = number, site
            if key not in self.moved:
                self.moved[key] = _Moved(number, site)
            found.append(self.moved[key])
        return frozenset(found)


def _fusion_info(jaxpr: Jaxpr, called: Sequence[_Fenced | None], least: float) -> _FusionInfo:
    kinds = []
    broadcasts: set[Any] = set()
    depths: dict[Any, int] = {}  # consecutive operations
    recomputing: dict[int, list[Any]] = {}
    depth_of = depths.get
    for number, (eqn, inner) in enumerate(zip(jaxpr.eqns, called)):
        primitive = eqn.primitive
        kind, recomputes = primitive.fusion, primitive.recomputes
        if primitive is broadcast_in_dim_p:
            broadcasts.add(eqn.outvars[0])
        elif primitive is div_p and not _whole(eqn.invars[1], eqn, broadcasts):
            # a product with the reciprocal, which is computed before it is broadcast
            kind = Fusion.INLINE
        kinds.append(kind)
        if inner is not None:
            for v, through in zip(eqn.outvars, inner.outputs):
                if through is not None:
                    operands = [eqn.invars[k] for k in _inputs_of(through)]
                    before = [depth_of(x, 0) for x in operands if type(x) is Var]
                    depths[v] = max(before, default=0) + through.steps
            recomputed = [v for v, d in zip(eqn.invars, inner.delicate) if d and type(v) is Var]
        elif kind > Fusion.EXPENSIVE:
            recomputed = [v for v in eqn.invars if type(v) is Var]
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
            recomputed = [
                v
                for v in eqn.invars
                if type(v) is Var
                and (recomputes == Recompute.CONDITIONALLY or _grows(v, eqn.outvars[0]))
            ]
        if recomputed:
            recomputing[number] = recomputed
    long = {v for v, depth in depths.items() if depth >= _HEAVY}
    return _FusionInfo(kinds, broadcasts, long, least, recomputing, {})


def _inputs_of(costs: _Cost) -> list[int]:
    """Return the inputs of a jaxpr that a result of it is computed from."""
    return [r[1] for r in costs.reads if isinstance(r, tuple) and r[0] == "in"]


def _grows(v: Any, out: Any) -> bool:
    """Return whether each element of an operand is read for several of the result."""
    return not dims.same_shape(v.aval.shape, out.aval.shape) and (
        not (dims.is_static(v.aval.shape) and dims.is_static(out.aval.shape))
        or v.aval.size < out.aval.size
    )


def _whole(v: Any, eqn: Eqn, broadcasts: set[Any]) -> bool:
    """Return whether an operand has a separate number for each of the result."""
    return type(v) is Var and v not in broadcasts and v.aval.shape == eqn.outvars[0].aval.shape


def _fusion_sites(
    jaxpr: Jaxpr, called: Sequence[_Fenced | None], info: _FusionInfo
) -> tuple[dict[Any, Sites], set[Any], set[Any]]:
    """Return the fusions that compute each value; the values that XLA stores without fences; the broadcast
    ones.

    Whether XLA stores a value depends on the operations between it and its consumers. `reached` and `over`
    hold bit sets for each equation: itself and the next ones that need its result, and those of them that
    need it through a stored value. Bit d stands for the equation d positions later.
    """
    sites: dict[Any, Sites] = {}
    readers: dict[Any, list[int]] = {}
    own: dict[Any, Sites] = {}  # of values that are computed once: their consumers read them there
    stored: set[Any] = set()
    results = {v for v in jaxpr.outvars if type(v) is Var}
    apart = set(results)  # operands of operations that never fuse
    delicate: set[Any] = set()
    eqns, kinds, long_ones = jaxpr.eqns, info.kinds, info.long
    reached, over = [0] * len(eqns), [0] * len(eqns)

    def of(v: Any) -> Sites:
        return own[v] if v in own else sites.get(v, _NO_SITES)

    def computed(v: Any, where: Sites, number: int) -> None:
        if type(v) is Var:
            before = sites.get(v)
            if before is None:
                sites[v], readers[v] = where, [number]
                return
            if where is not before and len(before) < _MAX_SITES:
                sites[v] = before | where
            if not readers[v] or readers[v][-1] != number:
                readers[v].append(number)

    for v, k in {v: k for k, v in enumerate(jaxpr.outvars) if type(v) is Var}.items():
        sites[v], readers[v] = frozenset({("out", k)}), []
    long = len(eqns) > _WINDOW
    for number in range(len(eqns) - 1, -1, -1):
        eqn, inner, kind = eqns[number], called[number], kinds[number]
        ahead = beyond = 0
        stores = kind >= Fusion.REDUCES if inner is None else None in inner.outputs
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
            if not (several or len(sites[v]) > 1):
                continue
            if kind == Fusion.EXPENSIVE:
                stored_by_xla = True
            else:
                stored_by_xla = several and (far or direct & through) and _of_several(eqn, info)
            if stored_by_xla:
                own[v] = frozenset({v})
                stored.add(v)
                stores = True
            elif len(sites[v]) > 1 and _may_have_fence(eqn, v, info):
                own[v] = frozenset({v})
        if long:
            ahead &= _AHEAD
            beyond &= _AHEAD
        recomputed = info.recomputing.get(number)
        if recomputed is not None:
            delicate.update(recomputed)
            own.update([(v, frozenset({v})) for v in recomputed if v in long_ones])
        if delicate and not delicate.isdisjoint(eqn.outvars):
            if kind < Fusion.REDUCES:
                delicate.update([v for v in eqn.invars if type(v) is Var])
            elif inner is not None:
                for v, through in zip(eqn.outvars, inner.outputs):
                    if v in delicate and through is not None:
                        operands = [eqn.invars[k] for k in _inputs_of(through)]
                        delicate.update([x for x in operands if type(x) is Var])
        reached[number] = ahead | 1
        over[number] = ahead if stores else beyond
        if inner is not None:
            for v, inside in zip(eqn.invars, inner.inputs):
                where: Sites = frozenset()
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
                    where = info.through_equation(number, where)
            for v in eqn.invars:  # like `computed` (inlined: most equations come here)
                if type(v) is Var:
                    before = sites.get(v)
                    if before is None:
                        sites[v], readers[v] = where, [number]
                        continue
                    if where is not before and len(before) < _MAX_SITES:
                        sites[v] = before | where
                    read_by = readers[v]
                    if not read_by or read_by[-1] != number:
                        read_by.append(number)
    return sites, stored, delicate


def _of_several(eqn: Eqn, info: _FusionInfo) -> bool:
    """Return whether an operation reads several arrays of the size of its result."""
    whole = {v for v in eqn.invars if _whole(v, eqn, info.broadcasts)}
    return len(whole) > 1 and eqn.primitive.elementwise


def _may_have_fence(eqn: Eqn, v: Any, info: _FusionInfo) -> bool:
    if v in info.long:
        return True
    return (eqn.primitive.elementwise or eqn.primitive.is_call) and _is_large(v, info.least)


def _is_large(v: Any, least: float) -> bool:
    """Return whether a value is large enough for a separate loop to pay."""
    aval = v.aval
    return dtypes.is_inexact(aval.dtype) and dims.is_static(aval.shape) and aval.size >= least


def _choose_fences(
    jaxpr: Jaxpr,
    called: Sequence[_Fenced | None],
    info: _FusionInfo,
    sites: dict[Any, Sites],
    stored: set[Any],
) -> tuple[set[Any], dict[Any, _Cost]]:
    """Choose the values that cost more to recompute than to store and read; return also the sources of the
    others.
    """
    fences: dict[Any, _Cost] = {}
    recomputed_values: set[Any] = set()  # in several fusions, and cheaper if stored
    results = {v for v in jaxpr.outvars if type(v) is Var}
    costs: dict[Any, _Cost] = {}
    broadcasts = {
        v for recomputed in info.recomputing.values() for v in recomputed if v in info.long
    }

    def of(v: Any) -> _Cost:
        return costs[v] if v in costs else _Cost(frozenset({v}), 0)

    for number, (eqn, inner, kind) in enumerate(zip(jaxpr.eqns, called, info.kinds)):
        if inner is None and kind > Fusion.EXPENSIVE:
            continue
        merged: _Cost | None = None
        if inner is None:
            reads: frozenset = _NOTHING
            steps = 0
            for v in eqn.invars:
                if type(v) is Var:
                    m = costs.get(v)
                    if m is None:
                        if len(reads) < _MAX_READS:
                            reads |= {v}
                        continue
                    if not reads:
                        reads = m.reads
                    elif reads is not m.reads and len(reads) < _MAX_READS:
                        reads |= m.reads
                    if m.steps > steps:
                        steps = m.steps
            if kind == Fusion.MOVES_ELEMENTS:  # another offset in the array is another read
                reads = info.through_equation(number, reads)
            steps += eqn.primitive.latency
            if kind == Fusion.EXPENSIVE:  # as if stored, unless it is expensive
                if steps < _HEAVY:
                    continue
                reads = frozenset(eqn.outvars)
            merged = _Cost(reads, steps)
        for k, v in enumerate(eqn.outvars):
            found = merged
            if inner is not None:
                through = inner.outputs[k]
                found = None if through is None else _cost_through_call(through, v, eqn.invars, of)
            if found is None or v in stored:
                continue
            where = sites.get(v, _NO_SITES)
            if v in broadcasts:
                if found.steps >= _HEAVY:
                    fences[v] = found
                    continue
            if len(where) > 1 and _may_have_fence(eqn, v, info):
                if _pays_off(v, where, found, v in results, info.least):
                    fences[v] = found
                    continue
                recomputed_values.add(v)
            costs[v] = found
    # A consumer that gets no fence is computed in its own fusions, which may be one for several consumers.
    known: dict[Any, Sites] = {}
    for v in reversed(list(fences)):
        where = frozenset(
            [p for q in sites[v] for p in _fused_sites(q, recomputed_values, sites, known)]
        )
        if v not in broadcasts and not _pays_off(v, where, fences[v], v in results, info.least):
            costs[v] = fences.pop(v)
            recomputed_values.add(v)
    return set(fences), costs


def _fused_sites(
    site: Any, merged: set[Any], sites: dict[Any, Sites], known: dict[Any, Sites]
) -> Sites:
    """Return the fusion of a value that is fused with its consumers."""
    path = []
    while type(site) is _Moved:
        path.append(site.number)
        site = site.site
    found = frozenset({site})
    if type(site) is Var and site in merged:
        if site not in known:
            # like a separate consumer: it is stored for an operation that never fuses
            known[site] = found
            others = [q for q in sites[site] if q is not site]
            inside = [p for q in others for p in _fused_sites(q, merged, sites, known)]
            known[site] = frozenset(inside) | (found & sites[site])
        found = known[site]
    return frozenset([(*path, p) for p in found]) if path else found


def _pays_off(v: Any, where: Sites, found: _Cost, result: bool, least: float) -> bool:
    """Return whether recomputing a value in the other fusions costs more than storing and reading it."""
    if found.steps >= _HEAVY:
        return len(where) > 1
    if not _is_large(v, least):
        return False
    recompute_cost = (len(where) - 1) * (len(found.reads) + _STEP * found.steps)
    if v in where or result:
        store_cost = len(where) - 1 + _WRITE_NEAR  # it is stored anyway
    else:
        store_cost = len(where) + (_WRITE if _bytes(v.aval) > _NEAR else _WRITE_NEAR)
    return recompute_cost > store_cost


def _cost_through_call(
    inner: _Cost, v: Any, operands: Sequence[Any], of: Callable[[Any], _Cost]
) -> _Cost:
    """Derive the cost of a call's result from its jaxpr's inputs."""
    reads: set = set()
    steps = 0
    for r in inner.reads:
        if isinstance(r, tuple) and r[0] == "in":
            if type(operands[r[1]]) is Var:
                m = of(operands[r[1]])
                if len(reads) < _MAX_READS:
                    reads |= m.reads
                steps = max(steps, m.steps)
        else:
            reads.add((v, r))
    return _Cost(frozenset(reads), steps + inner.steps)


def _fence_call(eqn: Eqn, least: float) -> _Fenced | None:
    """Return the fenced jaxpr of a call that XLA inlines."""
    subjaxprs = [v for v in eqn.params.values() if isinstance(v, (ClosedJaxpr, Jaxpr))]
    if len(subjaxprs) != 1:
        return None
    jaxpr = subjaxprs[0].jaxpr if isinstance(subjaxprs[0], ClosedJaxpr) else subjaxprs[0]
    same = len(jaxpr.invars) == len(eqn.invars) and len(jaxpr.outvars) == len(eqn.outvars)
    return _fenced(jaxpr, least) if same else None


def _move_behind_pads(jaxpr: Jaxpr, fences: set[Any]) -> set[Any]:
    """Return the fences, those read only by a pad moved behind it: the value is stored with its padding."""
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


def _ends_of_byte_chains(jaxpr: Jaxpr, kinds: Sequence[int]) -> set[Any]:
    """Choose the floats of one byte after which a fusion ends, so that none holds a long chain of them.

    Each operation on them is a conversion to a wider type and one back, of some 30 instructions with choices.
    A dozen in a row, and an exponential of the last, take LLVM minutes.
    """
    found: set[Any] = set()
    depths: dict[Any, int] = {}
    for eqn, kind in zip(jaxpr.eqns, kinds):
        if kind > Fusion.EXPENSIVE or len(eqn.outvars) != 1 or not _is_byte_float(eqn.outvars[0]):
            continue
        before = [depths.get(v, 0) for v in eqn.invars if type(v) is Var]
        depth = max(before, default=0) + 1
        if depth >= _BYTE_CHAIN:
            found.add(eqn.outvars[0])
            depth = 0
        depths[eqn.outvars[0]] = depth
    return found


def _is_byte_float(v: Any) -> bool:
    dtype = getattr(v.aval, "dtype", None)
    return getattr(dtype, "itemsize", 0) == 1 and dtypes.kind(dtype) == "f"


def _insert_fences(jaxpr: Jaxpr, eqns: Sequence[Eqn], fences: set[Any]) -> Jaxpr:
    behind: dict[Any, Var] = {}  # a value -> its fenced form

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
