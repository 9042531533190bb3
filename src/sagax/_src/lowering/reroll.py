"""Reroll loops: turn iterations that Python unrolled while tracing into one scan.

A Python loop leaves its body in the jaxpr once for each iteration, and the compiler works on each of them.
This pass finds the iterations: repeated sequences of equations, equal up to the names of variables. An
operand of an equation falls into one of three classes. It is the same in every iteration (a constant of the
scan). It comes from the same equation of this iteration or of the previous one (the carry). Or it existed
before the loop and differs between iterations (a sequence: a slice of one array if possible, otherwise
stacked). Values that are read after the loop are the last carry or a stacked result. Results are equal up
to rounding.

A scan costs some microseconds per iteration, and an unrolled loop the compilation of each: only long loops
are rolled, and only if little has to be stacked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from sagax._src.higher_order.trace_cache import parameter_key
from sagax._src.lazy_import import lazy_imports
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.shaping import rev_p, stack_p, unstack_p
from sagax._src.primitives.slicing import slice_p
from sagax._src.primitives.structural import broadcast_in_dim_p, reshape_p, squeeze_p, transpose_p
from sagax._src.transforms.derived import derived
from sagax._src.transforms.prune import prune_jaxpr

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import scan as scanning
    from sagax._src.primitives import convolution


_VIEWS = frozenset((slice_p, squeeze_p, reshape_p))


def rerolled(jaxpr: Jaxpr) -> Jaxpr:
    """Rewrite long repetitions in `jaxpr` as scans, also in its sub-jaxprs."""
    return derived(jaxpr, (memo_keys.REROLLED,), lambda: _rerolled(jaxpr))


def _rerolled(jaxpr: Jaxpr) -> Jaxpr:
    eqns = within(jaxpr.eqns, rerolled)
    if eqns is not jaxpr.eqns:
        jaxpr = jaxpr.replace(eqns=eqns)
    if len(eqns) < tuning.REROLL_MIN_EQUATIONS or not _static(jaxpr) or not _may_repeat(eqns):
        return jaxpr
    least = tuning.REROLL_MIN_EQUATIONS
    for _ in range(tuning.REROLL_MAX_LOOPS):
        rolled = _with_one_loop(jaxpr, least)
        if rolled is None:
            break
        jaxpr, least = rolled, tuning.REROLL_MIN_EQUATIONS_NEXT
    return jaxpr


def _static(jaxpr: Jaxpr) -> bool:
    return all(dims.is_static(getattr(v.aval, "shape", ())) for v in jaxpr.invars)


def _takes_a_row(eqn: Eqn) -> bool:
    """Return whether an equation takes one index of one dimension."""
    if eqn.primitive is not slice_p:
        return False
    shape, out = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    return [m for n, m in zip(shape, out) if n != m] == [1]


# -- the equations in the order in which they repeat ------------------------------------------------


class _RerollGraph:
    """Hold the equations of a jaxpr, without the views of its inputs and of unstacked arrays."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.eqns: list[Eqn] = []
        self.views: dict[
            Any, tuple[Any, list[Eqn]]
        ] = {}  # a view -> its root, the equations between them
        self.hanging: dict[Any, list[Eqn]] = {}  # a root -> the equations of its views, in order
        self.parts: dict[Any, tuple[Any, int, int]] = {}  # of an unstacked array: it, axis, index
        # a variable -> its equation, its position among the results
        self.defined: dict[Any, tuple[int, int]] = {}
        roots = {*jaxpr.constvars, *jaxpr.invars}
        rows = Counter(eqn.invars[0] for eqn in jaxpr.eqns if _takes_a_row(eqn))
        for eqn in jaxpr.eqns:
            source = eqn.invars[0] if eqn.invars else None
            if eqn.primitive in _VIEWS and (source in roots or source in self.views):
                root, steps = self.views.get(source, (source, []))
                self.views[eqn.outvars[0]] = root, [*steps, eqn]
                self.hanging.setdefault(root, []).append(eqn)
                continue
            for k, v in enumerate(eqn.outvars):
                self.defined[v] = len(self.eqns), k
                if eqn.primitive is unstack_p:
                    self.parts[v] = source, eqn.params["axis"], k
            roots.update([v for v in eqn.outvars if rows[v] >= tuning.REROLL_MIN_ITERATIONS])
            self.eqns.append(eqn)

    def with_views(self, eqns: Iterable[Eqn]) -> list[Eqn]:
        """Return equations, each followed by the views of its results."""
        out: list[Eqn] = []
        for eqn in eqns:
            out.append(eqn)
            for v in eqn.outvars:
                out += self.hanging.get(v, ())
        return out

    def views_of_inputs(self) -> list[Eqn]:
        inputs = (*self.jaxpr.constvars, *self.jaxpr.invars)
        return [eqn for v in inputs for eqn in self.hanging.get(v, ())]


def _codes(eqns: Sequence[Eqn]) -> list[int]:
    """Number each equation; equal numbers differ in variables and values of literals only."""
    numbers: dict[Any, int] = {}
    codes = []
    for i, eqn in enumerate(eqns):
        key: Any = i
        if not eqn.effects and eqn.outvars:
            operands = tuple([(type(v) is Literal, v.aval) for v in eqn.invars])
            try:
                params = tuple([(n, parameter_key(p)) for n, p in eqn.params.items()])
                key = (eqn.primitive, params, operands, *[v.aval for v in eqn.outvars])
                hash(key)
            except TypeError:  # an unhashable parameter
                key = i
        codes.append(numbers.setdefault(key, len(numbers)))
    return codes


def _may_repeat(eqns: Sequence[Eqn]) -> bool:
    """Return whether there are long repetitions if only primitives and types are compared."""
    numbers: dict[Any, int] = {}
    codes = []
    for eqn in eqns:
        if eqn.primitive not in _VIEWS:
            key = (eqn.primitive, len(eqn.invars), *[v.aval for v in eqn.outvars])
            codes.append(numbers.setdefault(key, len(numbers)))
    return _often(codes) and bool(_stretches(codes))


def _often(codes: Sequence[int]) -> bool:
    """Return whether a run of codes, each frequent enough for a loop, has one in that run."""
    total = Counter(codes)
    begin = 0
    for end, code in enumerate((*codes, None)):
        if code is None or total[code] < tuning.REROLL_MIN_ITERATIONS:
            row = codes[begin:end]
            if (
                len(row) >= tuning.REROLL_MIN_ITERATIONS
                and max(Counter(row).values()) >= tuning.REROLL_MIN_ITERATIONS
            ):
                return True
            begin = end + 1
    return False


class _Stretch(NamedTuple):
    """A range of equations that repeat those `period` before them, from `start + period` to `stop`."""

    start: int
    stop: int
    period: int


def _stretches(codes: Sequence[int]) -> list[_Stretch]:
    """Find ranges of repeated codes: of overlapping ones the longest, in their order in the jaxpr.

    The first comes first: once it is rolled, a later loop may read slices of its results.
    """
    n = len(codes)
    last: dict[Any, int] = {}
    distances: Counter[int] = Counter()
    for i in range(n - tuning.REROLL_WINDOW + 1):
        window = tuple(codes[i : i + tuning.REROLL_WINDOW])
        if window in last:
            distances[i - last[window]] += 1
        last[window] = i
    found = []
    for period, _ in distances.most_common(tuning.REROLL_MAX_PERIODS):
        i = 0
        while i + period < n:
            j = i
            while j + period < n and codes[j] == codes[j + period]:
                j += 1
            if (j - i) // period + 1 >= tuning.REROLL_MIN_ITERATIONS:
                found.append(_Stretch(i, j + period, period))
            i = j + 1
    chosen: list[_Stretch] = []
    for s in sorted(found, key=lambda s: (s.start - s.stop, s.period)):
        if all(s.stop <= other.start or other.stop <= s.start for other in chosen):
            chosen.append(s)
    return sorted(chosen)


def _with_one_loop(jaxpr: Jaxpr, least: int) -> Jaxpr | None:
    graph = _RerollGraph(jaxpr)
    stretches = _stretches(_codes(graph.eqns))
    if sum(s.stop - s.start for s in stretches) < least:
        return None
    for stretch in stretches:
        iterations = _find_iterations(graph, stretch)
        if iterations is not None and _large_products(
            graph.eqns[iterations[0] : iterations[0] + iterations[1]]
        ):
            continue
        loop = (
            None
            if iterations is None
            else _loop(graph, *iterations, tuning.REROLL_MIN_EQUATIONS_NEXT)
        )
        if loop is not None:
            return prune_jaxpr(loop)
    return None


def _large_products(eqns: Sequence[Eqn]) -> bool:
    """Return whether an iteration multiplies matrices that are not small, or convolves."""
    count = 0
    for eqn in eqns:
        if eqn.primitive is convolution.conv_general_dilated_p:
            return True
        if eqn.primitive is dot_general_p:
            summed = eqn.params["dimension_numbers"][0][0]
            shape = eqn.invars[0].aval.shape
            count += eqn.outvars[0].aval.size * math.prod([shape[d] for d in summed])
    return count > tuning.REROLL_MAX_MULTIPLICATIONS


# -- iterations -------------------------------------------------------------------------------------


def _find_iterations(graph: _RerollGraph, stretch: _Stretch) -> tuple[int, int, int] | None:
    """Find the loop in a stretch: its first equation, the length of an iteration, the number of iterations.

    It is the longest interval in which each operand is one of three: the same value as one iteration
    before, the result of the same equation one iteration later, or a value from before the stretch.
    """
    eqns, defined = graph.eqns, graph.defined
    start, stop, period = stretch
    for _ in range(4):
        intervals, late = _matching_intervals(graph, start, stop, period)
        if not intervals:
            return None
        begin, end = max(intervals, key=lambda interval: interval[1] - interval[0])
        if (end - begin) // period >= tuning.REROLL_MIN_ITERATIONS - 1 or late < 0:
            break
        start = (
            late + 1
        )  # all later iterations read a value that is computed inside: begin after it
    begin -= period
    best = 0, 0
    for offset in _least_carried(eqns, defined, begin, end, period):
        first = begin + offset
        iterations = (end - first) // period
        # The previous iteration often fits too: its operands of an earlier one become the initial carry.
        if first - period >= start and _fits_before(graph, first, period):
            first, iterations = first - period, iterations + 1
        best = max(best, (iterations, -first))
    iterations, first = best[0], -best[1]
    return (first, period, iterations) if iterations >= tuning.REROLL_MIN_ITERATIONS else None


def _matching_intervals(
    graph: _RerollGraph, start: int, stop: int, period: int
) -> tuple[list[tuple[int, int]], int]:
    """Find the intervals in which equations match those of the previous iteration; the last shared value inside."""
    intervals: list[tuple[int, int]] = []
    late = -1
    begin = start + period
    for i in range(start + period, stop):
        good = True
        for a, b in zip(graph.eqns[i - period].invars, graph.eqns[i].invars):
            if type(a) is Literal or type(b) is Literal:
                continue
            at = graph.defined.get(b, (-1, 0))
            if at[0] < start:
                good = graph.defined.get(a, (-1, 0))[0] < start
            elif a is b:
                late, good = max(late, at[0]), False
            else:
                good = graph.defined.get(a) == (at[0] - period, at[1])
            if not good:
                break
        if not good:
            if i > begin:
                intervals.append((begin, i))
            begin = i + 1
    if stop > begin:
        intervals.append((begin, stop))
    return intervals, late


def _fits_before(graph: _RerollGraph, begin: int, period: int) -> bool:
    """Return whether the loop may begin one iteration earlier than `begin`."""
    first, defined = begin - period, graph.defined
    for i in range(begin, begin + period):
        for a, b in zip(graph.eqns[i - period].invars, graph.eqns[i].invars):
            if type(a) is Literal or type(b) is Literal:
                continue
            before, at = defined.get(a, (-1, 0)), defined.get(b, (-1, 0))
            if at[0] >= begin and before != (at[0] - period, at[1]):
                return False
            if at[0] < begin and before[0] >= first:
                return False
            if first <= at[0] < begin and not _same_type(a, b):
                return False
    return True


def _least_carried(
    eqns: Sequence[Eqn], defined: dict, begin: int, end: int, period: int
) -> list[int]:
    """Find the start of an iteration with the fewest bytes of carry."""
    last: dict[Any, int] = {}
    for i in range(end - period, end):
        for v in eqns[i].invars:
            if type(v) is Var and defined.get(v, (-1, 0))[0] >= begin:
                last[v] = i
    across = [0.0] * period
    for v, reader in last.items():
        maker = defined[v][0]
        if reader - maker > 2 * period:
            return []
        for x in range(maker + 1, reader + 1):
            # more than an iteration later it would be a value of the iteration before the last one
            late = x > maker + period
            across[(x - begin) % period] += math.inf if late else 1 + _bytes(v.aval)
    least = min(across)
    return [] if least == math.inf else [x for x in range(period) if across[x] == least]


def _bytes(aval: Any) -> float:
    return float(dims.size(aval.shape)) * getattr(aval.dtype, "itemsize", 8)


def _same_type(a: Any, b: Any) -> bool:
    return a.aval.shape == b.aval.shape and a.aval.dtype == b.aval.dtype


# -- the loop ---------------------------------------------------------------------------------------


class _Builder:
    """Build the equations before and after the loop."""

    def __init__(self) -> None:
        self.eqns: list[Eqn] = []

    def __call__(self, primitive: Any, operands: list, **params: Any) -> Var:
        aval = primitive.abstract_eval(tuple([v.aval for v in operands]), params)
        out = Var(aval)
        self.eqns.append(Eqn(primitive, operands, [out], params))
        return out


class _Inputs:
    """Create variables of the body for its inputs, one for each distinct input."""

    def __init__(self) -> None:
        self.known: dict[Any, Var] = {}
        self.operands: list[Any] = []

    def variable(self, key: Any, operands: Any, aval: Any) -> Var:
        if key not in self.known:
            self.known[key] = Var(aval)
            self.operands.append(operands)
        return self.known[key]


def _loop(
    graph: _RerollGraph, begin: int, period: int, iterations: int, least: int
) -> Jaxpr | None:
    """Return the jaxpr with these iterations as a scan; None if that would not pay."""
    jaxpr, eqns, defined = graph.jaxpr, graph.eqns, graph.defined
    end = begin + period * iterations

    def in_iteration(v: Any, k: int) -> bool:
        return begin + k * period <= defined.get(v, (-1, 0))[0] < begin + (k + 1) * period

    consts, carries, sequences = _Inputs(), _Inputs(), _Inputs()
    inside: dict[Any, Var] = {}  # a result of iteration 1 -> the body's variable
    body: list[Eqn] = []
    for j in range(begin, begin + period):
        template = eqns[j + period]
        operands: list[Any] = []
        for q, v in enumerate(template.invars):
            every = [eqns[j + k * period].invars[q] for k in range(iterations)]
            if type(v) is Literal:
                if all(_equal(x, v) for x in every):
                    operands.append(v)
                else:
                    key = tuple([_bits(x) for x in every])
                    operands.append(sequences.variable(key, every, v.aval))
            elif in_iteration(v, 1):
                operands.append(inside[v])
            elif in_iteration(v, 0):
                operands.append(carries.variable((v, every[0]), (v, every[0]), v.aval))
            elif all(x is v for x in every):
                operands.append(consts.variable(v, v, v.aval))
            else:
                operands.append(sequences.variable(tuple(every), every, v.aval))
        results = [Var(v.aval) for v in template.outvars]
        inside.update(zip(template.outvars, results))
        body.append(template.replace(invars=operands, outvars=results))

    def output(v: Any) -> Var:
        """Return the body's variable for `v` of iteration 0."""
        at, k = defined[v]
        return inside[eqns[at + period].outvars[k]]

    if any(not _same_type(output(v), init) for v, init in carries.operands):
        return None
    if iterations > tuning.REROLL_MIN_ITERATIONS:
        # The first or last iteration may read something else than the slice that the others read.
        for every in sequences.operands:
            if _slice_of(graph, every) is None:
                if _slice_of(graph, every[:-1]) is not None:
                    return _loop(graph, begin, period, iterations - 1, least)
                if _slice_of(graph, every[1:]) is not None:
                    return _loop(graph, begin + period, period, iterations - 1, least)
    before = _Builder()
    stacked, reverse = _stacked(graph, before, sequences.operands, iterations)
    if stacked is None:
        return None
    if sum(_bytes(init.aval) for _, init in carries.operands) > tuning.REROLL_MAX_SMALL_CARRY:
        least = tuning.REROLL_MIN_EQUATIONS_LARGE_CARRY
    if iterations * period < least:
        return None
    read_after = _results_read_after(graph, begin, end)
    final: list[Any] = [None] * len(carries.operands)  # the results of the scan that are carries
    carried = {eqns[defined[v][0] + period * (iterations - 1)].outvars[defined[v][1]]: i
               for i, (v, _) in enumerate(carries.operands)}  # fmt: skip
    # of iteration 0's variables: iterations that are read after the loop
    collected: dict[Any, list[tuple[int, Any]]] = {}
    inits = [init for _, init in carries.operands]
    next_carry = [output(v) for v, _ in carries.operands]
    unread: list[Var] = []
    for v in read_after:
        at, k = defined[v]
        number, offset_in_body = divmod(at - begin, period)
        zeroth = eqns[begin + offset_in_body].outvars[k]
        if _varies(read_after, eqns, begin, offset_in_body, k, period, iterations):
            collected.setdefault(zeroth, []).append((number, v))
        elif v in carried:
            final[carried[v]] = v
        else:
            if dtypes.is_extended(v.aval.dtype):
                return None
            zero = Literal(
                np.zeros((), v.aval.dtype)[()], intern_aval((), v.aval.dtype, False, None)
            )
            shape = v.aval.shape
            blank = before(broadcast_in_dim_p, [zero], **_broadcast_params(shape))
            inits.append(blank)
            unread.append(Var(v.aval))
            next_carry.append(output(zeroth))
            final.append(v)
    # rows that are read one by one after the loop, and those that are stacked before, take equations too
    separate = iterations * sum(eqn.primitive is stack_p for eqn in before.eqns)
    if separate + 2 * sum(map(len, collected.values())) >= iterations * period:
        return None
    ys = [output(v) for v in collected]
    invars = [*consts.known.values(), *carries.known.values(), *unread, *sequences.known.values()]
    inner = Jaxpr([], invars, [*next_carry, *ys], body, debug_info=jaxpr.debug_info)
    carry_out = [Var(o.aval) if v is None else v for v, o in zip(final, next_carry)]
    wholes = [Var(v.aval.update(shape=(iterations, *v.aval.shape))) for v in collected]
    scan = Eqn(
        scanning.scan_p,
        [*consts.operands, *inits, *stacked],
        [*carry_out, *wholes],
        {
            "jaxpr": ClosedJaxpr(inner, ()),
            "length": iterations,
            "reverse": reverse,
            "unroll": 1,
            "num_consts": len(consts.operands),
            "num_carry": len(inits),
        },
        traceback=eqns[begin].traceback,
        scope=eqns[begin].scope,
    )
    after: list[Eqn] = []
    for whole, rows in zip(wholes, collected.values()):
        for number, v in rows:
            after += _row(whole, iterations - 1 - number if reverse else number, v)
    return jaxpr.replace(
        eqns=[
            *graph.views_of_inputs(),
            *graph.with_views(eqns[:begin]),
            *before.eqns,
            scan,
            *after,
            *graph.with_views(eqns[end:]),
        ]
    )


def _results_read_after(graph: _RerollGraph, begin: int, end: int) -> dict[Any, None]:
    """Return the results of the equations from `begin` to `end` that are read elsewhere, in order."""
    found: dict[Any, None] = {}
    readers = [v for eqn in graph.eqns[end:] for v in eqn.invars]
    for v in (*readers, *graph.jaxpr.outvars):
        if type(v) is Var and begin <= graph.defined.get(v, (-1, 0))[0] < end:
            found[v] = None
    return found


def _varies(
    read: dict,
    eqns: Sequence[Eqn],
    begin: int,
    offset_in_body: int,
    k: int,
    period: int,
    iterations: int,
) -> bool:
    """Return whether also an earlier iteration's result of this equation is read."""
    earlier = (eqns[begin + offset_in_body + n * period].outvars[k] for n in range(iterations - 1))
    return any(v in read for v in earlier)


def _row(whole: Var, number: int, v: Var) -> list[Eqn]:
    """Build the equations that compute `v` as row `number` of `whole`."""
    shape = whole.aval.shape
    row = Var(v.aval.update(shape=(1, *shape[1:])))
    start, limit = (number, *[0] * (len(shape) - 1)), (number + 1, *shape[1:])
    return [
        Eqn(
            slice_p,
            [whole],
            [row],
            {"start_indices": start, "limit_indices": limit, "strides": None},
        ),
        Eqn(squeeze_p, [row], [v], {"dimensions": (0,)}),
    ]


def _bits(x: Literal) -> tuple:
    return x.aval, np.asarray(x.val, x.aval.dtype).tobytes()


def _equal(x: Literal, y: Literal) -> bool:
    return x.val is y.val or _bits(x) == _bits(y)


def _broadcast_params(shape: tuple) -> dict[str, Any]:
    return {"shape": shape, "broadcast_dimensions": ()}


# -- sequences --------------------------------------------------------------------------------------


def _stacked(
    graph: _RerollGraph, before: _Builder, sequences: Sequence[list], iterations: int
) -> tuple[list | None, bool]:
    """Return each sequence as one array, and whether the scan runs through them backwards.

    None if too much would have to be copied.
    """
    slices = [_slice_of(graph, every) for every in sequences]
    steps = [found[2] for found in slices if found is not None]
    reverse = bool(steps) and all(s < 0 for s in steps)
    copied = 0.0
    out = []
    for every, found in zip(sequences, slices):
        if found is None:
            copied += _bytes(every[0].aval) * iterations
            if copied > tuning.REROLL_MAX_STACKED_BYTES or dtypes.is_extended(every[0].aval.dtype):
                return None, False
            out.append(before(stack_p, every[::-1] if reverse else list(every), axis=0))
        else:
            out.append(_as_slice(before, *found, every[0].aval, iterations, reverse))
    return out, reverse


def _slice_of(graph: _RerollGraph, every: Sequence[Any]) -> tuple[Any, int, int, int] | None:
    """Return array, first index, step and axis, if the values are its slices at equal distances."""
    numbers = []
    first: tuple | None = None
    for v in every:
        if type(v) is not Var:
            return None
        if v in graph.parts:
            root, axis, number = graph.parts[v]
            about: tuple = (root, axis, "part")
        else:
            taken = _one_slice(graph, v)
            if taken is None:
                return None
            root, axis, number, shape = taken
            about = (root, axis, *shape)
        if first is None:
            first = about
        elif about != first:
            return None
        numbers.append(number)
    assert first is not None
    step = numbers[1] - numbers[0]
    if step == 0 or any(b - a != step for a, b in zip(numbers, numbers[1:])):
        return None
    return first[0], numbers[0], step, first[1]


def _one_slice(graph: _RerollGraph, v: Any) -> tuple[Any, int, int, tuple] | None:
    """Return array, axis, index and the intermediate shapes, if `v` is one row of an array."""
    root, steps = graph.views.get(v, (None, []))
    if not steps or steps[0].primitive is not slice_p:
        return None
    if any(eqn.primitive is slice_p for eqn in steps[1:]):
        return None
    params = steps[0].params
    start, limit, shape = params["start_indices"], params["limit_indices"], root.aval.shape
    if params["strides"] is not None and any(s != 1 for s in params["strides"]):
        return None
    cut = [i for i, size in enumerate(shape) if (start[i], limit[i]) != (0, size)]
    if len(cut) != 1 or limit[cut[0]] - start[cut[0]] != 1:
        return None
    return root, cut[0], start[cut[0]], tuple([eqn.outvars[0].aval.shape for eqn in steps])


def _as_slice(
    before: _Builder,
    root: Any,
    first: int,
    step: int,
    axis: int,
    aval: Any,
    iterations: int,
    reverse: bool,
) -> Any:
    """Slice `first`, `first + step`, ... of an axis, along a new first one; `reverse`: the last first."""
    last = first + step * (iterations - 1)
    low, high = min(first, last), max(first, last)
    shape = root.aval.shape
    x = root
    if (low, high + 1, abs(step)) != (0, shape[axis], 1):
        start = tuple([low if i == axis else 0 for i in range(len(shape))])
        limit = tuple([high + 1 if i == axis else n for i, n in enumerate(shape)])
        strides = tuple([abs(step) if i == axis else 1 for i in range(len(shape))])
        x = before(slice_p, [x], start_indices=start, limit_indices=limit, strides=strides)
    if (step < 0) != reverse:
        x = before(rev_p, [x], dimensions=(axis,))
    if axis:
        order = (axis, *[i for i in range(len(shape)) if i != axis])
        x = before(transpose_p, [x], permutation=order)
    stacked = (iterations, *aval.shape)
    return x if x.aval.shape == stacked else before(reshape_p, [x], new_sizes=stacked)
