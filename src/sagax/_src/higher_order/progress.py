"""Count the iterations of a loop for a progress bar, at no cost for each iteration.

A call primitive marks a jaxpr whose first loop has a bar. Such a loop is lowered as a loop of loops: the inner
one runs as many iterations as the host asked for. Its body stays the same, and so do its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import OPAQUE
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import set_zero_derivative
from sagax._src.core.value import aval_of
from sagax._src.diagnostics import loop_bars
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.higher_order.call import bind_call, call_primitive
from sagax._src.primitives.arithmetic import min as min_
from sagax._src.primitives.arithmetic import sub
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.reductions import reduce_max
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import full_like
from sagax._src.primitives.structural import convert, moveaxis
from sagax._src.transforms.derived import derived, derived_jaxpr

COUNTER = intern_aval((), dtypes.int32, False, None)
_MOST = int(np.iinfo(np.int32).max)


class Bar(NamedTuple):
    """Name a loop and the number of its iterations; None where only the running loop knows."""

    name: str
    total: int | None


def bar_of(function: str, body: Callable, progress: Any, total: Any) -> Bar | None:
    """Check the argument `progress`; return the bar of a loop of `total` iterations, or None.

    Raises ArgumentError if `progress` is neither a bool nor a text, and ArgumentValueError if `total` is symbolic.
    """
    if not isinstance(progress, (bool, np.bool_, str)):
        expected = "a bool, or a text that names the bar"
        raise ArgumentError.about(function, "progress", progress, expected)
    if not progress:
        return None
    if dims.is_dim(total):
        raise ArgumentValueError(
            "a progress bar needs to know the number of iterations",
            function=f"{function} of {function_name(body)}",
            argument="progress",
            got=f"a loop of {total} iterations, a symbolic size",
            expected="a number of iterations",
            fix="leave out progress where sizes are symbolic",
        )
    return Bar(progress if isinstance(progress, str) else function_name(body), total)


def iterate(bar: Bar | None, numbers: range) -> Iterable[int]:
    """Iterate over the numbers of a loop that Python runs, with a bar if there is one."""
    return numbers if bar is None else loop_bars.iterate(bar.name, numbers)


# --- the mark -----------------------------------------------------------------------------------------

# `bar` is None in derivatives that are computed apart.
progress_p = call_primitive("progress", lambda params: {**params, "bar": None})


@progress_p.show
def _(*, jaxpr: ClosedJaxpr, bar: Bar | None) -> dict:
    return {"bar": None if bar is None else bar.name, "jaxpr": jaxpr}


@progress_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, bar: Bar | None) -> list:
    if bar is None or not b.module.has_bars:
        return b.call(jaxpr.jaxpr, args, "progress")
    outer, b.module.bar = b.module.bar, (bar, b, None)
    try:
        return b.inline(jaxpr.jaxpr, args)
    finally:
        b.module.bar = outer


def with_bar(
    bar: Bar, body: Jaxpr, key: tuple, fun: Callable[..., list], operands: Sequence[Any]
) -> list:
    """Call the flat function `fun`, whose first loop shows `bar`; `key` tells what it does with the loop's body."""
    avals = list(map(aval_of, operands))
    (closed,) = derived_jaxpr(body, (memo_keys.WITH_BAR, bar, *key, *avals), fun, avals)
    return bind_call(progress_p, closed, operands, bar=bar)


def mark_recomputed(eqn: Eqn) -> Eqn:
    """Return an equation that runs a second time, for a backward pass: the bars in it say so."""
    if not eqn.primitive.is_higher_order:
        return eqn
    params = {name: _marked(value) for name, value in eqn.params.items()}
    if eqn.primitive is progress_p and params["bar"] is not None:
        bar = params["bar"]
        params["bar"] = bar._replace(name=f"{bar.name.removesuffix(_AGAIN)}{_AGAIN}")
    if all(params[name] is value for name, value in eqn.params.items()):
        return eqn
    return eqn.replace(params=params)


_AGAIN = " (again)"


def _marked(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        found = _marked(value.jaxpr)
        return value if found is value.jaxpr else ClosedJaxpr(found, value.consts)
    if isinstance(value, Jaxpr):
        return derived(value, (memo_keys.RECOMPUTED,), lambda: _marked_jaxpr(value))
    if isinstance(value, tuple) and value and isinstance(value[0], (ClosedJaxpr, Jaxpr)):
        found = tuple(map(_marked, value))
        return value if all(a is b for a, b in zip(found, value, strict=True)) else found
    return value


def _marked_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    eqns = list(map(mark_recomputed, jaxpr.eqns))
    if all(a is b for a, b in zip(eqns, jaxpr.eqns, strict=True)):
        return jaxpr
    return jaxpr.replace(eqns=eqns)


# --- numbers of iterations that only the running loop knows -----------------------------------------------

# It returns its second operand, and tells the bar of the next loop the first one.
iterations_p = Primitive("iterations", family=OPAQUE, is_higher_order=True)
iterations_p.abstract_rule = lambda n, first: first
iterations_p.reference_rule = lambda n, first: first
iterations_p.impl = lambda n, first: first
set_zero_derivative(iterations_p)


@iterations_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    (n, first), (d, of_first) = args, in_dims
    longest = n if d is None else reduce_max(moveaxis(n, d, 0), (0,))
    return iterations_p.bind(longest, first), of_first


@iterations_p.lower
def _(b: Any, n: Any, first: Any) -> Any:
    if b.module.bar is not None:
        b.module.bar = (*b.module.bar[:2], n)
    return first


def iterations(lower: Any, upper: Any, most: int | None) -> Any:
    """Return the number of iterations between traced bounds, as int32."""
    count = select_n(lt(lower, upper), full_like(upper, 0), sub(upper, lower))
    info = np.iinfo(aval_of(upper).dtype)
    limit = min(_MOST if most is None else most, int(info.max))
    return convert(min_(count, np.asarray(limit, info.dtype)[()]), COUNTER.dtype)


# --- lowering --------------------------------------------------------------------------------------------


def take_bar(b: Any, length: int | None) -> Callable[..., list] | None:
    """Return a function that asks the host: (run, done) -> [run, iterations to run now]; None without a bar.

    `length` is the loop's number of iterations, if it is known: it may differ from the bar's.
    """
    if b.module.bar is None:
        return None
    (bar, builder, announced), b.module.bar = b.module.bar, None
    if announced is not None and builder is b:
        total = announced
        known = None
    else:
        known = length if bar.total is None else bar.total
        total = b.constant(0 if known is None else known, COUNTER.dtype)
    counts_to = length or known or _MOST
    counted = loop_bars.LoopBar(bar.name, counts_to, known)

    def call(run: Any, done: Any, total: Any, device: Any) -> tuple:
        if device:  # of several devices that run the same loop one shows it
            return np.int32(-1), np.int32(counted.length)
        found = counted.request(int(run), int(done), int(total))
        return np.int32(found[0]), np.int32(found[1])

    call.__name__ = "progress"

    def request(run: Any, done: Any) -> list:
        device = b.constant(0, COUNTER.dtype)
        if b.module.manual is not None:
            device = b.convert(b.op("partition_id", [], _HERE), COUNTER.dtype)
        operands = [run, done, total, device]
        return b.callback(call, operands, [COUNTER, COUNTER], has_side_effect=True)

    return request


_HERE = intern_aval((), dtypes.uint32, False, None)


def lower_scan(b: Any, request: Callable, length: int, init: list, step: Callable) -> list:
    """Lower a loop whose state begins with its index, which counts to `length`, with a bar."""
    avals = [v.aval for v in init]
    end = b.constant(length, COUNTER.dtype)

    def below(limit: Any) -> Callable[..., list]:
        return lambda i, *_: [b.compare("LT", i, limit)]

    def block(run: Any, chunk: Any, i: Any, *state: Any) -> list:
        limit = b.op("add", [i, chunk], COUNTER)
        regions = [b.region(avals, below(limit)), b.region(avals, step)]
        after = b.op("while", [i, *state], avals, regions=regions)
        done = b.op("subtract", [after[0], i], COUNTER)
        return [*request(run, done), *after]

    zero = b.constant(0, COUNTER.dtype)
    whole = [COUNTER, COUNTER, *avals]
    regions = [
        b.region(whole, lambda run, chunk, i, *_: below(end)(i)),
        b.region(whole, block),
    ]
    return b.op("while", [*request(zero, zero), *init], whole, regions=regions)[2:]


def lower_while(
    b: Any, request: Callable, init: Sequence, avals: list, cond: Callable, step: Callable
) -> list:
    """Lower a loop of any number of iterations, with a bar."""
    counted = [COUNTER, *avals]
    zero, one = b.constant(0, COUNTER.dtype), b.constant(1, COUNTER.dtype)
    last = b.constant(-1, COUNTER.dtype)
    boolean = intern_aval((), dtypes.bool_, False, None)

    def block(run: Any, chunk: Any, *state: Any) -> list:
        def goes_on(k: Any, *state: Any) -> list:
            return [b.op("and", [*cond(*state), b.compare("LT", k, chunk)], boolean)]

        def iterate(k: Any, *state: Any) -> list:
            return [b.op("add", [k, one], COUNTER), *step(*state)]

        regions = [b.region(counted, goes_on), b.region(counted, iterate)]
        done, *after = b.op("while", [zero, *state], counted, regions=regions)
        ended = b.op("subtract", [last, done], COUNTER)
        done = b.op("select", [*cond(*after), done, ended], COUNTER)
        return [*request(run, done), *after]

    whole = [COUNTER, COUNTER, *avals]
    regions = [
        b.region(whole, lambda run, chunk, *state: cond(*state)),
        b.region(whole, block),
    ]
    return b.op("while", [*request(zero, zero), *init], whole, regions=regions)[2:]
