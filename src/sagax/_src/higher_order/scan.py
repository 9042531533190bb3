"""Implement `scan`: a loop of known length with carry, sliced inputs and stacked outputs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.argument_checks.argument_names import body_names
from sagax._src.argument_checks.functions import check_function, kind_of, structure_error
from sagax._src.core import dims, memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import ClosedJaxpr, Literal, Var, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    ConcretizationTypeError,
)
from sagax._src.higher_order import varying_axes
from sagax._src.higher_order.call import call
from sagax._src.higher_order.trace_bodies import (
    carry_to_consts,
    operand_leaves,
    permute_inputs,
    trace_body,
    type_mismatch,
    unchanged_carry,
    value_of,
    weak_promote,
    with_outputs,
)
from sagax._src.primitives.arithmetic import sub
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.shaping import concatenate, size_as_value
from sagax._src.primitives.slicing import (
    dynamic_index_in_dim,
    dynamic_update_index_in_dim,
    slice_in_dim,
)
from sagax._src.primitives.structural import (
    convert,
    expand_dims,
    instantiate,
    moveaxis,
    zeros_of,
)
from sagax._src.transforms import masked_cotangents
from sagax._src.transforms.batch import batch_jaxpr, mapped, place, unmapped
from sagax._src.transforms.derived import derived, derived_program
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.linearize import linearize_jaxpr
from sagax._src.transforms.prune import prune_jaxpr, prune_loop
from sagax._src.transforms.transpose import backward

scan_p = Primitive("scan", multiple_results=True, holds_program=True)
scan_p.is_control = True

# Operands: constants, initial carry, sequences. The jaxpr takes constants, carry, slices and gives carry,
# slices; results are the final carry and the sequences of slices.


def _parts(xs: Sequence[Any], num_consts: int, num_carry: int) -> tuple[list, list, list]:
    n = num_consts + num_carry
    return list(xs[:num_consts]), list(xs[num_consts:n]), list(xs[n:])


@scan_p.abstract
def _(
    *avals: Any, jaxpr: ClosedJaxpr, length: Any, num_consts: int, num_carry: int, **_: Any
) -> list:
    outs = jaxpr.out_avals
    return [*outs[:num_carry], *(mapped(a, length, 0) for a in outs[num_carry:])]


scan_p.tells_vma = True


@scan_p.stage
def _(trace: Any, args: Sequence, params: dict) -> list:
    n = params["num_consts"], params["num_carry"]
    body = varying_axes.settled(params["jaxpr"], varying_axes.avals_of(args), *n)
    body, args = varying_axes.cast_constants(body, args, n[0])
    return trace.record(scan_p, args, {**params, "jaxpr": body})


@scan_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@scan_p.show
def _(
    *, jaxpr: ClosedJaxpr, length: Any, reverse: bool, unroll: int, num_consts: int, num_carry: int
) -> dict:
    return {
        "jaxpr": jaxpr,
        "length": length,
        "num_carry": num_carry,
        "num_consts": num_consts,
        "reverse": reverse,
        "unroll": unroll,
    }


@scan_p.reference
def _(
    *xs: Any,
    jaxpr: ClosedJaxpr,
    length: int,
    reverse: bool,
    unroll: int,
    num_consts: int,
    num_carry: int,
) -> list:
    consts, carry, sequences = _parts(xs, num_consts, num_carry)
    rows: list = [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        outs = eval_jaxpr(jaxpr.jaxpr, (), *consts, *carry, *(s[i] for s in sequences))
        carry, rows[i] = outs[:num_carry], outs[num_carry:]
    avals = jaxpr.out_avals[num_carry:]
    stacked = [
        np.stack([np.asarray(r[k]) for r in rows]) if length else np.zeros((0, *a.shape), a.dtype)
        for k, a in enumerate(avals)
    ]
    return [*carry, *stacked]


def _bind(
    closed: ClosedJaxpr, consts: Sequence, carry: Sequence, xs: Sequence, **params: Any
) -> list:
    """Bind a scan whose jaxpr may have constants of its own; they become constants of the scan."""
    if closed.consts:
        consts = [*closed.consts, *consts]
        closed = ClosedJaxpr(hoist_constants(closed.jaxpr), ())
    params["num_consts"], params["num_carry"] = len(consts), len(carry)
    return scan_p.bind(*consts, *carry, *xs, jaxpr=closed, **params)


@scan_p.jvp
def _(
    primals: Sequence,
    tangents: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **params: Any,
) -> tuple:
    nonzero = [type(t) is not Zero for t in tangents]
    n_in, n_out = len(primals), len(jaxpr.out_avals)
    marks = _carry_fixpoint(nonzero, num_consts, num_carry, lambda nz: jvp_jaxpr(jaxpr, nz)[1])
    wanted = (*marks[num_consts : num_consts + num_carry], *((False,) * (n_out - num_carry)))
    pushed, out_marks = jvp_jaxpr(jaxpr, tuple(marks), wanted)
    # inputs of `pushed`: all primals, then tangents in order; a scan wants each group together
    order, k = [[], [], []], n_in
    groups = [0] * num_consts + [1] * num_carry + [2] * (n_in - num_consts - num_carry)
    tangent_of = {}
    for i, m in enumerate(marks):
        if m:
            tangent_of[i] = k
            k += 1
    for g in range(3):
        members = [i for i in range(n_in) if groups[i] == g]
        order[g] = members + [tangent_of[i] for i in members if i in tangent_of]
    closed = permute_inputs(pushed, [*order[0], *order[1], *order[2]])
    # outputs: carry, slices, tangents of both -> carry, its tangents, slices, their tangents
    outvars = closed.jaxpr.outvars
    given = iter(outvars[n_out:])
    tangent_out = [next(given) if m else None for m in out_marks]
    carry_out = [*outvars[:num_carry], *(v for v in tangent_out[:num_carry] if v is not None)]
    slices_out = [*outvars[num_carry:n_out], *(v for v in tangent_out[num_carry:] if v is not None)]
    closed = with_outputs(closed, [*carry_out, *slices_out])
    full = [instantiate(t) if m else None for t, m in zip(tangents, marks, strict=True)]
    operands = [
        [primals[i] for i in range(n_in) if groups[i] == g]
        + [full[i] for i in range(n_in) if groups[i] == g and full[i] is not None]
        for g in range(3)
    ]
    outs = _bind(closed, *operands, **params)
    n_carry_t = sum(v is not None for v in tangent_out[:num_carry])
    carry, carry_t = outs[:num_carry], iter(outs[num_carry : num_carry + n_carry_t])
    rest = outs[num_carry + n_carry_t :]
    slices, slices_t = rest[: n_out - num_carry], iter(rest[n_out - num_carry :])
    primal_out = [*carry, *slices]
    tangents_out = []
    for i, m in enumerate(out_marks):
        source = carry_t if i < num_carry else slices_t
        tangents_out.append(next(source) if m else Zero.like(aval_of(primal_out[i])))
    return primal_out, tangents_out


def _carry_fixpoint(
    nonzero: Sequence[bool], num_consts: int, num_carry: int, outputs: Callable
) -> list[bool]:
    """Marks of the inputs, where those of the carry are closed under the body."""
    marks = list(nonzero)
    while True:
        out = outputs(tuple(marks))
        carry = marks[num_consts : num_consts + num_carry]
        new = [a or b for a, b in zip(carry, out[:num_carry], strict=True)]
        if new == carry:
            return marks
        marks[num_consts : num_consts + num_carry] = new


@scan_p.linearize
def _(
    primals: Sequence,
    tangents: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **params: Any,
) -> tuple:
    nonzero = [type(t) is not Zero for t in tangents]
    n_out = len(jaxpr.out_avals)
    marks = _carry_fixpoint(
        nonzero, num_consts, num_carry, lambda nz: linearize_jaxpr(jaxpr, nz).nonzero_out
    )
    wanted = (*marks[num_consts : num_consts + num_carry], *((False,) * (n_out - num_carry)))
    split = linearize_jaxpr(jaxpr, tuple(marks), wanted)
    known = split.known.jaxpr
    # A residual of the body that does not change is a constant of the linear scan; one that is a slice of a
    # sequence comes from that sequence; the others are written out, a slice each round.
    n_fixed = num_consts
    invariant = _invariant_outputs(known, n_fixed)
    outvars = known.outvars[:n_out]
    sources: list[tuple[str, int]] = []
    extra: dict[Any, int] = {}
    hoisted: list[Any] = []
    for where, k in split.residuals:
        v = known.invars[k] if where == "in" else known.outvars[k]
        if where == "in" and k < num_consts:
            sources.append(("const", k))
        elif where == "in" and k >= num_consts + num_carry:
            sources.append(("slice", k))
        elif v in invariant:
            if v not in hoisted:
                hoisted.append(v)
            sources.append(("hoisted", hoisted.index(v)))
        else:
            if v not in extra:
                extra[v] = len(outvars)
                outvars.append(v)
            sources.append(("out", extra[v]))
    consts, carry, xs = _parts(primals, num_consts, num_carry)
    outs = _bind(with_outputs(split.known, outvars), consts, carry, xs, **params)
    fixed_values = _evaluate_invariants(split.known, hoisted, consts) if hoisted else []
    # the linear scan
    linear = split.linear.jaxpr
    n_res = len(split.residuals)
    positions = iter(range(n_res, len(linear.invars)))
    place_of = {i: next(positions) for i, m in enumerate(marks) if m}
    order: list[list[int]] = [[], [], []]
    operands: list[list] = [[], [], []]
    for j, (where, k) in enumerate(sources):
        if where == "const":
            order[0].append(j)
            operands[0].append(consts[k])
        elif where == "hoisted":
            order[0].append(j)
            operands[0].append(fixed_values[k])
        elif where == "slice":
            order[2].append(j)
            operands[2].append(primals[k])
        else:
            order[2].append(j)
            operands[2].append(outs[k])
    for i, m in enumerate(marks):
        if m:
            g = 0 if i < num_consts else 1 if i < num_consts + num_carry else 2
            order[g].append(place_of[i])
            operands[g].append(instantiate(tangents[i]))
    closed = permute_inputs(split.linear, [*order[0], *order[1], *order[2]])
    pushed = iter(_bind(closed, *operands, **params) if any(split.nonzero_out) else [])
    avals = [aval_of(o) for o in outs[:n_out]]
    return outs[:n_out], [
        next(pushed) if m else Zero.like(a) for m, a in zip(split.nonzero_out, avals, strict=True)
    ]


def _invariant_outputs(jaxpr: Any, num_consts: int) -> set:
    """Variables that depend on constants only, and so are the same in every round."""
    known = set(jaxpr.invars[:num_consts]) | set(jaxpr.constvars)
    for eqn in jaxpr.eqns:
        if not eqn.effects and all(type(v) is Literal or v in known for v in eqn.invars):
            known.update(eqn.outvars)
    return known


def _evaluate_invariants(closed: ClosedJaxpr, wanted: Sequence[Var], consts: Sequence[Any]) -> list:
    """The values of loop-invariant variables, computed once, outside of the loop."""
    inner = closed.jaxpr

    def part() -> Any:
        few = inner.replace(invars=inner.invars[: len(consts)], outvars=list(wanted))
        return prune_jaxpr(few.replace(eqns=[e for e in few.eqns if not e.effects], effects=None))

    found = derived(inner, (memo_keys.LOOP_INVARIANTS, *wanted), part)
    return call(ClosedJaxpr(found, closed.consts), consts, name="invariants")


def _depends(jaxpr: Any, linear: Sequence[bool], num_consts: int, num_carry: int) -> list[bool]:
    """Which parts of the carry depend on linear operands, in some round. Such a part starts from zero
    where its initial value is no linear operand: the loop would not be linear otherwise."""
    marks = list(linear)
    while True:
        seen = {v for v, m in zip(jaxpr.invars, marks, strict=True) if m}
        for eqn in jaxpr.eqns:
            if any(type(v) is Var and v in seen for v in eqn.invars):
                seen.update(eqn.outvars)
        carry = marks[num_consts : num_consts + num_carry]
        new = [
            m or (type(v) is Var and v in seen) for m, v in zip(carry, jaxpr.outvars, strict=False)
        ]
        if new == carry:
            return carry
        marks[num_consts : num_consts + num_carry] = new


@scan_p.transpose
def _(
    cts: Sequence,
    *args: Any,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    reverse: bool,
    **params: Any,
) -> list:
    linear = [type(a) is Linear for a in args]
    consts, carry, xs = _parts(args, num_consts, num_carry)
    lin_const, lin_carry, lin_xs = _parts(linear, num_consts, num_carry)
    if not all(_depends(jaxpr.jaxpr, linear, num_consts, num_carry)):
        raise ArgumentError(
            "a scan whose carry is only partly linear cannot be transposed",
            function="scan",
            fix="use grad, vjp or linearize of the function, which separate the parts",
        )
    ct_carry = [instantiate(c) for c in cts[:num_carry]]
    ct_marks = [type(c) is not Zero for c in cts[num_carry:]]
    ct_ys = [c for c in cts[num_carry:] if type(c) is not Zero]
    fixed = [c for c, lin in zip(consts, lin_const, strict=True) if not lin]
    wanted = [c for c, lin in zip(consts, lin_const, strict=True) if lin]
    slices = [x for x, lin in zip(xs, lin_xs, strict=True) if not lin]
    out_avals = jaxpr.out_avals

    def body(*values: Any) -> list:
        values_ = list(values)
        fixed_, rest = values_[: len(fixed)], values_[len(fixed) :]
        acc, rest = rest[: len(wanted)], rest[len(wanted) :]
        ct_c, rest = rest[:num_carry], rest[num_carry:]
        slices_, ct_y = iter(rest[: len(slices)]), iter(rest[len(slices) :])
        fixed_ = iter(fixed_)
        inputs = [
            Linear(c.aval) if lin else next(fixed_)
            for c, lin in zip(consts, lin_const, strict=True)
        ]
        inputs += [Linear(aval_of(c)) for c in carry]
        inputs += [
            Linear(unmapped(x.aval, 0)) if lin else next(slices_)
            for x, lin in zip(xs, lin_xs, strict=True)
        ]
        given = [
            next(ct_y) if m else Zero.like(a)
            for m, a in zip(ct_marks, out_avals[num_carry:], strict=True)
        ]
        found = backward(jaxpr.jaxpr, (), inputs, [*ct_c, *given])
        found_const = [c for c, lin in zip(found[:num_consts], lin_const, strict=True) if lin]
        acc = [instantiate(add_tangents(a, c)) for a, c in zip(acc, found_const, strict=True)]
        found_carry = [instantiate(c) for c in found[num_consts : num_consts + num_carry]]
        found_xs = [
            instantiate(c)
            for c, lin in zip(found[num_consts + num_carry :], lin_xs, strict=True)
            if lin
        ]
        return [*acc, *found_carry, *found_xs]

    avals = [aval_of(c) for c in fixed]
    avals += [c.aval for c in wanted] + [aval_of(c) for c in ct_carry]
    avals += [unmapped(aval_of(x), 0) for x in slices]
    avals += [unmapped(aval_of(c), 0) for c in ct_ys]
    safe = masked_cotangents.wanted()
    key = (memo_keys.SCAN_TRANSPOSE, num_consts, num_carry, safe, *linear, *ct_marks, *avals)
    (transposed,) = derived_program(jaxpr.jaxpr, key, body, avals)
    outs = _bind(
        transposed,
        fixed,
        [*(zeros_of(c.aval) for c in wanted), *ct_carry],
        [*slices, *ct_ys],
        reverse=not reverse,
        **params,
    )
    ct_const, rest = iter(outs[: len(wanted)]), outs[len(wanted) :]
    ct_init, ct_xs = rest[:num_carry], iter(rest[num_carry:])
    return [
        *(next(ct_const) if lin else None for lin in lin_const),
        *(c if lin else None for c, lin in zip(ct_init, lin_carry, strict=True)),
        *(next(ct_xs) if lin else None for lin in lin_xs),
    ]


@scan_p.batch
def _(
    axis: Any,
    args: Sequence,
    in_dims: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **params: Any,
) -> tuple:
    consts, carry, xs = _parts(args, num_consts, num_carry)
    d_const, d_carry, d_xs = _parts(in_dims, num_consts, num_carry)
    n_out = len(jaxpr.out_avals)
    consts = [
        moveaxis(x, d, 0) if d is not None else x for x, d in zip(consts, d_const, strict=True)
    ]
    xs = [moveaxis(x, d, 1) if d is not None else x for x, d in zip(xs, d_xs, strict=True)]
    dims_const = [None if d is None else 0 for d in d_const]
    dims_xs = [None if d is None else 0 for d in d_xs]
    batched_carry = [d is not None for d in d_carry]
    while True:
        dims_in = (*dims_const, *(0 if b else None for b in batched_carry), *dims_xs)
        force = (*batched_carry, *((False,) * (n_out - num_carry)))
        closed, out_dims = batch_jaxpr(jaxpr, axis, dims_in, force)
        found = [d is not None for d in out_dims[:num_carry]]
        new = [a or b for a, b in zip(batched_carry, found, strict=True)]
        if new == batched_carry:
            break
        batched_carry = new
    # slices may come out mapped along any dimension; sequences put theirs after the scanned one
    carry = [
        place(x, d, 0 if b else None, axis)
        for x, d, b in zip(carry, d_carry, batched_carry, strict=True)
    ]
    outs = _bind(closed, consts, carry, xs, **params)
    dims_out = [0 if b else None for b in batched_carry]
    dims_out += [None if d is None else d + 1 for d in out_dims[num_carry:]]
    return outs, dims_out


@scan_p.prune
def _(
    used: list[bool], *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **params: Any
) -> tuple:
    body, operands, results = prune_loop(jaxpr, used, num_consts, num_carry)
    counts = {"num_consts": sum(operands[:num_consts]), "num_carry": sum(results[:num_carry])}
    return {"jaxpr": body, **params, **counts}, operands, results


@scan_p.lower
def _(
    b: Any,
    *xs: Any,
    jaxpr: ClosedJaxpr,
    length: Any,
    reverse: bool,
    unroll: int,
    num_consts: int,
    num_carry: int,
) -> list:
    consts, carry, sequences = _parts(xs, num_consts, num_carry)
    y_avals = [mapped(a, length, 0) for a in jaxpr.out_avals[num_carry:]]
    if not dims.is_dim(length) and length == 0:  # no slice could be taken, in a round never done
        return [*carry, *(_blank(b, a) for a in y_avals)]
    n_seq = len(sequences)
    closed, counter = _step_jaxpr(jaxpr, length, reverse, num_consts, num_carry, n_seq)
    start = [b.constant(0, counter.dtype)]
    ys = [_blank(b, a) for a in y_avals]
    init = [*start, *carry, *ys]
    avals = [v.aval for v in init]
    trips = b.dim(length)

    def cond(i: Any, *_: Any) -> list:
        return [b.compare("LT", i, b.convert(trips, counter.dtype))]

    def step(i: Any, *state: Any) -> list:
        out = list(state)
        for _ in range(unroll):
            out = b.inline(closed, [i, *consts, *out[:num_carry], *sequences, *out[num_carry:]])
            i = b.op("add", [i, b.constant(1, counter.dtype)], counter)
        return [i, *out]

    regions = [b.region(avals, cond), b.region(avals, step)]
    return b.op("while", init, avals, regions=regions)[1:]


def _blank(b: Any, aval: Any) -> Any:
    """An array to be filled round by round."""
    return b.view(b.full(0, b.physical(aval)), aval)


def _step_jaxpr(
    jaxpr: ClosedJaxpr, length: Any, reverse: bool, num_consts: int, num_carry: int, n_seq: int
) -> tuple:
    """One round as a jaxpr on whole sequences: (i, consts, carry, xs, ys) -> (carry, ys)."""
    counter = intern_aval((), np.dtype(np.int32), False, None)
    key = (memo_keys.SCAN_STEP, length, reverse, num_consts, num_carry)
    found = jaxpr.jaxpr.memo.get(key)
    if found is None:
        inner = jaxpr.jaxpr
        seq_avals = [mapped(v.aval, length, 0) for v in inner.invars[num_consts + num_carry :]]
        y_avals = [mapped(v.aval, length, 0) for v in inner.outvars[num_carry:]]

        def step(i: Any, *values: Any) -> list:
            head, rest = values[: num_consts + num_carry], values[num_consts + num_carry :]
            at = i
            if reverse:
                symbolic = dims.is_dim(length)
                last = size_as_value(length - 1) if symbolic else np.int32(length - 1)
                at = sub(convert(last, i.aval.dtype), i)
            slices = [
                dynamic_index_in_dim(x, at, 0, keepdims=False, allow_negative_indices=False)
                for x in rest[:n_seq]
            ]
            outs = eval_jaxpr(inner, (), *head, *slices)
            ys = [
                dynamic_update_index_in_dim(y, o, at, 0, allow_negative_indices=False)
                for y, o in zip(rest[n_seq:], outs[num_carry:], strict=True)
            ]
            return [*outs[:num_carry], *ys]

        avals = [counter, *inner.in_avals[: num_consts + num_carry], *seq_avals, *y_avals]
        found, captured = stage(step, avals, inner.debug_info)
        if captured:
            raise AssertionError("a scan body captured values while it was lowered")
        jaxpr.jaxpr.memo[key] = found
    return found, counter


# public ------------------------------------------------------------------------------------------


def scan(
    f: Callable,
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple:
    """The final carry and the stacked outputs of a loop over the leading axis of `xs`.

    `f(carry, x) -> (carry, y)` is traced once. Equivalent to a Python loop that feeds the carry from
    round to round and stacks the ys, compiled as one loop.

    Args:
      init: initial carry; any pytree. Its types must be those of the carry that `f` returns.
      xs: pytree of arrays with equal leading sizes, or None (then `length` is needed).
      reverse: go through `xs` from the end.
      unroll: how many rounds each pass of the compiled loop does; True for all.

    Raises:
      TypeError: the carry changes its structure or type; the message names the leaf.
      ValueError: leading sizes differ.

    >>> import sagax, sagax.numpy as np
    >>> total, partial = sagax.lax.scan(lambda c, x: (c + x, c), np.int32(0), np.arange(4))
    >>> int(total), partial
    (6, Array([0, 0, 1, 3], dtype=int32))
    """
    check_function(f, "lax.scan: f argument should be a callable.", "scan", "f")
    return traced_scan("scan", f, init, xs, length, reverse, unroll)


def traced_scan(
    function: str,
    f: Callable,
    init: Any,
    xs: Any,
    length: Any,
    reverse: Any = False,
    unroll: Any = 1,
    *,
    init_paths: Sequence[str] | Callable[[], Sequence[str]] | None = None,
    names: Sequence[str] | Callable[[], Sequence[str]] | None = None,
    same: tuple | None = None,
) -> Any:
    """What `scan` does, for messages of `function`.

    Args:
      init_paths: the caller's names of the leaves of `init`.
      names: the body's names of the leaves of its arguments.
      same: what `f` computes depends on, where it is a wrapper (see `trace_body`).
    """
    init_leaves, init_tree = operand_leaves(function, "init", init)
    x_leaves, x_tree = operand_leaves(function, "xs", xs)
    of = f"{function} of {function_name(f)}"
    length = loop_length(of, function, xs, x_leaves, length)
    unroll = _rounds_a_pass(function, unroll, length)
    x_avals = [unmapped(aval_of(x), 0) for x in x_leaves]
    tree = trees.treedef_tuple((init_tree, x_tree))
    if names is None:
        names = functools.partial(_parameter_names, f, init, xs)
    if config.current().disable_jit and not dims.is_dim(length):
        return _scan_in_python(f, init, xs, length, reverse)
    while True:
        avals = [aval_of(x) for x in init_leaves]
        body = trace_body(f, tree, [*avals, *x_avals], transform=function, paths=names, same=same)
        out_children = trees.treedef_children(body.out_tree)
        if not _is_pair(body.out_tree, out_children):
            raise ArgumentError(
                f"{function} body output must be a pair, got {body.out_tree}.",
                function=of,
                argument="f",
                expected=f"{function_name(f)} to return (carry, y)",
                got=kind_of(body.out_tree.unflatten(body.jaxpr.out_avals)),
                fix="return (carry, None) if there is nothing to stack",
                returned_by=f,
            )
        carry_tree = out_children[0]
        if carry_tree != init_tree:
            found = trees.structure_mismatch(
                init_tree, carry_tree, "the carry input", "the carry output"
            )
            raise structure_error(
                of,
                f"{function} body function carry input and carry output must have the same pytree structure, "
                "but they differ",
                found,
                "return the carry in the containers that it comes in, the first time as init",
            ).attach(returned_by=f, returned_at=(0,))
        n = len(init_leaves)
        outs = body.jaxpr.out_avals
        promoted = weak_promote(init_leaves, outs[:n])
        if promoted is None:
            break
        init_leaves = promoted
    if init_paths is None:
        init_paths = functools.partial(paths_of, "init", init)
    error = type_mismatch(
        of,
        f"{function} body function carry input and carry output must have equal types, but they differ",
        [aval_of(x) for x in init_leaves],
        outs[:n],
        init_paths,
        ("the carry input", "the carry output"),
        "make the body return the carry with the type it got",
    )
    if error is not None:
        raise error.attach(returned_by=f, returned_at=(0,))
    # What no round changes is a constant of the loop, and a slice that is handed on needs no writing.
    n_const = len(body.consts)
    fixed = unchanged_carry(body.jaxpr, n_const, n)
    jaxpr = carry_to_consts(body.jaxpr, n_const, fixed, True)
    consts = [*body.consts, *(init_leaves[i] for i in fixed)]
    carry = [x for i, x in enumerate(init_leaves) if i not in fixed]
    slices = dict(zip(jaxpr.jaxpr.invars[n_const + n :], x_leaves, strict=True))
    handed = [slices.get(v) if type(v) is Var else None for v in jaxpr.jaxpr.outvars[len(carry) :]]
    kept = [v for v, x in zip(jaxpr.jaxpr.outvars[len(carry) :], handed, strict=True) if x is None]
    jaxpr = with_outputs(jaxpr, [*jaxpr.jaxpr.outvars[: len(carry)], *kept])
    params = {"jaxpr": jaxpr, "reverse": bool(reverse)}
    results = _scan_unrolled(consts, carry, x_leaves, length, unroll, params)
    found, stacked = iter(results[: len(carry)]), iter(results[len(carry) :])
    return body.out_tree.unflatten(
        [
            *(value_of(x) if i in fixed else next(found) for i, x in enumerate(init_leaves)),
            *(next(stacked) if x is None else value_of(x) for x in handed),
        ]
    )


def paths_of(name: str, tree: Any) -> list[str]:
    return [trees.argument_path(name, p) for p in trees.key_paths(tree)]


def _rounds_a_pass(function: str, unroll: Any, length: Any) -> int:
    """How many rounds each pass of the compiled loop does."""
    if isinstance(unroll, (bool, np.bool_)):
        return 1 if not unroll or dims.is_dim(length) else max(length, 1)
    try:
        rounds = operator.index(unroll)
    except TypeError:
        raise ArgumentError(
            function=function,
            argument="unroll",
            got=repr(unroll),
            expected="an int, the number of rounds in each pass, or a bool: all or one",
        ) from None
    if rounds < 0:
        raise ArgumentValueError(
            "`unroll` must be a `bool` or a non-negative `int`.",
            function=function,
            argument="unroll",
            got=rounds,
            expected="an int of at least 0",
        )
    return max(rounds if dims.is_dim(length) else min(rounds, length), 1)


def _scan_unrolled(
    consts: list, init: list, xs: list, length: Any, unroll: int, params: dict
) -> list:
    """Bind the scan; rounds that do not fill a whole pass are done by a second, short one."""
    n_const, n = len(consts), len(init)
    rest = 0 if dims.is_dim(length) or not length else length % unroll
    if not rest:
        return scan_p.bind(
            *consts,
            *init,
            *xs,
            length=length,
            unroll=unroll,
            num_consts=n_const,
            num_carry=n,
            **params,
        )
    whole = length - rest
    first, second = (
        ((0, whole), (whole, length)) if not params["reverse"] else ((rest, length), (0, rest))
    )
    carry, pieces = init, []
    for lo, hi in (first, second):
        part = [slice_in_dim(x, lo, hi) for x in xs]
        outs = scan_p.bind(
            *consts,
            *carry,
            *part,
            length=hi - lo,
            unroll=unroll if hi - lo == whole else hi - lo,
            num_consts=n_const,
            num_carry=n,
            **params,
        )
        carry = outs[:n]
        pieces.append(outs[n:])
    ordered = pieces if not params["reverse"] else pieces[::-1]
    return [*carry, *(concatenate(list(pair), 0) for pair in zip(*ordered, strict=True))]


def _is_pair(tree: Any, children: list) -> bool:
    node = tree.node_data()
    return len(children) == 2 and node is not None and node[0] in (tuple, list)


def _parameter_names(f: Callable, init: Any, xs: Any) -> list[str]:
    """What the body calls the leaves of its arguments."""
    names = body_names(f, ("carry", "x"))
    return paths_of(names[0], init) + paths_of(names[1], xs)


def loop_length(of: str, function: str, xs: Any, leaves: Sequence[Any], length: Any) -> Any:
    """The number of rounds: what `length` says and the leading sizes of the leaves of `xs` agree on."""
    paths = [trees.argument_path("xs", p) for p in trees.key_paths(xs)]
    for x, path in zip(leaves, paths, strict=True):
        if not aval_of(x).shape:
            raise ArgumentValueError(
                f"{function} got value with no leading axis to scan over",
                function=of,
                argument=path,
                got=x,
                expected="an array with at least one dimension",
                fix="let the function close over a value that does not change; of a list of numbers make one "
                "array: numpy.array(xs)",
            )
    if length is not None and not dims.is_dim(length):
        length = _static_length(of, length)
    sizes = [aval_of(x).shape[0] for x in leaves]
    if not sizes and length is None:
        raise ArgumentValueError(
            f"{function} got no values to scan over and `length` not provided.",
            function=of,
            argument="xs",
            got=kind_of(xs),
            expected="arrays" + (", or else the argument length" if function == "scan" else ""),
        )
    first = sizes[0] if length is None else length
    if not all(dims.same(s, first) for s in sizes):
        shown = ", ".join(f"{path}: {s}" for path, s in zip(paths, sizes, strict=True))
        raise ArgumentValueError(
            f"{function} got values with different leading axis sizes: {', '.join(map(str, sizes))}",
            function=of,
            argument="xs",
            got=shown,
            expected=f"{first} everywhere" + ("" if length is None else ", the argument length"),
            fix="give all arrays in xs one leading size"
            + ("" if length is None else ", or leave out length"),
        )
    return first


_LONGEST = np.iinfo(np.int32).max  # rounds are counted in 32 bits


def _static_length(of: str, length: Any) -> int:
    if isinstance(length, Tracer):
        raise ConcretizationTypeError(
            length, "The `length` argument to `scan` must be known when the function is traced."
        )
    try:
        rounds = operator.index(length)
    except TypeError:
        raise ArgumentError(
            "scan requires an integer length",
            function=of,
            argument="length",
            got=repr(length),
            expected="an int",
        ) from None
    if not 0 <= rounds <= _LONGEST:
        raise ArgumentValueError(
            function=of,
            argument="length",
            got=rounds,
            expected=f"an int from 0 to {_LONGEST}",
        )
    return rounds


def _scan_in_python(f: Callable, init: Any, xs: Any, length: int, reverse: bool) -> tuple:
    """The loop as Python runs it, for debugging with jit disabled."""
    carry, ys = init, []
    for i in reversed(range(length)) if reverse else range(length):
        carry, y = f(
            carry, trees.map(lambda x, i=i: dynamic_index_in_dim(x, i, 0, keepdims=False), xs)
        )
        ys.append(y)
    if reverse:
        ys.reverse()
    if not ys:
        raise ArgumentValueError(
            "a scan of length 0 needs jit", function="scan", argument="length", got=0
        )
    stacked = trees.map(lambda *rows: concatenate([expand_dims(r, (0,)) for r in rows], 0), *ys)
    return carry, stacked
