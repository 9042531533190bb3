"""Lower loops and conditions to Triton IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from sagax._src.primitives.arithmetic import add_p
from sagax._src.primitives.comparison import lt_p
from sagax.experimental.pallas._triton.ir import BOOL, I32, Builder, Value, cannot
from sagax.experimental.pallas._triton.shapes import element_at, reshape

_I64 = np.dtype(np.int64)

# Runs a closed jaxpr on values, and returns its results.
Run = Callable[[ClosedJaxpr, Sequence[Any]], list]


def for_loop(
    b: Builder,
    start: Value,
    stop: Value,
    carry: Sequence[Value],
    body: Callable[..., Sequence[Value]],
) -> list[Value]:
    """Append a loop of the indices from `start` up to `stop`; `body` gets the index and the carry, and returns the next.

    Both are integers of one dtype, and so is the index.
    """
    types = [(x.shape, x.dtype) for x in carry]

    def inside(i: Value, *values: Value) -> list[Value]:
        writes, reads = b.writes, b.reads
        b.writes, b.reads = set(), set()
        outs = body(i, *values)
        outs = [b.broadcast(b.convert(x, t[1]), t[0]) for x, t in zip(outs, types, strict=True)]
        if b.writes & b.reads:  # the next iteration may read what this one wrote
            b.barrier()
        b.writes, b.reads = writes | b.writes, reads | b.reads
        return outs

    region = b.region([((), start.dtype), *types], inside, "scf.yield")
    step = b.constant(1, start.dtype)
    outs = b.op("scf.for", [start, stop, step, *carry], types, "", [region], effect=True)
    return outs if isinstance(outs, list) else [outs]


def counters(body: Jaxpr, first: int, n: int) -> set[int]:
    """Return which parts of a carry count iterations: scalars of 32 or 64 bits to which the body adds 1.

    `first` is the position of the carry among the inputs, `n` the number of its parts.
    """
    made = {eqn.outvars[0]: eqn for eqn in body.eqns if eqn.primitive is add_p}
    found = set()
    for k in range(n):
        v, out = body.invars[first + k], body.outvars[k]
        eqn = made.get(out) if type(out) is not Literal else None
        if v.aval.shape != () or v.aval.dtype not in (I32, _I64) or eqn is None:
            continue
        x, y = eqn.invars
        if type(x) is Literal:
            x, y = y, x
        if x is v and type(y) is Literal and y.val == 1:
            found.add(k)
    return found


def scan(b: Builder, run: Run, args: Sequence[Any], params: dict) -> list:
    """Lower a scan: stacked operands and results are selected from, and put into, whole tensors."""
    body, length = params["jaxpr"], params["length"]
    n, m = params["num_consts"], params["num_carry"]
    if type(length) is not int:
        raise cannot("a scan of symbolic length", got=length, **b.facts())
    constants, first, xs = args[:n], args[n : n + m], args[n + m :]
    counting = counters(body.jaxpr, n, m)
    moving = [k for k in range(m) if k not in counting]
    ys = [b.constant(0, a.dtype, (length, *a.shape)) for a in body.out_avals[m:]]

    def shifted(k: int, by: Value) -> Value:
        return b.add(first[k], b.convert(by, first[k].dtype))

    def step(i: Value, *values: Value) -> list[Value]:
        carry = [shifted(k, i) if k in counting else None for k in range(m)]
        for k, x in zip(moving, values, strict=False):
            carry[k] = x
        at = b.sub(b.constant(length - 1), i) if params["reverse"] else i
        rows = [element_at(b, x, 0, at) for x in xs]
        outs = run(body, [*constants, *carry, *rows])
        stacked = []
        for before, y in zip(values[len(moving) :], outs[m:], strict=True):
            row = b.broadcast(reshape(b, y, (1, *before.shape[1:])), before.shape)
            stacked.append(b.select(b.compare("EQ", b.iota(before.shape, 0), at), row, before))
        return [*[outs[k] for k in moving], *stacked]

    start = [*[first[k] for k in moving], *ys]
    found = for_loop(b, b.constant(0), b.constant(length), start, step)
    last = [shifted(k, b.constant(length)) if k in counting else None for k in range(m)]
    for k, x in zip(moving, found, strict=False):
        last[k] = x
    return [*last, *found[len(moving) :]]


def while_loop(b: Builder, run: Run, args: Sequence[Any], params: dict) -> list:
    """Lower a while loop; one that counts up to a limit becomes a loop of indices, which Triton pipelines."""
    n, m = params["cond_nconsts"], params["body_nconsts"]
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    mine, theirs, first = args[:n], args[n : n + m], args[n + m :]
    counted = _counted(condition.jaxpr, body.jaxpr, n, m)
    if counted is not None:
        k, limit = counted
        if type(limit) is Literal:
            stop = b.constant(limit.val, first[k].dtype)
        else:
            stop = [*mine, *first][limit]
        others = [i for i in range(len(first)) if i != k]

        def step(i: Value, *values: Value) -> list[Value]:
            outs = run(body, [*theirs, *values[:k], i, *values[k:]])
            return [outs[j] for j in others]

        found = for_loop(b, first[k], stop, [first[i] for i in others], step)
        return [*found[:k], b.extreme(first[k], stop, "max"), *found[k:]]

    types = [(x.shape, x.dtype) for x in first]

    def before(*values: Value) -> list[Value]:
        return [*run(condition, [*mine, *values]), *values]

    def after(*values: Value) -> list[Value]:
        b.writes, b.reads, outside = set(), set(), (b.writes, b.reads)
        outs = run(body, [*theirs, *values])
        if b.writes & b.reads:
            b.barrier()
        b.writes, b.reads = outside[0] | b.writes, outside[1] | b.reads
        return [b.broadcast(x, t[0]) for x, t in zip(outs, types, strict=True)]

    regions = [b.region(types, before, "scf.condition"), b.region(types, after, "scf.yield")]
    outs = b.op("scf.while", first, types, "", regions, effect=True)
    return outs if isinstance(outs, list) else [outs]


def _counted(condition: Jaxpr, body: Jaxpr, n: int, m: int) -> tuple[int, Any] | None:
    """Return the counter of a loop that ends when it reaches a limit, and the limit: a literal, or its position.

    The position is that among the operands of the condition.
    """
    if len(condition.eqns) != 1 or condition.eqns[0].primitive is not lt_p:
        return None
    (eqn,) = condition.eqns
    if condition.outvars != eqn.outvars and list(condition.outvars) != list(eqn.outvars):
        return None
    x, limit = eqn.invars
    if type(x) is Literal or x not in condition.invars[n:]:
        return None
    k = condition.invars.index(x) - n
    if k not in counters(body, m, len(body.outvars)):
        return None
    if type(limit) is Literal:
        return k, limit
    at = condition.invars.index(limit)
    if at >= n and body.outvars[at - n] is not body.invars[m + at - n]:
        return None  # the body changes the limit
    return k, at


def cond(b: Builder, run: Run, args: Sequence[Any], params: dict, outs: Sequence[Any]) -> list:
    """Lower a condition; of several branches the first one is asked for first."""
    index, *operands = args
    branches = params["branches"]
    if index.splat is not None:
        chosen = min(max(int(index.splat), 0), len(branches) - 1)
        return run(branches[chosen], operands)
    types = [(a.shape, a.dtype) for a in outs]

    def region(branch: Callable[[], list]) -> str:
        def body() -> list[Value]:
            found = branch()
            return [
                b.broadcast(b.convert(x, t[1]), t[0]) for x, t in zip(found, types, strict=True)
            ]

        return b.region((), body, "scf.yield")

    def choose(first: int) -> list:
        if first == len(branches) - 1:
            return run(branches[first], operands)
        if index.dtype == BOOL or len(branches) == 2:
            zero = b.constant(0, index.dtype)
            which, yes, no = b.compare("NE", index, zero), first + 1, first
            regions = [
                region(lambda: run(branches[yes], operands)),
                region(lambda: run(branches[no], operands)),
            ]
        else:
            below = b.compare("LE", index, b.constant(first, index.dtype))
            which = below
            regions = [
                region(lambda: run(branches[first], operands)),
                region(lambda: choose(first + 1)),
            ]
        found = b.op("scf.if", [which], types, "", regions, effect=True)
        return found if isinstance(found, list) else [found]

    return choose(0)
