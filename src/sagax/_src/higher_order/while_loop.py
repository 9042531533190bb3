"""Implement `while_loop` and `fori_loop`: loops with a dynamic number of iterations."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import body_names
from sagax._src.argument_checks.functions import (
    check_function,
    kind_of,
    structure_error,
    unusable_leaf,
)
from sagax._src.core import dims, dtype_predicates, dtypes, memo_keys
from sagax._src.core.avals import intern_aval, no_axes
from sagax._src.core.effects import join
from sagax._src.core.families import HIGHER_ORDER
from sagax._src.core.jaxpr import ClosedJaxpr, Var, eval_jaxpr
from sagax._src.core.operands import (
    LoopOperands,
    LoopResults,
    WhileOperands,
    carry_fixpoint,
    partition,
)
from sagax._src.core.primitive import HigherOrderPrimitive
from sagax._src.core.references import Ref
from sagax._src.core.staging import hoist_constants, stage_closed
from sagax._src.core.tangents import nonzero_marks, spread_tangents
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand, sockets
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    ConcretizationTypeError,
    SagaxError,
)
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order import progress as bars
from sagax._src.higher_order import varying_axes
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.cond import cond_p, select_examples
from sagax._src.higher_order.remat import remat_p
from sagax._src.higher_order.scan import paths_of, scan_p, traced_scan
from sagax._src.higher_order.trace_bodies import (
    Body,
    as_result,
    as_value,
    carry_to_consts,
    is_concrete,
    operand_leaves,
    trace_body,
    type_mismatch,
    unchanged_carry,
    weak_promote,
    with_tangents_grouped,
)
from sagax._src.primitives.arithmetic import add
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.makers import broadcast_to
from sagax._src.primitives.mesh_axes import vary_like
from sagax._src.primitives.reductions import argmax, reduce_or
from sagax._src.primitives.references import refuse_differing_writes
from sagax._src.primitives.shaping import size_as_value
from sagax._src.primitives.slicing import dynamic_index_in_dim
from sagax._src.primitives.structural import convert, instantiate, moveaxis
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.transforms.batch import batch_jaxpr, mapped_outputs, move_batch_dim, move_batch_dims
from sagax._src.transforms.derived import derived_jaxpr
from sagax._src.transforms.discharge import contents, discharge_jaxpr, write_back
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.prune import prune_loop, prune_subjaxpr

while_p = HigherOrderPrimitive(
    "while", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
while_p.is_control = True

# `max_steps`, if not None, is a promise: the condition holds at most that often.


@while_p.abstract
def _(*avals: Any, body_jaxpr: ClosedJaxpr, **_: Any) -> list:
    return body_jaxpr.out_avals


while_p.sets_vma = True


@while_p.regroup
def _(sizes: Sequence[int], *, cond_nconsts: int, body_nconsts: int, **params: Any) -> dict:
    condition, body, _ = WhileOperands.split(sizes, cond_nconsts, body_nconsts)
    return {**params, "cond_nconsts": sum(condition), "body_nconsts": sum(body)}


@while_p.stage
def _(trace: Any, args: Sequence, params: dict) -> list:
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]

    def settled(cond: ClosedJaxpr, body: ClosedJaxpr, differ: frozenset = no_axes) -> tuple:
        """Return both for the types of the operands; the carry varies along `differ` in any case."""
        avals = WhileOperands.split(map(aval_of, args), n_cond, n_body)
        body = varying_axes.fixpoint_carry(body, avals.body, differ)
        given = (*avals.condition_constants, *body.in_avals[n_body:])
        return varying_axes.vary_jaxpr(cond, [a.vma for a in given]), body

    cond, body = settled(params["cond_jaxpr"], params["body_jaxpr"])
    differ = cond.out_avals[0].vma  # devices may run different numbers of iterations
    if differ:
        what = "how many rounds they do"
        varying_axes.check_no_collectives("while_loop", what, (cond, body), differ)
        args = [vary_like(x, differ) for x in args]  # as for branches
        cond, body = settled(cond, body, differ)
    return trace.record(while_p, args, {**params, "cond_jaxpr": cond, "body_jaxpr": body})


@while_p.effect
def _(*, cond_jaxpr: ClosedJaxpr, body_jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return join(cond_jaxpr.effects, body_jaxpr.effects)


@while_p.show
def _(*, max_steps: int | None, **params: Any) -> dict:
    shown = params if max_steps is None else {**params, "max_steps": max_steps}
    return dict(sorted(shown.items()))


@while_p.reference
def _(
    *xs: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    max_steps: int | None,
) -> list:
    operands = WhileOperands.split(xs, cond_nconsts, body_nconsts)
    while bool(eval_jaxpr(cond_jaxpr.jaxpr, (), *operands.condition.flat())[0]):
        carry = eval_jaxpr(body_jaxpr.jaxpr, (), *operands.body.flat())
        operands = dataclasses.replace(operands, carry=carry)
    return operands.carry


def _bind(
    cond: ClosedJaxpr, body: ClosedJaxpr, operands: WhileOperands, max_steps: int | None
) -> list:
    """Bind a loop; constants of its jaxprs become constants of the loop."""
    operands = WhileOperands(list(cond.consts), list(body.consts), []) + operands
    return while_p.bind(
        *operands.flat(),
        cond_jaxpr=ClosedJaxpr(hoist_constants(cond.jaxpr), ()),
        cond_nconsts=len(operands.condition_constants),
        body_jaxpr=ClosedJaxpr(hoist_constants(body.jaxpr), ()),
        body_nconsts=len(operands.body_constants),
        max_steps=max_steps,
    )


@while_p.jvp
def _(
    primals: Sequence,
    tangents: Sequence,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    max_steps: int | None,
) -> tuple:
    operands = WhileOperands.split(primals, cond_nconsts, body_nconsts)
    moving = carry_fixpoint(
        operands.like(nonzero_marks(tangents)).body,
        lambda moving: jvp_jaxpr(body_jaxpr, tuple(moving.flat()))[1],
    )
    pushed, _ = jvp_jaxpr(body_jaxpr, tuple(moving.flat()), tuple(moving.carry))
    body = with_tangents_grouped(pushed, moving)
    of_constants, of_carry, _ = moving.like_marked(
        map(instantiate, compress(operands.like(tangents).body.flat(), moving.flat()))
    )
    given = operands + WhileOperands([], of_constants, of_carry)
    cond_inner, n_cond = cond_jaxpr.jaxpr, len(cond_jaxpr.in_avals)

    def cond(*xs: Any) -> list:
        return eval_jaxpr(cond_inner, (), *xs[:n_cond])

    more = list(map(aval_of, of_carry))
    avals = [*cond_jaxpr.in_avals, *more]
    (cond_wider,) = derived_jaxpr(
        cond_inner, (memo_keys.WHILE_TANGENT_CONDITION, *more), cond, avals
    )
    n = len(operands.carry)
    outs = _bind(cond_wider, body, given, max_steps)
    return outs[:n], spread_tangents(outs[n:], moving.carry, list(map(aval_of, outs[:n])))


@while_p.linearize
def _(primals: Sequence, tangents: Sequence, *, max_steps: int | None, **params: Any) -> tuple:
    if max_steps is not None:
        loops = _checkpointed(max_steps, **params)
        return jit_p.rule("linearize")(primals, tangents, jaxpr=loops, name="while_loop")
    # The loop itself computes values; a second loop recomputes them together with the tangents.
    outs = while_p.bind(*primals, max_steps=None, **params)
    _, pushed = while_p.rule("jvp")(primals, tangents, max_steps=None, **params)
    return outs, pushed


def _checkpointed(
    max_steps: int,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> ClosedJaxpr:
    """Return the loop as scans of static length, for reverse mode in memory O(sqrt(max_steps)).

    An outer scan over blocks of iterations saves the carry at the start of each. In reverse mode an inner scan
    recomputes a block and saves the residuals of its iterations. Blocks and iterations after the end are skipped.
    """
    n_consts = cond_nconsts + body_nconsts
    avals = [*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals]
    size = max(math.isqrt(max(max_steps - 1, 0)) + 1, 1)  # the square root, rounded up
    key = (memo_keys.WHILE_CHECKPOINTED, max_steps, cond_jaxpr, cond_nconsts)

    def run_conditionally(run: Callable[..., list]) -> Callable[..., list]:
        """Run `run` as one iteration of a scan, or nothing."""

        def step(*xs: Any) -> list:
            condition = WhileOperands.split(xs, cond_nconsts, body_nconsts).condition
            (pred,) = eval_jaxpr(cond_jaxpr.jaxpr, (), *condition.flat())
            branches = [
                derived_jaxpr(body_jaxpr.jaxpr, (*key, name), fun, avals)[0]
                for name, fun in (("stay", lambda *xs: xs[n_consts:]), (run.__name__, run))
            ]
            return cond_p.bind(convert(pred, dtypes.int32), *xs, branches=tuple(branches))

        return step

    def scan(name: str, fun: Callable[..., list], length: int, xs: Sequence[Any]) -> list:
        (jaxpr,) = derived_jaxpr(body_jaxpr.jaxpr, (*key, name), fun, avals)
        return scan_p.bind(
            *xs,
            jaxpr=jaxpr,
            length=length,
            reverse=False,
            unroll=1,
            num_consts=n_consts,
            num_carry=len(xs) - n_consts,
        )

    def one_iteration(*xs: Any) -> list:
        return eval_jaxpr(body_jaxpr.jaxpr, (), *xs[cond_nconsts:])

    def iterations(*xs: Any) -> list:
        return scan("round", run_conditionally(one_iteration), size, xs)

    def one_block(*xs: Any) -> list:
        (block,) = derived_jaxpr(body_jaxpr.jaxpr, (*key, "rounds"), iterations, avals)
        return remat_p.bind(
            *xs, jaxpr=block, prevent_cse=False, differentiated=False, policy=None, name="block"
        )

    def blocks(*xs: Any) -> list:
        return scan("block", run_conditionally(one_block), -(-max_steps // size), xs)

    return derived_jaxpr(body_jaxpr.jaxpr, (*key, "blocks"), blocks, avals)[0]


@while_p.transpose
def _(cts: Sequence, *args: Any, **_: Any) -> list:
    raise ArgumentValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values",
        function="while_loop",
        got="a loop whose number of rounds is not known when it is traced",
        expected="a number of rounds known at trace time, or a bound on it",
        fix="use scan, or fori_loop with Python ints as bounds; max_steps=N bounds the number of rounds (only "
        "sagax has it). Forward mode (jvp, jacfwd) works with any loop",
    )


@while_p.batch
def _(
    axis: Any,
    args: Sequence,
    in_dims: Sequence,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    max_steps: int | None,
) -> tuple:
    operands = WhileOperands.split(args, cond_nconsts, body_nconsts)
    where = operands.like(in_dims)
    mapped = where.map(lambda d: None if d is None else 0)

    def with_carry(carry: Sequence[bool]) -> WhileOperands:
        return dataclasses.replace(mapped, carry=[0 if m else None for m in carry])

    def batched(carry: Sequence[bool], force: bool | tuple = False) -> tuple:
        """Return condition and body, and where the predicate and the outputs are mapped."""
        marks = with_carry(carry)
        cond, (pred_dim,) = batch_jaxpr(cond_jaxpr, axis, tuple(marks.condition.flat()))
        body, out_dims = batch_jaxpr(body_jaxpr, axis, tuple(marks.body.flat()), force)
        return cond, pred_dim, body, out_dims

    def grown(marks: LoopOperands) -> list[bool]:
        _, pred_dim, _, out_dims = batched(marks.carry)
        # if examples stop at different iterations, every part of the carry is mapped
        return [d is not None or pred_dim is not None for d in out_dims]

    def likely(marks: LoopOperands) -> Sequence[bool]:
        # batching a body takes long: do it once, where it is plain which parts of the carry become mapped
        within = [d is not None for d in with_carry(marks.carry).body.flat()]
        return mapped_outputs(body_jaxpr.jaxpr, within) or marks.carry

    first = LoopOperands([], [d is not None for d in where.carry])
    of_carry = carry_fixpoint(carry_fixpoint(first, likely), grown).carry
    mapped = with_carry(of_carry)
    operands = WhileOperands(
        move_batch_dims(operands.condition_constants, where.condition_constants),
        move_batch_dims(operands.body_constants, where.body_constants),
        [
            move_batch_dim(x, d, m, axis)
            for x, d, m in zip(operands.carry, where.carry, mapped.carry, strict=True)
        ],
    )
    cond, pred_dim, body, _ = batched(of_carry, tuple(of_carry))
    if pred_dim is None:
        return _bind(cond, body, operands, max_steps), mapped.carry

    references = [type(x) is Ref for x in operands.body.flat()]
    if any(references):
        written = discharge_jaxpr(body_jaxpr, references).written
        refuse_differing_writes(written, body_jaxpr.in_avals, "while_loop")

    # Lockstep: continue while any example does; finished ones keep their values. Their results of the body are
    # never selected, so a NaN there has no effect.
    def any_left(*xs: Any) -> list:
        (pred,) = eval_jaxpr(cond.jaxpr, cond.consts, *xs)
        return [reduce_or(moveaxis(pred, pred_dim, 0), (0,))]

    def step(*xs: Any) -> list:
        inner = operands.like(xs)
        (pred,) = eval_jaxpr(cond.jaxpr, cond.consts, *inner.condition.flat())
        pred = moveaxis(pred, pred_dim, 0)
        given = inner.body.flat()
        if max_steps is not None:
            # In reverse mode even an unused derivative must be finite: zero times infinity is NaN. So finished examples
            # run as copies of an active one.
            leader = argmax(pred, 0, np.int32)
            given = [
                select_examples(
                    pred, x, broadcast_to(dynamic_index_in_dim(x, leader, 0), aval_of(x).shape)
                )
                if d is not None
                else x
                for x, d in zip(given, mapped.body.flat(), strict=True)
            ]
        new = eval_jaxpr(body.jaxpr, body.consts, *given)
        return [
            select_examples(pred, changed, old)
            for old, changed in zip(inner.carry, new, strict=True)
        ]

    avals = operands.map(aval_of)
    any_left_key = (memo_keys.WHILE_ANY, pred_dim)
    (cond_new,) = derived_jaxpr(cond.jaxpr, any_left_key, any_left, avals.condition.flat())
    key = (memo_keys.WHILE_LOCKSTEP, cond, len(operands.body_constants), max_steps)
    (body_new,) = derived_jaxpr(body.jaxpr, key, step, avals.flat())
    both = [*operands.condition_constants, *operands.body_constants]
    given = dataclasses.replace(operands, body_constants=both)
    return _bind(cond_new, body_new, given, max_steps), mapped.carry


@while_p.prune
def _(
    used: list[bool],
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    **params: Any,
) -> tuple:
    _, read = prune_subjaxpr(cond_jaxpr, [True])
    of_condition = LoopOperands.split(read, cond_nconsts)
    used = list(map(operator.or_, used, of_condition.carry))
    body, operands, results = prune_loop(body_jaxpr, LoopResults(used), body_nconsts)
    always = dataclasses.replace(of_condition, carry=results.carry)
    cond, kept = prune_subjaxpr(cond_jaxpr, [True], always.flat())
    of_cond = kept[:cond_nconsts]
    counts = {"cond_nconsts": sum(of_cond), "body_nconsts": sum(operands.constants)}
    params = {"cond_jaxpr": cond, "body_jaxpr": body, **params, **counts}
    return params, [*of_cond, *operands.flat()], results.flat()


@while_p.discharge
def _(
    args: Sequence,
    owned: Sequence[bool],
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    max_steps: int | None,
) -> list:
    # references that the body writes join the carry; the condition reads them there
    operands = WhileOperands.split(contents(args, owned), cond_nconsts, body_nconsts)
    marks, refs = operands.like(owned), operands.like(args)
    body = discharge_jaxpr(body_jaxpr, marks.body.flat())
    cond = discharge_jaxpr(cond_jaxpr, marks.condition.flat())
    if any(cond.written):
        raise UnsupportedError(
            "a write to a reference in the condition of a loop",
            function="while_loop",
            fix="write it in the body, or compute the condition there and carry it",
        )
    written = operands.body.like(body.written).constants
    moved = [id(ref) for ref in compress(refs.body_constants, written)]
    n_carry = len(operands.carry)

    def of_condition(*xs: Any) -> list:
        """Read the moved references in the carry."""
        given, carry = xs[: len(fixed)], xs[len(fixed) :]
        constants, values = iter(given), dict(zip(moved, carry[n_carry:], strict=True))
        read = [values[id(r)] if id(r) in values else next(constants) for r in of_cond]
        return eval_jaxpr(cond.jaxpr.jaxpr, cond.jaxpr.consts, *read, *carry[:n_carry])

    of_cond = refs.condition_constants
    fixed = [x for x, r in zip(operands.condition_constants, of_cond) if id(r) not in moved]
    kept, values = partition(operands.body_constants, [not w for w in written])
    inner = operands.body.like(body.jaxpr.jaxpr.invars)
    for_kept, for_moved = partition(inner.constants, [not w for w in written])
    flat = body.jaxpr.jaxpr.replace(invars=[*for_kept, *inner.carry, *for_moved])
    carry = [*operands.carry, *values]
    results = _bind(
        stage_closed(of_condition, list(map(aval_of, [*fixed, *carry]))),
        ClosedJaxpr(flat, body.jaxpr.consts),
        WhileOperands(fixed, kept, carry),
        max_steps,
    )
    return write_back(refs.body_constants, written, results)


@while_p.lower
def _(
    b: Any,
    *xs: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    max_steps: int | None,
) -> list:
    for_condition, for_body, carry = WhileOperands.split(xs, cond_nconsts, body_nconsts)
    avals = list(b.outs)

    def cond(*v: Any) -> list:
        return b.inline(cond_jaxpr.jaxpr, [*for_condition, *v])

    def body(*v: Any) -> list:
        return b.inline(body_jaxpr.jaxpr, [*for_body, *v])

    request = bars.take_bar(b, None)
    if request is not None:
        return bars.lower_while(b, request, carry, avals, cond, body)
    regions = [b.region(avals, cond), b.region(avals, body)]
    return b.op("while", carry, avals, regions=regions)


# public ------------------------------------------------------------------------------------------


def while_loop(
    cond_fun: Callable,
    body_fun: Callable,
    init_val: Any,
    *,
    max_steps: int | None = None,
    progress: bool | str = False,
) -> Any:
    """Repeat `val = body_fun(val)` while `cond_fun(val)` holds, starting from `init_val`; return `val`.

    Both functions are traced once; the value keeps its structure, shapes and dtypes. Forward mode works with any
    loop, reverse mode with a bound on the number of iterations.

    Args:
      max_steps: the maximal number of iterations: the loop ends there, whatever `cond_fun` returns. Reverse mode saves
          the value at about sqrt(max_steps) iterations and recomputes the others once (two-level checkpointing:
          Griewank and Walther, Evaluating Derivatives, chapter 12). Not in jax.
      progress: show a progress bar of `max_steps` iterations; the loop may end before. A text names it. Not in jax.

    Raises:
      TypeError: the condition is not a boolean scalar, or the value changes its type; names the leaf.
      ValueError: a bar is wanted without `max_steps`.

    >>> int(sagax.lax.while_loop(lambda n: n < 100, lambda n: n * 2, 1))
    128
    >>> halved = lambda x: sagax.lax.while_loop(lambda y: y > 1, lambda y: y / 2, x, max_steps=100)
    >>> float(sagax.grad(halved)(5.0))
    0.125
    """
    for name, f in (("cond_fun", cond_fun), ("body_fun", body_fun)):
        check_function(
            f,
            "lax.while_loop: body_fun and cond_fun arguments should be callable.",
            "while_loop",
            name,
        )
    bound = _check_max_steps("while_loop", max_steps)
    bar = bars.bar_of("while_loop", body_fun, progress, bound)
    if bar is not None and bound is None:
        raise ArgumentValueError(
            "a progress bar needs to know the number of iterations",
            function=f"while_loop of {function_name(body_fun)}",
            argument="progress",
            got="a loop that ends when its condition says so",
            expected="max_steps beside it, the maximal number of iterations",
            fix="pass max_steps=N, or use fori_loop",
        )
    return _traced_while("while_loop", cond_fun, body_fun, init_val, max_steps=bound, bar=bar)


def _check_max_steps(function: str, max_steps: Any) -> int | None:
    if max_steps is None:
        return None
    if isinstance(max_steps, Tracer):
        raise ConcretizationTypeError(
            max_steps, f"The `max_steps` argument to `{function}` must be known when it is traced."
        )
    expected = "an int of at least 0, known when the function is traced; or None"
    return checks.integer(function, "max_steps", max_steps, expected, least=0, most=_MOST_STEPS)


_MOST_STEPS = np.iinfo(np.int32).max  # iterations are counted in 32 bits


def _condition_carried(
    function: str, cond_fun: Callable, body_fun: Callable, init_val: Any, **options: Any
) -> Any:
    """Evaluate a condition with side effects before the loop and at the end of each iteration.

    Calls in the condition of a compiled loop have no order relative to those in its body.
    """

    def step(state: tuple) -> tuple:
        value = body_fun(state[1])
        return cond_fun(value), value

    first = (cond_fun(init_val), init_val)
    return _traced_while(function, operator.itemgetter(0), step, first, **options)[1]


def _traced_while(
    function: str,
    cond_fun: Callable,
    body_fun: Callable,
    init_val: Any,
    *,
    init_paths: Sequence[str] | Callable[[], Sequence[str]] | None = None,
    names: Sequence[str] | Callable[[], Sequence[str]] | None = None,
    same: tuple | None = None,
    max_steps: int | None = None,
    bar: bars.Bar | None = None,
    count: Any = None,
) -> Any:
    """Implement `while_loop`, with messages for `function`.

    Args:
        bar: the progress bar, if it has one.
        count: the number of iterations, where it is a traced value and the bar does not know it.
        init_paths: the caller's names of the leaves of `init_val`.
        names: the body's names of them.
        same: the identity of both functions, if they are wrappers (see `trace_body`).
    """
    if config.current().disable_jit:
        init_val = trees.map(as_value, init_val)
        while max_steps != 0:
            try:
                goes_on = bool(cond_fun(init_val))
            except ConcretizationTypeError:
                break  # a function around it is traced all the same, such as a kernel
            if not goes_on:
                return init_val
            init_val = trees.map(as_value, body_fun(init_val))
            max_steps = None if max_steps is None else max_steps - 1
        else:
            return init_val
    leaves, tree = operand_leaves(function, "init_val", init_val)
    of = f"{function} of {function_name(body_fun)}"
    whole = trees.treedef_tuple((tree,))
    if names is None:
        names = functools.partial(_names, body_fun, init_val)
    while True:
        avals = [aval_of(x) for x in leaves]
        body = trace_body(
            body_fun, whole, avals, transform=function, paths=names, same=same and ("body", *same)
        )
        if body.out_tree != tree:
            found = trees.structure_mismatch(
                tree, body.out_tree, "the carry input", "the carry output"
            )
            raise structure_error(
                of,
                "body_fun output and input must have the same pytree structure, but they differ",
                found,
                "return the value in the containers that it comes in, the first time as init_val",
            ).attach(returned_by=body_fun)
        promoted = weak_promote(leaves, body.jaxpr.out_avals)
        if promoted is None:
            break
        leaves = promoted
    if init_paths is None:
        init_paths = functools.partial(paths_of, "init_val", init_val)
    error = type_mismatch(
        of,
        "body_fun output and input must have equal types, but they differ",
        avals,
        body.jaxpr.out_avals,
        init_paths,
        ("the carry input", "the carry output"),
        "make body_fun return the value with the type it got",
    )
    if error is not None:
        raise error.attach(returned_by=body_fun)
    cond = trace_body(
        cond_fun,
        whole,
        avals,
        transform=function,
        paths=functools.partial(_names, cond_fun, init_val),
        same=same and ("condition", *same),
    )
    _check_condition(cond, function, cond_fun)
    if cond.jaxpr.effects:
        options = {"max_steps": max_steps, "bar": bar, "count": count}
        return _condition_carried(function, cond_fun, body_fun, init_val, **options)
    # loop-invariant parts become constants of the loop
    n_cond, n_body = len(cond.consts), len(body.consts)
    fixed = unchanged_carry(body.jaxpr, n_body, len(leaves))
    cond_jaxpr = carry_to_consts(cond.jaxpr, n_cond, fixed, False)
    body_jaxpr = carry_to_consts(body.jaxpr, n_body, fixed, True)
    constant, carry = partition(leaves, fixed)
    n_cond, n_body = n_cond + len(constant), n_body + len(constant)
    if max_steps is not None:
        cond_jaxpr, body_jaxpr = _counted(cond_jaxpr, body_jaxpr, n_cond, n_body, max_steps)
        carry = [np.int32(0), *carry]
    operands = WhileOperands([*cond.consts, *constant], [*body.consts, *constant], carry)
    if bar is None:
        outs = _bind(cond_jaxpr, body_jaxpr, operands, max_steps)
    else:
        given = [*operands.flat(), *([] if count is None else [count])]

        def flat(*xs: Any) -> list:
            inner = operands.like(xs[: len(operands.flat())])
            if count is not None:
                inner.carry[0] = bars.iterations_p.bind(xs[-1], inner.carry[0])
            return _bind(cond_jaxpr, body_jaxpr, inner, max_steps)

        key = (cond_jaxpr, n_cond, n_body, max_steps)
        outs = bars.with_bar(bar, body_jaxpr.jaxpr, key, flat, given)
    changed = iter(outs)
    if max_steps is not None:
        next(changed)
    read = _read_by(cond.jaxpr, len(cond.consts))
    return tree.unflatten(
        [
            next(changed) if not f else as_value(x) if r else as_result(x)
            for x, f, r in zip(leaves, fixed, read, strict=True)
        ]
    )


def _read_by(cond: ClosedJaxpr, n_consts: int) -> list[bool]:
    """Return for each part of the carry whether the condition depends on it."""
    jaxpr = cond.jaxpr
    used = {v for e in jaxpr.eqns for v in e.invars if type(v) is Var}
    used.update(v for v in jaxpr.outvars if type(v) is Var)
    return [v in used for v in jaxpr.invars[n_consts:]]


def _counted(
    cond: ClosedJaxpr, body: ClosedJaxpr, n_cond: int, n_body: int, max_steps: int
) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Return a condition and a body whose carry starts with a counter, which the condition bounds."""
    counter = intern_aval((), dtypes.int32)

    def condition(*xs: Any) -> list:
        (pred,) = eval_jaxpr(cond.jaxpr, (), *xs[:n_cond], *xs[n_cond + 1 :])
        return [bitwise_and(pred, lt(xs[n_cond], np.int32(max_steps)))]

    def step(*xs: Any) -> list:
        outs = eval_jaxpr(body.jaxpr, (), *xs[:n_body], *xs[n_body + 1 :])
        return [add(xs[n_body], np.int32(1)), *outs]

    def counted(closed: ClosedJaxpr, n: int, fun: Callable[..., list], *key: Any) -> ClosedJaxpr:
        avals = closed.in_avals
        avals = [*avals[:n], counter, *avals[n:]]
        return derived_jaxpr(closed.jaxpr, (memo_keys.WHILE_COUNTED, n, *key), fun, avals)[0]

    return counted(cond, n_cond, condition, max_steps), counted(body, n_body, step)


def _check_condition(cond: Body, function: str, cond_fun: Callable) -> None:
    outs = cond.jaxpr.out_avals
    single = trees.treedef_is_leaf(cond.out_tree) and len(outs) == 1
    if single and outs[0].shape == () and outs[0].dtype == np.bool_:
        return
    types = [a.str_short(short_dtypes=False) for a in outs]
    raise ArgumentError(
        f"cond_fun must return a boolean scalar, but got output type(s) {types}."
        if single
        else f"cond_fun must return a boolean scalar, but got pytree {cond.out_tree}.",
        function=f"{function} of {function_name(cond_fun)}",
        argument="cond_fun",
        expected="a boolean of shape ()",
        got=outs[0] if single else kind_of(cond.out_tree.unflatten(outs)),
        fix="compare, as in x > 0; reduce arrays with .any() or .all()"
        if single
        else "return the comparison itself",
    )


def _names(fun: Callable, init: Any) -> list[str]:
    return paths_of(body_names(fun, ("val",))[0], init)


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable,
    init_val: Any,
    *,
    unroll: int | bool | None = None,
    max_steps: int | None = None,
    progress: bool | str = False,
) -> Any:
    """Repeat `val = body_fun(i, val)` for i in range(lower, upper), starting from `init_val`; return `val`.

    With static bounds the loop is a `scan` and has reverse-mode derivatives; with traced bounds it is a
    `while_loop`, which has them if `max_steps` bounds the number of iterations.

    Args:
      max_steps: as in `while_loop`: a loop with traced bounds ends after so many iterations, whatever `upper` is.
      progress: show a progress bar on the terminal or in the notebook while the loop runs; a text names it. Not in
          jax.

    Raises:
      TypeError: the bounds are not integers, or the value changes its type; names the leaf.
      ValueError: more iterations than `max_steps`, for static bounds; a bar is wanted for symbolic bounds.

    >>> int(sagax.lax.fori_loop(0, 5, lambda i, total: total + i, 0))
    10
    """
    check_function(
        body_fun,
        "lax.fori_loop: body_fun argument should be callable.",
        "fori_loop",
        "body_fun",
    )
    _check_bounds(lower, upper)
    static = all(is_concrete(b) and not dims.is_dim(b) for b in (lower, upper))
    bound = _check_max_steps("fori_loop", max_steps)
    if static and bound is not None and int(upper) - int(lower) > bound:
        raise ArgumentValueError(
            "the loop has more rounds than max_steps allows",
            function="fori_loop",
            argument="max_steps",
            got=bound,
            expected=f"at least {int(upper) - int(lower)}, the number of rounds",
        )
    symbolic = [b for b in (lower, upper) if dims.is_dim(b)]
    bar = bars.bar_of("fori_loop", body_fun, progress, symbolic[0] if symbolic else None)
    if config.current().disable_jit and static:
        value = init_val
        for i in bars.iterate(bar, range(int(lower), int(upper))):
            value = body_fun(i, value)
        return value
    _, tree = operand_leaves("fori_loop", "init_val", init_val)

    def init_paths() -> list[str]:
        bounds = ["lower"] if static else ["lower", "upper"]
        return [*bounds, *paths_of("init_val", init_val)]

    def names() -> list[str]:
        i_name, value_name = _two_names(body_fun)
        bounds = [i_name] if static else [i_name, "upper"]
        return [*bounds, *paths_of(value_name, init_val)]

    @wraps(body_fun)
    def body(i: Any, value: Any) -> Any:
        new = body_fun(i, value)
        if trees.flatten_argument("fori_loop", "result", new)[1] != tree:
            found = trees.structure_mismatch(
                tree, trees.structure(new), "the carry input", "the carry output"
            )
            raise structure_error(
                f"fori_loop of {function_name(body_fun)}",
                "body_fun output and input must have the same pytree structure, but they differ",
                found,
                "return the value in the containers that it comes in, the first time as init_val",
            ).attach(returned_by=body_fun)
        return new

    if static:
        start, count = _first_and_count(lower, upper)

        @wraps(body_fun)
        def scan_step(carry: tuple, _: Any) -> tuple:
            i, value = carry
            return (add(i, 1), body(i, value)), None

        (_, value), _ = traced_scan(
            "fori_loop",
            scan_step,
            (start, init_val),
            None,
            count,
            unroll=1 if unroll is None else unroll,
            init_paths=init_paths,
            names=names,
            same=("fori_loop", body_fun),
            progress=progress if bar is None else bar.name,
        )
        return value
    checks.one_of(
        "fori_loop",
        "unroll",
        unroll,
        (None, False, 1),
        "None, False or 1 where a bound is traced",
        message="Can only use `unroll` in `fori_loop` if the loop bounds are statically known.",
    )
    lower, upper = _same_dtype(lower, upper)

    def in_range(state: tuple) -> Any:
        i, end, _ = state
        return lt(i, end)

    @wraps(body_fun)
    def step(state: tuple) -> tuple:
        i, end, value = state
        return add(i, 1), end, body(i, value)

    return _traced_while(
        "fori_loop",
        in_range,
        step,
        (lower, upper, init_val),
        init_paths=init_paths,
        names=names,
        same=("fori_loop", body_fun),
        max_steps=bound,
        bar=bar,
        count=None if bar is None else bars.iterations(lower, upper, bound),
    )[2]


def _check_bounds(lower: Any, upper: Any) -> None:
    for name, bound in (("lower", lower), ("upper", upper)):
        if dims.is_dim(bound):
            continue
        if not is_operand(bound):
            raise unusable_leaf(bound, "fori_loop", name, "pass an int")
        aval = aval_of(bound)
        if aval.shape != () or not (
            dtype_predicates.is_integer(aval.dtype) or aval.dtype == np.bool_
        ):
            raise ArgumentError(
                "lower and upper arguments to fori_loop must be integers of shape ()",
                function="fori_loop",
                argument=name,
                got=bound,
                expected="an int",
                fix="convert it, with int(...) or .astype('int32')" if aval.shape == () else None,
            )
        if type(bound) is int:
            try:
                dtypes.check_python_int(bound, aval.dtype)
            except SagaxError as error:
                raise error.attach(function="fori_loop", argument=name) from None
    if dims.is_dim(lower) or dims.is_dim(upper):
        return
    a, b = aval_of(lower), aval_of(upper)
    signed = all(np.issubdtype(x.dtype, np.signedinteger) for x in (a, b))
    if a.dtype != b.dtype and not (signed and a.weak_type != b.weak_type):
        raise ArgumentError(
            "lower and upper arguments to fori_loop must have equal types",
            function="fori_loop",
            argument="lower and upper",
            got=f"{a.str_short(short_dtypes=False)} and {b.str_short(short_dtypes=False)}",
            expected="two integers of one dtype",
            fix=f"convert one of them, with .astype({dtypes.name(b.dtype)!r})",
        )


def _first_and_count(lower: Any, upper: Any) -> tuple[Any, int]:
    """Return the first index and the number of iterations.

    Like the bounds of a `range` the index is a Python number, except where it needs the dtype of the bounds.
    """
    first, last = int(lower), int(upper)
    given = [b for b in (lower, upper) if hasattr(b, "dtype") and aval_of(b).dtype != np.bool_]
    if not given:
        return first, max(last - first, 0)
    dtype = dtypes.canonicalize(aval_of(given[0]).dtype, config.current().x64)
    limits = np.iinfo(dtypes.default_int(config.current().x64))
    if limits.min <= first and last <= limits.max:
        return first, max(last - first, 0)
    return np.asarray(first, dtype)[()], max(last - first, 0)


def _two_names(fun: Callable) -> tuple[str, str]:
    """Return the body's names of its two arguments."""
    first, second = body_names(fun, ("i", "val"))
    return first, second


def _same_dtype(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Convert bounds to one dtype: a Python number takes that of the other."""
    lower, upper = (size_as_value(x) if dims.is_dim(x) else x for x in (lower, upper))
    lower, upper = (x if hasattr(x, "aval") else sockets.concrete(x) for x in (lower, upper))
    lower, upper = (
        convert(x, dtypes.int32) if aval_of(x).dtype == np.bool_ else x for x in (lower, upper)
    )
    a, b = aval_of(lower), aval_of(upper)
    if a.dtype != b.dtype:
        if a.weak_type:
            return convert(lower, b.dtype), upper
        return lower, convert(upper, a.dtype)
    return lower, upper
