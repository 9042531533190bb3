"""Fusion fences: sums that XLA would compute again for each reader are computed once.

XLA for the CPU merges a cheap operation into each operation that reads it, and so computes it as often
as it is read in different places. A residual stream is a chain of sums each of which many places read:
normalisations, their derivatives, the next sum. Merged into all of these the chain is computed from its
beginning at each of them, and the time to compile and to run grows with the square of the depth. An
optimization barrier after a sum stops that: it is written to memory once, and read.

The rule: a sum or difference of inexact numbers with at least 1,024 elements gets a fence if it would be
computed in two places or more. Where it would be computed is found from the last equation backwards. A
reduction is a place, so is a result of the program, and so is what no operation is merged with (a matrix
product, a convolution, a loop). An operation element by element, or one that only moves elements, is
computed where its readers are, unless it is fenced, or takes long (an exponential, a quotient) and has
several readers: XLA does not compute those again. Readers that meet in one place cost nothing: a formula
that uses a value twice stays one loop over memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sagax._src.control.call import jit_p
from sagax._src.control.conditional import cond_p
from sagax._src.control.custom_calls import custom_jvp_p, custom_vjp_p
from sagax._src.control.remat import remat_p
from sagax._src.control.scan import scan_p
from sagax._src.control.while_loop import while_p
from sagax._src.core import dims, dtypes
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from sagax._src.primitives.identities import optimization_barrier_p
from sagax._src.transforms.derived import derived

_LEAST_ELEMENTS = 1024  # below, a loop of its own costs more than computing again
_SUMS = frozenset(("add", "sub", "add_any"))
_MOVES = frozenset(
    (
        "broadcast_in_dim",
        "concatenate",
        "convert_element_type",
        "dynamic_slice",
        "pad",
        "reshape",
        "rev",
        "select_n",
        "slice",
        "split",
        "squeeze",
        "stack",
        "stop_gradient",
        "tile",
        "transpose",
        "unstack",
    )
)
_SLOW = frozenset(
    (
        "atan2",
        "cbrt",
        "cos",
        "div",
        "erf",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "logistic",
        "pow",
        "rem",
        "rsqrt",
        "sin",
        "sqrt",
        "tan",
        "tanh",
    )
)
# XLA puts the programs that these hold in their place; bodies of loops and branches it compiles apart.
_CALLS = frozenset((jit_p, custom_jvp_p, custom_vjp_p, remat_p))
_BODIES = frozenset((scan_p, while_p, cond_p))

_MOST_PLACES, _MOST_READS = 4, 8  # counted up to here: more are as good as these
# What writing an element costs, in reads of one: to memory, and while it stays in the processor's cache.
_WRITE, _WRITE_NEAR = 3.0, 0.5
_NEAR = 1 << 17  # bytes
_STEP = 0.05  # what computing costs, in reads, for each operation on the longest way to a value

Places = frozenset
_NOWHERE: Places = frozenset()


class _Fenced(NamedTuple):
    """A program with fences, and what one that calls it needs to know."""

    jaxpr: Jaxpr
    inputs: list[Places]  # where each input would be computed; ("out", k): where output k is
    open_sums: list[_Made | None]  # for outputs that are sums without a fence: from which inputs


class _Made(NamedTuple):
    """What it takes to compute an element of a value: the arrays to read, the operations in a row."""

    reads: frozenset
    steps: int


def fenced(jaxpr: Jaxpr) -> Jaxpr:
    """`jaxpr` with an optimization barrier after each sum that is better computed once."""
    return _fenced(jaxpr).jaxpr


def _fenced(jaxpr: Jaxpr) -> _Fenced:
    return derived(jaxpr, ("fusion fences",), lambda: _with_fences(jaxpr))


def _with_fences(jaxpr: Jaxpr) -> _Fenced:
    called = [_called(eqn) for eqn in jaxpr.eqns]
    sums = {
        v
        for eqn, inner in zip(jaxpr.eqns, called)
        for k, v in enumerate(eqn.outvars)
        if (eqn.primitive.name in _SUMS if inner is None else inner.open_sums[k] is not None)
    }
    large = {v for v in sums if _large(v.aval)}
    # Which sums are worth a fence depends on those before (what there is to compute again) and on those
    # after (in how many places); first every sum that is needed in two places is taken for fenced.
    places = _computed_in(jaxpr, called, large, None)
    fences, made = _worth_it(jaxpr, called, large, places)
    if fences:
        places = _computed_in(jaxpr, called, large, fences)
        fences, made = _worth_it(jaxpr, called, large, places)
    changed = [_inside(eqn) for eqn in jaxpr.eqns]
    found = jaxpr
    if fences or any(a is not b for a, b in zip(changed, jaxpr.eqns)):
        found = _rewritten(jaxpr, changed, fences)
    number = {v: k for k, v in enumerate(jaxpr.invars)}
    open_sums: list[_Made | None] = [None] * len(jaxpr.outvars)
    for k, v in enumerate(jaxpr.outvars):
        if v in sums and v not in fences:
            reads = [("in", number[r]) if r in number else r for r in made[v].reads]
            open_sums[k] = _Made(frozenset(reads), made[v].steps)
    return _Fenced(
        found,
        [places.get(v, _NOWHERE) for v in jaxpr.invars],
        open_sums,
    )


def _computed_in(
    jaxpr: Jaxpr, called: Sequence[_Fenced | None], large: set, fences: set | None
) -> dict[Any, Places]:
    """Where each value would be computed, with these fences (None: wherever two places need a sum)."""
    places: dict[Any, Places] = {}
    readers: dict[Any, int] = {}
    own: dict[
        Any, Places
    ] = {}  # of values that are computed once, where all their readers find them

    def computed(v: Any, where: Places) -> None:
        if type(v) is Var:
            before = places.get(v, _NOWHERE)
            if len(before) < _MOST_PLACES:
                places[v] = before | where
            readers[v] = readers.get(v, 0) + 1

    def of(v: Any) -> Places:
        return own[v] if v in own else places.get(v, _NOWHERE)

    for v, k in {v: k for k, v in enumerate(jaxpr.outvars) if type(v) is Var}.items():
        computed(v, frozenset({("out", k)}))
    for number in range(len(jaxpr.eqns) - 1, -1, -1):
        eqn, inner = jaxpr.eqns[number], called[number]
        name = eqn.primitive.name
        for v in eqn.outvars:
            if v in large and (len(places.get(v, ())) > 1 if fences is None else v in fences):
                own[v] = frozenset({v})
            elif name in _SLOW and readers.get(v, 0) > 1:
                own[v] = frozenset({v})
        if inner is not None:
            for v, inside in zip(eqn.invars, inner.inputs):
                where: Places = frozenset()
                for p in inside:
                    passed = isinstance(p, tuple) and p[0] == "out"
                    where |= of(eqn.outvars[p[1]]) if passed else {(number, p)}
                computed(v, where)
        elif eqn.primitive.elementwise or name in _MOVES:
            first = eqn.outvars[0]
            where = of(first)
            for v in eqn.outvars[1:]:
                where |= of(v)
            for v in eqn.invars:
                computed(v, where)
        elif name.startswith(("reduce_", "arg")):
            for v in eqn.invars:
                computed(v, frozenset({number}))
        else:
            for v in eqn.invars:
                computed(v, frozenset({v}))
    return places


def _worth_it(
    jaxpr: Jaxpr, called: Sequence[_Fenced | None], large: set, places: dict[Any, Places]
) -> tuple[set, dict[Any, _Made]]:
    """The sums that cost more to compute again than to write and to read; what it takes to compute the others."""
    fences: set[Any] = set()
    results = {v for v in jaxpr.outvars if type(v) is Var}
    made: dict[Any, _Made] = {}

    def of(v: Any) -> _Made:
        return made[v] if v in made else _Made(frozenset({v}), 0)

    for eqn, inner in zip(jaxpr.eqns, called):
        name = eqn.primitive.name
        merged = inner is None and (eqn.primitive.elementwise or name in _MOVES)
        if merged and name not in _SLOW:
            reads: frozenset = frozenset()
            steps = 0
            for v in eqn.invars:
                if type(v) is Var:
                    m = of(v)
                    if len(reads) < _MOST_READS:
                        reads |= m.reads
                    steps = max(steps, m.steps)
            found = _Made(reads, steps + (name not in _MOVES))
            for v in eqn.outvars:
                made[v] = found
        for k, v in enumerate(eqn.outvars):
            through = None if inner is None else inner.open_sums[k]
            if through is not None:
                made[v] = _through(through, v, eqn.invars, of)
            if v not in large:
                continue
            where = places.get(v, _NOWHERE)
            again = (len(where) - 1) * (len(made[v].reads) + _STEP * made[v].steps)
            if v in where or v in results:
                once = float(len(where) - 1)  # it is written in any case
            else:
                once = len(where) + (_WRITE if _bytes(v.aval) > _NEAR else _WRITE_NEAR)
            if again > once:
                fences.add(v)
                del made[v]
    return fences, made


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


def _called(eqn: Eqn) -> _Fenced | None:
    """What is known of the program that XLA puts in the place of an equation."""
    if eqn.primitive not in _CALLS:
        return None
    held = [v for v in eqn.params.values() if isinstance(v, (ClosedJaxpr, Jaxpr))]
    if len(held) != 1:
        return None
    jaxpr = held[0].jaxpr if isinstance(held[0], ClosedJaxpr) else held[0]
    same = len(jaxpr.invars) == len(eqn.invars) and len(jaxpr.outvars) == len(eqn.outvars)
    return _fenced(jaxpr) if same else None


def _bytes(aval: Any) -> int:
    return aval.size * aval.dtype.itemsize


def _large(aval: Any) -> bool:
    return (
        dtypes.is_inexact(aval.dtype)
        and dims.is_static(aval.shape)
        and aval.size >= _LEAST_ELEMENTS
    )


def _inside(eqn: Eqn) -> Eqn:
    """The equation with fences in the programs that it holds."""
    if eqn.primitive not in _CALLS and eqn.primitive not in _BODIES:
        return eqn
    params = {name: _in_parameter(value) for name, value in eqn.params.items()}
    if all(params[name] is value for name, value in eqn.params.items()):
        return eqn
    return eqn.replace(params=params)


def _in_parameter(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        found = fenced(value.jaxpr)
        return value if found is value.jaxpr else ClosedJaxpr(found, value.consts)
    if isinstance(value, Jaxpr):
        return fenced(value)
    if isinstance(value, tuple) and value and isinstance(value[0], (ClosedJaxpr, Jaxpr)):
        found = tuple([_in_parameter(v) for v in value])
        return value if all(a is b for a, b in zip(found, value)) else found
    return value


def _rewritten(jaxpr: Jaxpr, eqns: Sequence[Eqn], fences: set[Any]) -> Jaxpr:
    behind: dict[Any, Var] = {}  # a sum -> the same behind its fence

    def read(atoms: Sequence[Any]) -> list:
        return [behind.get(v, v) if type(v) is Var else v for v in atoms]

    out: list[Eqn] = []
    for eqn in eqns:
        if any(type(v) is Var and v in behind for v in eqn.invars):
            eqn = eqn.replace(invars=read(eqn.invars))
        out.append(eqn)
        for v in eqn.outvars:
            if v in fences:
                after = behind[v] = Var(v.aval)
                out.append(
                    Eqn(
                        optimization_barrier_p,
                        [v],
                        [after],
                        {},
                        traceback=eqn.traceback,
                        scope=eqn.scope,
                    )
                )
    return jaxpr.replace(eqns=out, outvars=read(jaxpr.outvars))
