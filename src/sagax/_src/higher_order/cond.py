"""Implement `cond` and `switch`: choose one of several branches at run time."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import leaf_paths
from sagax._src.argument_checks.functions import (
    check_function,
    kind_of,
    structure_error,
    unusable_leaf,
)
from sagax._src.core import dtype_predicates, dtypes, memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.effects import join
from sagax._src.core.families import HIGHER_ORDER
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Var, eval_jaxpr
from sagax._src.core.primitive import HigherOrderPrimitive
from sagax._src.core.references import Ref
from sagax._src.core.staging import stage_closed
from sagax._src.core.tangents import (
    Linear,
    linear_marks,
    nonzero_marks,
    nonzero_tangents,
    spread_cotangents,
    spread_tangents,
    transposed_operands,
)
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand, sockets
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError, describe
from sagax._src.higher_order import varying_axes
from sagax._src.higher_order.call import call
from sagax._src.higher_order.trace_bodies import (
    Body,
    is_concrete,
    operand_leaves,
    trace_body,
    type_mismatch,
)
from sagax._src.primitives import selection
from sagax._src.primitives.comparison import eq, ne
from sagax._src.primitives.identities import stop_gradient
from sagax._src.primitives.makers import broadcast_to, scalar_like
from sagax._src.primitives.mesh_axes import vary_like
from sagax._src.primitives.random_bits import shared
from sagax._src.primitives.references import refuse_differing_writes
from sagax._src.primitives.structural import convert, expand_dims, moveaxis, zeros_of
from sagax._src.transforms.batch import batch_jaxpr, move_batch_dim
from sagax._src.transforms.derived import derived, derived_jaxpr
from sagax._src.transforms.discharge import contents, discharge_jaxpr, write_back
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.linearize import linearize_jaxpr
from sagax._src.transforms.prune import prune_subjaxpr
from sagax._src.transforms.transpose import transpose_jaxpr

cond_p = HigherOrderPrimitive(
    "cond", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
cond_p.is_control = True

# Operands: the index of the branch (int32, in range), then the operands of every branch.


@cond_p.abstract
def _(index: Any, *avals: Any, branches: tuple) -> list:
    return list(branches[0].out_avals)  # as in jax, weak types are those of the first branch


cond_p.sets_vma = True


@cond_p.stage
def _(trace: Any, args: Sequence, params: dict) -> list:
    index, *avals = varying_axes.avals_of(args)
    if index.vma:
        # Where devices may take different branches, no branch may contain a collective: sums of the operands'
        # cotangents over devices are computed outside.
        args = [args[0], *[vary_like(x, index.vma) for x in args[1:]]]
        _, *avals = varying_axes.avals_of(args)
    branches = varying_axes.vary_branches(params["branches"], avals, index.vma)
    if index.vma:
        varying_axes.check_no_collectives("cond", "which branch they take", branches, index.vma)
    return trace.record(cond_p, args, {**params, "branches": branches})


@cond_p.effect
def _(*, branches: tuple) -> frozenset:
    return join(*[b.effects for b in branches])


@cond_p.reference
def _(index: Any, *xs: Any, branches: tuple) -> list:
    return eval_jaxpr(branches[int(index)].jaxpr, (), *xs)


def _shared(branches: Sequence[ClosedJaxpr]) -> tuple[tuple, list]:
    """Return branches without constants: those of all branches become leading inputs of each.

    What several branches capture becomes one input.
    """
    if not any(b.consts for b in branches):
        return tuple(branches), []
    consts: list[Any] = []
    places, known = [], {}
    for b in branches:
        used: dict[int, None] = {}
        for c in b.consts:
            place = known.get(id(c), len(consts))
            if place in used:  # a branch that holds one value as two constants
                place = len(consts)
            if place == len(consts):
                consts.append(c)
                known[id(c)] = place
            used[place] = None
        places.append(tuple(used))
    out = []
    avals = [aval_of(c) for c in consts]
    for b, at in zip(branches, places, strict=True):
        inner = b.jaxpr

        def widened(inner: Jaxpr = inner, at: tuple = at) -> Jaxpr:
            # the branch's own constants keep their variables, the others' are new and unused
            fresh = [Var(a) for a in avals]
            for k, v in zip(at, inner.constvars, strict=True):
                fresh[k] = v
            return inner.replace(constvars=(), invars=[*fresh, *inner.invars])

        key = (memo_keys.BRANCH_CONSTANTS, at, *avals)
        out.append(ClosedJaxpr(derived(inner, key, widened), ()))
    return tuple(out), consts


def _bind(index: Any, branches: Sequence[ClosedJaxpr], operands: Sequence[Any]) -> list:
    shared, consts = _shared(branches)
    checks.distinct_references("cond", consts, operands, "a branch")
    return cond_p.bind(index, *consts, *operands, branches=shared)


@cond_p.jvp
def _(primals: Sequence, tangents: Sequence, *, branches: tuple) -> tuple:
    index, *ops = primals
    nonzero = nonzero_marks(tangents[1:])
    nonzero_out = _in_any(jvp_jaxpr(b, nonzero)[1] for b in branches)
    derived = [jvp_jaxpr(b, nonzero, nonzero_out)[0] for b in branches]
    outs = _bind(index, derived, [*ops, *nonzero_tangents(tangents[1:])])
    n = len(branches[0].out_avals)
    return outs[:n], spread_tangents(outs[n:], nonzero_out, list(map(aval_of, outs[:n])))


def _in_any(marks: Iterable[Sequence[bool]]) -> tuple[bool, ...]:
    """Mark the results, or operands, that any branch marks."""
    return tuple(map(any, zip(*marks, strict=True)))


@cond_p.linearize
def _(primals: Sequence, tangents: Sequence, *, branches: tuple) -> tuple:
    index, *ops = primals
    nonzero = nonzero_marks(tangents[1:])
    nonzero_out = _in_any(linearize_jaxpr(b, nonzero).nonzero_out for b in branches)
    splits = [linearize_jaxpr(b, nonzero, nonzero_out) for b in branches]
    n_out = len(branches[0].out_avals)
    # Residuals of a branch are stored in slots; branches share slots of equal types.
    slots: list[Any] = []
    slots_of_type: dict[Any, list[int]] = {}
    plans = []
    for split in splits:
        used: Counter[Any] = Counter()
        plan = []
        for where, k in split.residuals:
            if where == "in":
                plan.append(("in", k))
                continue
            aval = split.known.out_avals[k]
            plain = intern_aval(aval.shape, aval.dtype)
            candidates = slots_of_type.setdefault(plain, [])
            if used[plain] == len(candidates):
                candidates.append(len(slots))
                slots.append(aval)
            plan.append(("slot", candidates[used[plain]], k))
            used[plain] += 1
        plans.append(plan)
    known = [
        _with_slots(split.known, plan, slots, n_out)
        for split, plan in zip(splits, plans, strict=True)
    ]
    outs = _bind(index, known, ops)
    residuals = outs[n_out:]
    given = nonzero_tangents(tangents[1:])
    linear = [
        _taking_slots(split.linear, plan, ops, slots)
        for split, plan in zip(splits, plans, strict=True)
    ]
    pushed = _bind(index, linear, [*ops, *residuals, *given]) if any(nonzero_out) else []
    return outs[:n_out], spread_tangents(pushed, nonzero_out, list(map(aval_of, outs[:n_out])))


def _with_slots(known: ClosedJaxpr, plan: list, slots: list, n_out: int) -> ClosedJaxpr:
    """Add the residual slots to a branch's outputs, zeros in the slots that it does not use."""
    used = {p[1]: p[2] for p in plan if p[0] == "slot"}

    def fun(*xs: Any) -> list:
        outs = eval_jaxpr(known.jaxpr, known.consts, *xs)
        return [
            *outs[:n_out],
            *(outs[used[i]] if i in used else zeros_of(a) for i, a in enumerate(slots)),
        ]

    key = (memo_keys.BRANCH_WITH_SLOTS, n_out, tuple(used.items()), *slots)
    return derived_jaxpr(known.jaxpr, key, fun, known.in_avals)[0]


def _taking_slots(linear: ClosedJaxpr, plan: list, ops: list, slots: list) -> ClosedJaxpr:
    """Return a linear branch on (operands, residual slots, tangents)."""
    n_ops = len(ops)

    def fun(*xs: Any) -> list:
        residuals = [xs[p[1]] if p[0] == "in" else xs[n_ops + p[1]] for p in plan]
        return eval_jaxpr(linear.jaxpr, linear.consts, *residuals, *xs[n_ops + len(slots) :])

    tangents = linear.in_avals[len(plan) :]
    avals = [*(aval_of(o) for o in ops), *slots, *tangents]
    return derived_jaxpr(
        linear.jaxpr, (memo_keys.BRANCH_TAKING_SLOTS, tuple(plan), *avals), fun, avals
    )[0]


@cond_p.transpose
def _(cts: Sequence, index: Any, *args: Any, branches: tuple) -> list:
    linear, nonzero = linear_marks(args), nonzero_marks(cts)
    pairs = [transpose_jaxpr(b, linear, nonzero) for b in branches]
    nonzero_out = _in_any(marks for _, marks in pairs)
    linear_avals = [a.aval for a in args if type(a) is Linear]

    def filled(closed: ClosedJaxpr, marks: Sequence[bool]) -> ClosedJaxpr:
        def fun(*xs: Any) -> list:
            found = iter(eval_jaxpr(closed.jaxpr, closed.consts, *xs))
            return [
                next(found) if m else zeros_of(a)
                for m, w, a in zip(marks, nonzero_out, linear_avals, strict=True)
                if w
            ]

        return derived_jaxpr(
            closed.jaxpr, (memo_keys.BRANCH_FILLED, *nonzero_out), fun, closed.in_avals
        )[0]

    transposed = [filled(closed, marks) for closed, marks in pairs]
    found = _bind(index, transposed, transposed_operands(args, cts)) if any(nonzero_out) else []
    return [None, *spread_cotangents(found, nonzero_out, args)]


@cond_p.batch
def _(axis: Any, args: Sequence, in_dims: Sequence, *, branches: tuple) -> tuple:
    index, *ops = args
    d_index, *d_ops = in_dims
    if d_index is None:
        out_dims = [batch_jaxpr(b, axis, tuple(d_ops))[1] for b in branches]
        force = _in_any([d is not None for d in of_one] for of_one in out_dims)
        batched = [batch_jaxpr(b, axis, tuple(d_ops), force)[0] for b in branches]
        return _bind(index, batched, ops), [0 if f else None for f in force]
    # Examples choose differently: run every branch on all examples, and select.
    references = [type(x) is Ref for x in ops]
    if any(references):
        found = [discharge_jaxpr(b, references) for b in branches]
        for b, discharged in zip(branches, found, strict=True):
            refuse_differing_writes(discharged.written, b.in_avals, "cond")
        branches, consts = _shared([discharged.jaxpr for discharged in found])
        ops = [*consts, *[x[...] if type(x) is Ref else x for x in ops]]
        d_ops = [*[None] * len(consts), *d_ops]
    index = moveaxis(index, d_index, 0)
    ops = [move_batch_dim(x, d, 0, axis) for x, d in zip(ops, d_ops, strict=True)]
    batched = [batch_jaxpr(b, axis, (0,) * len(ops), True)[0] for b in branches]
    settings = config.current()
    if settings.debug_nans or settings.debug_infs:
        # as a whole: NaNs of branches that an example did not choose do not count
        found = stage_closed(
            lambda index, *ops: _chosen(batched, index, ops), [aval_of(x) for x in (index, *ops)]
        )
        outs = call(found, [index, *ops], name="cond")
    else:
        outs = _chosen(batched, index, ops)
    return outs, [0] * len(outs)


def _chosen(branches: Sequence[ClosedJaxpr], index: Any, ops: Sequence[Any]) -> list:
    """Run every branch on all examples, and select for each the results of its own."""
    results = []
    for i, closed in enumerate(branches):
        # In reverse mode, no cotangent may flow through a branch into an example that did not choose it: zero
        # times an infinite derivative is NaN.
        chosen = eq(index, np.int32(i))
        own = [select_examples(chosen, x, stop_gradient(x)) if _flows(x) else x for x in ops]
        results.append(eval_jaxpr(closed.jaxpr, closed.consts, *own))
        if i == 0:  # each example uses one branch only, so all may use the same keys
            ops = [shared(x) for x in ops]
    return [_select(index, list(case)) for case in zip(*results, strict=True)]


def _flows(x: Any) -> bool:
    """Return whether derivatives may flow through `x`."""
    return isinstance(x, Tracer) and dtypes.is_inexact(x.aval.dtype)


def _select(index: Any, choices: list) -> Any:
    """Select for each example the result at its index."""
    result = choices[-1]
    for k in range(len(choices) - 2, -1, -1):
        result = select_examples(eq(index, np.int32(k)), choices[k], result)
    return result


def select_examples(pred: Any, x: Any, y: Any) -> Any:
    """Select for each example `x` where `pred` holds, `y` elsewhere."""
    shape = aval_of(x).shape
    mask = broadcast_to(expand_dims(pred, tuple(range(1, len(shape)))), shape)
    return selection.select_n(mask, y, x)


@cond_p.prune
def _(used: list[bool], *, branches: tuple) -> tuple:
    read = [prune_subjaxpr(b, used)[1] for b in branches]
    operands = _in_any(read)
    smaller = tuple([prune_subjaxpr(b, used, operands)[0] for b in branches])
    return {"branches": smaller}, [True, *operands], used


@cond_p.discharge
def _(args: Sequence, owned: Sequence[bool], *, branches: tuple) -> list:
    written = _in_any(discharge_jaxpr(b, owned[1:]).written for b in branches)
    pure = [discharge_jaxpr(b, owned[1:], written).jaxpr for b in branches]
    index, *values = contents(args, owned)
    return write_back(args[1:], written, _bind(index, pure, values))


@cond_p.lower
def _(b: Any, index: Any, *xs: Any, branches: tuple) -> list:
    if index.splat is not None:
        return b.inline(branches[int(index.splat)].jaxpr, xs)
    outs = list(b.outs)
    regions = [b.region([], lambda c=c: b.inline(c.jaxpr, xs)) for c in branches]
    return b.op("case", [index], outs, regions=regions)


# public ------------------------------------------------------------------------------------------


_NOT_GIVEN: Any = trees.UNSET


def cond(
    pred: Any,
    true_fun: Callable,
    false_fun: Callable,
    *operands: Any,
    operand: Any = _NOT_GIVEN,
) -> Any:
    """Return `true_fun(*operands)` if `pred`, else `false_fun(*operands)`; trace both, run one.

    Under `vmap` with a mapped `pred` both run, and each example selects its result.

    Args:
      pred: a boolean (or number) of shape ().
      true_fun, false_fun: functions whose results have the same structure, shapes and dtypes.

    Raises:
      TypeError: `pred` is not a scalar, or the results differ; the message names the leaf.

    >>> int(sagax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3))
    4
    """
    operands = _with_operand("cond", operands, operand)
    if len(operands) == 2 and not callable(true_fun) and callable(false_fun):
        if callable(
            operands[1]
        ):  # an older form: cond(pred, true_operand, true_fun, false_operand, false_fun)
            first, second = false_fun, operands[1]
            return cond(pred, lambda x, _: first(x), lambda _, x: second(x), true_fun, operands[0])
    for name, f in (("true_fun", true_fun), ("false_fun", false_fun)):
        check_function(
            f,
            "lax.cond: true_fun and false_fun arguments should be callable.",
            "cond",
            name,
            "pass lambda: value for a constant result" if is_operand(f) else None,
        )
    aval = _check_pred(pred)
    if config.current().disable_jit and is_concrete(pred):
        return (true_fun if bool(np.asarray(pred)) else false_fun)(*operands)
    if not hasattr(pred, "aval"):
        pred = sockets.concrete(pred)
    if aval.dtype != np.bool_:
        pred = ne(pred, scalar_like(0, aval.dtype))
    index = convert(pred, dtypes.int32)
    return switch_on("cond", index, [false_fun, true_fun], operands, ("false_fun", "true_fun"))


def _with_operand(function: str, operands: tuple, operand: Any) -> tuple:
    """Return the operands; a single one may be passed by keyword."""
    if operand is _NOT_GIVEN:
        return operands
    if operands:
        raise ArgumentError(
            "if `operand` keyword is passed then no positional operands can be passed",
            function=function,
            argument="operand",
            got=f"{len(operands)} by position and operand={describe(operand)}",
            fix="pass all operands by position",
        )
    return (operand,)


def _check_pred(pred: Any) -> Any:
    """Check that the predicate is a boolean or real scalar, and return its type."""
    aval = aval_of(pred) if is_operand(pred) else None
    if aval is None or not (
        aval.dtype == np.bool_
        or dtype_predicates.is_integer(aval.dtype)
        or dtype_predicates.is_floating(aval.dtype)
    ):
        raise ArgumentError(
            "Pred type must be either boolean or number",
            function="cond",
            argument="pred",
            got=kind_of(pred),
            expected="a boolean or a real number, of shape ()",
            fix="call the function and pass what it returns" if callable(pred) else None,
        )
    if aval.shape != ():
        raise ShapeError(
            f"Pred must be a scalar, got {pred!r:.60} of shape {aval.shape}.",
            function="cond",
            argument="pred",
            got=pred,
            expected="an array of shape ()",
            fix="reduce it with .any() or .all(), or select element by element with numpy.where",
        )
    return aval


def switch(
    index: Any, branches: Sequence[Callable], *operands: Any, operand: Any = _NOT_GIVEN
) -> Any:
    """Return `branches[index](*operands)`; trace all, run one. `index` is clamped to the valid range.

    Raises:
      TypeError: `index` is not an integer scalar, or the results differ; the message names the leaf.
      ValueError: there are no branches.

    >>> int(sagax.lax.switch(1, [lambda x: x, lambda x: x * 10], 4))
    40
    """
    operands = _with_operand("switch", operands, operand)
    branches = _check_branches(branches)
    _check_index(index)
    if len(branches) == 1:
        return branches[0](*operands)
    if config.current().disable_jit and is_concrete(index):
        return branches[min(max(int(index), 0), len(branches) - 1)](*operands)
    if not hasattr(index, "aval"):
        index = sockets.concrete(index)
    index = _clamped(index, len(branches) - 1)
    return switch_on(
        "switch", index, branches, operands, tuple(f"branches[{i}]" for i in range(len(branches)))
    )


def _clamped(index: Any, last: int) -> Any:
    """Convert `index` to int32, from 0 to `last`; clamp first, as wide integers would overflow."""
    dtype = aval_of(index).dtype
    if dtypes.itemsize(dtype) > 4 or dtype == dtypes.uint32:
        index = selection.clamp(scalar_like(0, dtype), index, scalar_like(last, dtype))
    index = convert(index, dtypes.int32)
    return selection.clamp(np.int32(0), index, np.int32(last))


def _check_branches(branches: Any) -> list:
    what = "lax.switch: branches argument should be a sequence of callables."
    branches = checks.instance(
        "switch",
        "branches",
        branches,
        Iterable,
        "a sequence of functions",
        message=what,
        show=kind_of,
        fix="put it in a list: [f]" if callable(branches) else None,
    )
    branches = list(branches)
    if not branches:
        raise ArgumentValueError(
            "Empty branch sequence",
            function="switch",
            argument="branches",
            got="no functions",
            expected="at least one function",
        )
    for i, f in enumerate(branches):
        check_function(f, what, "switch", f"branches[{i}]")
    return branches


def _check_index(index: Any) -> None:
    if not is_operand(index):
        raise unusable_leaf(index, "switch", "index", "choose by the number of a branch")
    aval = aval_of(index)
    if aval.shape != ():
        raise ShapeError(
            f"Branch index must be scalar, got {index!r:.60} of shape {aval.shape}.",
            function="switch",
            argument="index",
            got=index,
            expected="an integer of shape ()",
            fix="to choose for each example use vmap of a function that switches",
        )
    if not dtype_predicates.is_integer(aval.dtype):
        raise ArgumentError(
            f"Index type must be an integer, got {dtypes.name(aval.dtype)}",
            function="switch",
            argument="index",
            got=index,
            expected="an integer of shape ()",
            fix="convert it, with int(index) or .astype('int32')",
        )


def switch_on(function: str, index: Any, branches: list, operands: tuple, labels: tuple) -> Any:
    """Bind the branches for an int32 `index` in range; `labels` name the branches in errors."""
    leaves, tree = operand_leaves(function, "operands", operands)
    avals = [aval_of(x) for x in leaves]

    traced: dict[int, Body] = {}  # a function in several places is traced once
    for f in branches:
        if id(f) not in traced:
            traced[id(f)] = trace_body(
                f,
                tree,
                avals,
                transform=function,
                paths=functools.partial(leaf_paths, f, tuple(operands), {}),
            )
    bodies = [traced[id(f)] for f in branches]
    # report in the order of the call: the true branch first
    first = bodies[-1] if function == "cond" else bodies[0]
    first_label = labels[-1] if function == "cond" else labels[0]
    for body, label in zip(bodies, labels, strict=True):
        if body is first:
            continue
        if body.out_tree != first.out_tree:
            found = trees.structure_mismatch(first.out_tree, body.out_tree, first_label, label)
            raise structure_error(
                function,
                f"{function} branch outputs must have the same pytree structure, but they differ",
                found,
                "return the same containers from all branches",
            ).attach(returned_by=body.jaxpr.jaxpr.debug_info.code)
        error = type_mismatch(
            function,
            f"{function} branches must have equal output types but they differ",
            first.jaxpr.out_avals,
            body.jaxpr.out_avals,
            lambda: [
                trees.argument_path("output", p)
                for p in trees.key_paths(first.out_tree.unflatten(first.jaxpr.out_avals))
            ],
            (f"{first_label} ({first.name})", f"{label} ({body.name})"),
            "make both return the same shape and dtype",
        )
        if error is not None:
            raise error.attach(returned_by=body.jaxpr.jaxpr.debug_info.code)
    outs = _bind_forwarding(index, [b.closed() for b in bodies], leaves)
    return first.out_tree.unflatten(outs)


def _bind_forwarding(index: Any, branches: list[ClosedJaxpr], operands: Sequence[Any]) -> list:
    """Bind the branches; results that all take from one operand are that operand.

    So they stay unmapped under `vmap`, and known under a derivative, whatever the index is.
    """
    places: dict[Any, int] = {v: i for i, v in enumerate(branches[0].jaxpr.invars)}
    sources = [places.get(v) for v in branches[0].jaxpr.outvars]
    for b in branches[1:]:
        places = dict(zip(b.jaxpr.invars, range(len(operands)), strict=True))
        sources = [
            i if i == places.get(v) else None for i, v in zip(sources, b.jaxpr.outvars, strict=True)
        ]
    sources = [None if i is None or not hasattr(operands[i], "aval") else i for i in sources]
    if all(i is None for i in sources):
        return _bind(index, branches, operands)
    kept = tuple(i is None for i in sources)

    def without(inner: Jaxpr) -> Jaxpr:
        outs = [v for v, keep in zip(inner.outvars, kept, strict=True) if keep]
        return inner.replace(outvars=outs)

    reduced = [
        ClosedJaxpr(
            derived(b.jaxpr, (memo_keys.SOME_OUTPUTS, kept), functools.partial(without, b.jaxpr)),
            b.consts,
        )
        for b in branches
    ]
    found = iter(_bind(index, reduced, operands))
    return [next(found) if i is None else operands[i] for i in sources]
