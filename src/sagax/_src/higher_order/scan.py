"""Implement `scan`: a loop of static length with carry, sliced inputs and stacked outputs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

import sagax._src.diagnostics.headlines as headlines
from sagax._src import config, trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import body_names
from sagax._src.argument_checks.functions import check_function, kind_of, structure_error
from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import HIGHER_ORDER
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, eval_jaxpr
from sagax._src.core.operands import LoopOperands, LoopResults, carry_fixpoint, partition
from sagax._src.core.primitive import HigherOrderPrimitive
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.tangents import (
    Linear,
    Zero,
    linear_marks,
    nonzero_marks,
    nonzero_tangents,
    spread_tangents,
)
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ConcretizationTypeError
from sagax._src.higher_order import progress as bars
from sagax._src.higher_order import varying_axes
from sagax._src.higher_order.call import call
from sagax._src.higher_order.float0_leaves import is_no_tangent
from sagax._src.higher_order.trace_bodies import (
    as_result,
    as_value,
    carry_to_consts,
    operand_leaves,
    permute_inputs,
    trace_body,
    type_mismatch,
    unchanged_carry,
    weak_promote,
    with_outputs,
    with_tangents_grouped,
)
from sagax._src.primitives.arithmetic import sub
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.shaping import concatenate, size_as_value
from sagax._src.primitives.slicing import (
    dynamic_index_in_dim,
    dynamic_update_index_in_dim,
    slice_in_dim,
)
from sagax._src.primitives.structural import convert, expand_dims, instantiate
from sagax._src.transforms import masked_cotangents
from sagax._src.transforms.batch import (
    batch_jaxpr,
    mapped,
    mapped_outputs,
    move_batch_dim,
    move_batch_dims,
    unmapped,
)
from sagax._src.transforms.derived import derived, derived_jaxpr
from sagax._src.transforms.discharge import contents, discharge_jaxpr, write_back
from sagax._src.transforms.jvp import as_weak_as, jvp_jaxpr
from sagax._src.transforms.linearize import linearize_jaxpr
from sagax._src.transforms.prune import prune_jaxpr, prune_loop
from sagax._src.transforms.transpose import backward

scan_p = HigherOrderPrimitive(
    "scan", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
scan_p.is_control = True

# The jaxpr maps LoopOperands to LoopResults, with slices in place of sequences.


@scan_p.abstract
def _(
    *avals: Any, jaxpr: ClosedJaxpr, length: Any, num_consts: int, num_carry: int, **_: Any
) -> list:
    outs = jaxpr.out_avals
    return [*outs[:num_carry], *(mapped(a, length, 0) for a in outs[num_carry:])]


scan_p.sets_vma = True


@scan_p.regroup
def _(sizes: Sequence[int], *, num_consts: int, num_carry: int, **params: Any) -> dict:
    constants, carry, _ = LoopOperands.split(sizes, num_consts, num_carry)
    return {**params, "num_consts": sum(constants), "num_carry": sum(carry)}


@scan_p.stage
def _(trace: Any, args: Sequence, params: dict) -> list:
    counts = params["num_consts"], params["num_carry"]
    body = varying_axes.fixpoint_carry(
        params["jaxpr"], LoopOperands.split(map(aval_of, args), *counts)
    )
    body, args = varying_axes.cast_constants(body, args, params["num_consts"])
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
    constants, carry, sequences = LoopOperands.split(xs, num_consts, num_carry)
    rows: list = [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        outs = eval_jaxpr(jaxpr.jaxpr, (), *constants, *carry, *(s[i] for s in sequences))
        carry, rows[i] = LoopResults.split(outs, num_carry)
    avals = jaxpr.out_avals[num_carry:]
    stacked = [
        np.stack([np.asarray(r[k]) for r in rows]) if length else np.zeros((0, *a.shape), a.dtype)
        for k, a in enumerate(avals)
    ]
    return [*carry, *stacked]


def _bind(closed: ClosedJaxpr, operands: LoopOperands, **params: Any) -> list:
    """Bind a scan; constants of its jaxpr become constants of the scan."""
    if closed.consts:
        operands = LoopOperands(list(closed.consts)) + operands
        closed = ClosedJaxpr(hoist_constants(closed.jaxpr), ())
    return scan_p.bind(
        *operands.flat(),
        jaxpr=closed,
        num_consts=len(operands.constants),
        num_carry=len(operands.carry),
        **params,
    )


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
    operands = LoopOperands.split(primals, num_consts, num_carry)
    moving = carry_fixpoint(
        operands.like(nonzero_marks(tangents)),
        lambda moving: jvp_jaxpr(jaxpr, tuple(moving.flat()))[1],
    )
    n_out = len(jaxpr.out_avals)
    nonzero_out = (*moving.carry, *[False] * (n_out - num_carry))
    pushed, marks = jvp_jaxpr(jaxpr, tuple(moving.flat()), nonzero_out)
    # `pushed` groups all primals, then all tangents; a scan needs each group's together
    out_moving = LoopResults.split(marks, num_carry)
    outvars = pushed.jaxpr.outvars
    primal_out = LoopResults.split(outvars[:n_out], num_carry)
    tangent_out = out_moving.like_marked(outvars[n_out:])
    outputs = primal_out + tangent_out
    body = with_outputs(with_tangents_grouped(pushed, moving), outputs.flat())
    given = moving.like_marked(_instantiated(tangents, moving))
    carry, stacked = outputs.like(_bind(body, operands + given, **params))
    n_stacked = n_out - num_carry
    results = [*carry[:num_carry], *stacked[:n_stacked]]
    found = [*carry[num_carry:], *stacked[n_stacked:]]
    spread = spread_tangents(found, marks, list(map(aval_of, results)))
    return results, list(map(as_weak_as, results, spread))


def _instantiated(tangents: Sequence[Any], moving: LoopOperands) -> list:
    """Return the tangents of the marked operands, as arrays."""
    return list(map(instantiate, compress(tangents, moving.flat())))


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
    operands = LoopOperands.split(primals, num_consts, num_carry)
    moving = carry_fixpoint(
        operands.like(nonzero_marks(tangents)),
        lambda moving: linearize_jaxpr(jaxpr, tuple(moving.flat())).nonzero_out,
    )
    n_out = len(jaxpr.out_avals)
    nonzero_out = (*moving.carry, *[False] * (n_out - num_carry))
    split = linearize_jaxpr(jaxpr, tuple(moving.flat()), nonzero_out)
    known, linear = split.known.jaxpr, split.linear
    # An invariant residual of the body is a constant of the linear scan; a slice of a sequence comes from that
    # sequence; the others are stacked, a slice for each iteration.
    residuals = split.pick(known.invars, known.outvars)
    invariant = _invariant_outputs(known, num_consts)
    constants, _, slices = map(set, operands.like(known.invars))
    hoisted = [v for v in dict.fromkeys(residuals) if v in invariant and v not in constants]
    written = [v for v in dict.fromkeys(residuals) if v not in invariant and v not in slices]
    outs = _bind(with_outputs(split.known, [*known.outvars[:n_out], *written]), operands, **params)
    value = dict(zip(known.invars, primals, strict=True))
    value.update(zip(written, outs[n_out:], strict=True))
    if hoisted:
        found = _evaluate_invariants(split.known, hoisted, operands.constants)
        value.update(zip(hoisted, found, strict=True))
    # the linear scan takes residuals, then tangents
    fixed = [v in invariant for v in residuals]

    def grouped(of_residuals: Sequence[Any], of_tangents: Sequence[Any]) -> LoopOperands:
        constants, sequences = partition(of_residuals, fixed)
        return LoopOperands(constants, [], sequences) + moving.like_marked(of_tangents)

    pushed: Sequence[Any] = ()
    if any(split.nonzero_out):
        n, order = len(residuals), range(len(linear.in_avals))
        given = grouped([value[v] for v in residuals], _instantiated(tangents, moving))
        closed = permute_inputs(linear, grouped(order[:n], order[n:]).flat())
        pushed = _bind(closed, given, **params)
    results = outs[:n_out]
    return results, spread_tangents(pushed, split.nonzero_out, list(map(aval_of, results)))


def _invariant_outputs(jaxpr: Any, num_consts: int) -> set:
    """Return variables that depend on constants only, and so are the same in every iteration."""
    known = set(jaxpr.invars[:num_consts]) | set(jaxpr.constvars)
    for eqn in jaxpr.eqns:
        if not eqn.effects and all(type(v) is Literal or v in known for v in eqn.invars):
            known.update(eqn.outvars)
    return known


def _evaluate_invariants(
    closed: ClosedJaxpr, variables: Sequence[Var], consts: Sequence[Any]
) -> list:
    """Compute loop-invariant variables outside of the loop."""
    inner = closed.jaxpr

    def part() -> Any:
        few = inner.replace(invars=inner.invars[: len(consts)], outvars=list(variables))
        return prune_jaxpr(few.replace(eqns=[e for e in few.eqns if not e.effects], effects=None))

    found = derived(inner, (memo_keys.LOOP_INVARIANTS, *variables), part)
    return call(ClosedJaxpr(found, closed.consts), consts, name="invariants")


def _carry_depends(jaxpr: Jaxpr, linear: LoopOperands) -> bool:
    """Return whether all of the carry depends on linear operands, in some iteration. A part that does starts from
    zero if its initial value is not a linear operand: the loop would not be linear otherwise."""
    if all(linear.carry):
        return True
    carry = linear.like(jaxpr.invars).carry
    dependents: dict[Any, list[Sequence[Any]]] = {}
    for eqn in jaxpr.eqns:
        for v in eqn.invars:
            dependents.setdefault(v, []).append(eqn.outvars)
    for out, v in zip(jaxpr.outvars, carry, strict=False):  # in the next iteration
        dependents.setdefault(out, []).append((v,))
    reached: set[Any] = set()
    todo = list(compress(jaxpr.invars, linear.flat()))
    while todo:
        v = todo.pop()
        if v not in reached:
            reached.add(v)
            for outs in dependents.get(v, ()):
                todo.extend(outs)
    return reached.issuperset(carry)


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
    operands = LoopOperands.split(args, num_consts, num_carry)
    linear = operands.like(linear_marks(args))
    if not _carry_depends(jaxpr.jaxpr, linear):
        raise ArgumentError(
            "a scan whose carry is only partly linear cannot be transposed",
            function="scan",
            fix="use grad, vjp or linearize of the function, which separate the parts",
        )
    ct_carry, ct_stacked = LoopResults.split(cts, num_carry)
    constants = list(compress(operands.constants, map(operator.not_, linear.constants)))
    sequences = list(compress(operands.sequences, map(operator.not_, linear.sequences)))

    def given(nonzero: LoopResults, summed: Sequence[bool]) -> LoopOperands:
        """Operands of the transposed loop: constants stay, the carry goes back beside sums for constants."""
        sums = [Zero(x.aval) for x in compress(operands.constants, summed)]
        carry = compress(ct_carry, nonzero.carry)
        return LoopOperands(constants, [*sums, *carry], [*sequences, *nonzero_tangents(ct_stacked)])

    # Unreached cotangents, in all iterations, are symbolic zeros: an array of zeros times a derivative that is
    # not finite is NaN.
    nonzero = carry_fixpoint(
        LoopResults.split(nonzero_marks(cts), num_carry),
        lambda nz: (
            _transposed(
                jaxpr, linear, nz, given(nz, linear.constants), params["length"]
            ).marks.carry
        ),
    )
    whole = _transposed(jaxpr, linear, nonzero, given(nonzero, linear.constants), params["length"])
    summed = whole.marks.constants
    values = given(nonzero, summed).map(instantiate)
    found = _transposed(jaxpr, linear, nonzero, values, params["length"], summed)
    outs = iter(_bind(found.body, values, reverse=not reverse, **params))
    pulled = [next(outs) if m else None for m in (*summed, *nonzero.carry, *found.marks.sequences)]
    in_avals = operands.map(aval_of)
    avals = LoopOperands(
        in_avals.constants, _cotangent_avals(in_avals.carry, jaxpr.out_avals), in_avals.sequences
    )
    return [
        None if type(x) is not Linear else Zero(aval) if ct is None else ct
        for x, aval, ct in zip(args, avals.flat(), pulled, strict=True)
    ]


class _Transposed(NamedTuple):
    """The body of a transposed loop, and the inputs of the loop that get cotangents."""

    body: ClosedJaxpr
    marks: LoopOperands


def _transposed(
    jaxpr: ClosedJaxpr,
    linear: LoopOperands,
    nonzero: LoopResults,
    given: LoopOperands,
    length: Any,
    summed: Sequence[bool] | None = None,
) -> _Transposed:
    """Transpose a loop's body, which is linear in the marked inputs and has cotangents of the outputs in `nonzero`.

    Args:
      given: operands of the transposed loop: constants; sums of the cotangents of the linear constants and cotangents
          of the carry; sequences and their cotangents.
      summed: the linear constants that have sums, if not all.
    """
    summed = linear.constants if summed is None else summed
    n_sums, n_sequences = sum(summed), linear.sequences.count(False)
    # all of the carry is linear inside, also a part with a nonlinear initial value
    unknown = (*linear.constants, *[True] * len(linear.carry), *linear.sequences)
    ins = LoopOperands.split(jaxpr.in_avals, len(linear.constants), len(linear.carry))
    carry_avals = _cotangent_avals(ins.carry, jaxpr.out_avals)
    in_avals = LoopOperands(ins.constants, carry_avals, ins.sequences).flat()
    marks: list[bool] = []

    def body(*values: Any) -> list:
        constants, carry, rows = given.like(values)
        known = iter((*constants, *rows))
        inputs = [Linear(a) if u else next(known) for a, u in zip(in_avals, unknown, strict=True)]
        cts = (*carry[n_sums:], *rows[n_sequences:])
        full = spread_tangents(cts, nonzero.flat(), jaxpr.out_avals)
        found = linear.like(backward(jaxpr.jaxpr, (), inputs, full))
        marks[:] = [ct is not None and type(ct) is not Zero for ct in found.flat()]
        sums = map(add_tangents, carry, compress(found.constants, summed))
        pulled = (
            *sums,
            *compress(found.carry, nonzero.carry),
            *compress(found.sequences, linear.like(marks).sequences),
        )
        return list(map(instantiate, pulled))

    avals = LoopOperands(
        list(map(_aval_of, given.constants)),
        list(map(_aval_of, given.carry)),
        [unmapped(aval_of(x), 0, length) for x in given.sequences],
    ).flat()
    safe = masked_cotangents.is_enabled()
    groups = (tuple(g) for g in (*linear, *nonzero))
    key = (memo_keys.SCAN_TRANSPOSE, safe, *groups, tuple(summed), *avals)
    closed, found = derived_jaxpr(jaxpr.jaxpr, key, body, avals, marks)
    return _Transposed(closed, linear.like(found))


def _cotangent_avals(carry: Sequence[Any], outs: Sequence[Any]) -> list:
    """Return the types of the cotangents of the carry: a number that the body promotes is strongly typed
    from the second iteration on, and so is its cotangent."""
    return [
        a if out.weak_type else a.strip_weak_type() for a, out in zip(carry, outs, strict=False)
    ]


def _aval_of(x: Any) -> Any:
    """Return the type of a value, or of the array for a symbolic zero."""
    if type(x) is not Zero:
        return aval_of(x)
    return intern_aval(x.aval.shape, x.aval.dtype, x.aval.weak_type)


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
    operands = LoopOperands.split(args, num_consts, num_carry)
    where = operands.like(in_dims)
    n_stacked = len(jaxpr.out_avals) - num_carry

    def batched(marks: LoopOperands) -> tuple[ClosedJaxpr, tuple]:
        in_dims = tuple([0 if m else None for m in marks.flat()])
        return batch_jaxpr(jaxpr, axis, in_dims, (*marks.carry, *[False] * n_stacked))

    def likely(marks: LoopOperands) -> Sequence[bool]:
        # batching a body takes long: do it once, where it is plain which parts of the carry become mapped
        found = mapped_outputs(jaxpr.jaxpr, marks.flat())
        return marks.carry if found is None else found[:num_carry]

    first = carry_fixpoint(where.map(lambda d: d is not None), likely)
    marks = carry_fixpoint(first, lambda m: [d is not None for d in batched(m)[1]])
    closed, out_dims = batched(marks)
    # slices may be mapped along any dimension; sequences have theirs after the scanned one
    constants = move_batch_dims(operands.constants, where.constants)
    sequences = move_batch_dims(operands.sequences, where.sequences, 1)
    carry = [
        move_batch_dim(x, d, 0 if m else None, axis)
        for x, d, m in zip(operands.carry, where.carry, marks.carry, strict=True)
    ]
    outs = _bind(closed, LoopOperands(constants, carry, sequences), **params)
    of_carry, of_slices = LoopResults.split(out_dims, num_carry)
    return outs, [*of_carry, *(None if d is None else d + 1 for d in of_slices)]


@scan_p.prune
def _(
    used: list[bool], *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **params: Any
) -> tuple:
    body, operands, results = prune_loop(jaxpr, LoopResults.split(used, num_carry), num_consts)
    counts = {"num_consts": sum(operands.constants), "num_carry": sum(operands.carry)}
    return {"jaxpr": body, **params, **counts}, operands.flat(), results.flat()


@scan_p.discharge
def _(
    args: Sequence,
    owned: Sequence[bool],
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **params: Any,
) -> list:
    # references that the body writes join the carry
    found = discharge_jaxpr(jaxpr, owned)
    operands = LoopOperands.split(contents(args, owned), num_consts, num_carry)
    order = operands.like(range(len(args)))
    moved, fixed = partition(order.constants, operands.like(found.written).constants)
    outs = LoopResults.split(found.jaxpr.jaxpr.outvars, num_carry)
    n_stacked = len(outs.sequences) - len(moved)
    values, rows = outs.sequences[n_stacked:], outs.sequences[:n_stacked]
    taken = LoopOperands(fixed, [*order.carry, *moved], order.sequences)
    body = permute_inputs(with_outputs(found.jaxpr, [*outs.carry, *values, *rows]), taken.flat())
    flat = operands.flat()
    results = _bind(body, taken.map(lambda i: flat[i]), **params)
    carry, stacked = results[: num_carry + len(moved)], results[num_carry + len(moved) :]
    return write_back(args, found.written, [*carry[:num_carry], *stacked, *carry[num_carry:]])


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
    constants, carry, sequences = LoopOperands.split(xs, num_consts, num_carry)
    y_avals = [mapped(a, length, 0) for a in jaxpr.out_avals[num_carry:]]

    def blank(aval: Any) -> Any:
        """Return an array to be filled in by the iterations."""
        return b.view(b.full(0, b.physical(aval)), aval)

    if (
        not dims.is_dim(length) and length == 0
    ):  # an empty sequence has no slices for an iteration that never runs
        return [*carry, *map(blank, y_avals)]
    # an array that may be empty has no slices: give it one row that no iteration reads
    spare = dims.compare(length, ">=", 1) is not True
    rows = length + 1 if spare else length
    if spare:
        of_one = [blank(x.aval.update(shape=(1, *x.aval.shape[1:]))) for x in sequences]
        sequences = [
            _inlined(b, lambda *parts: concatenate(parts, 0), x, row)
            for x, row in zip(sequences, of_one, strict=True)
        ]
        y_avals = [mapped(a, rows, 0) for a in jaxpr.out_avals[num_carry:]]
    closed = _step_jaxpr(jaxpr, length, rows, reverse, num_consts, num_carry)
    init = [b.constant(0, _COUNTER.dtype), *carry, *map(blank, y_avals)]
    avals = [v.aval for v in init]

    def step(i: Any, *state: Any) -> list:
        for _ in range(unroll):
            carry, stacked = LoopResults.split(state, num_carry)
            state = b.inline(closed, [i, *constants, *carry, *sequences, *stacked])
            i = b.op("add", [i, b.constant(1, _COUNTER.dtype)], _COUNTER)
        return [i, *state]

    request = None if dims.is_dim(length) else bars.take_bar(b, length)
    if request is not None:
        return bars.lower_scan(b, request, length, init, step)[1:]
    trips = b.dim(length)

    def cond(i: Any, *_: Any) -> list:
        return [b.compare("LT", i, b.convert(trips, _COUNTER.dtype))]

    regions = [b.region(avals, cond), b.region(avals, step)]
    outs = b.op("while", init, avals, regions=regions)[1:]
    if not spare:
        return outs
    cut = functools.partial(slice_in_dim, start_index=0, limit_index=length)
    return [*outs[:num_carry], *(_inlined(b, cut, y) for y in outs[num_carry:])]


def _inlined(b: Any, f: Callable, *xs: Any) -> Any:
    """Lower a function of arrays."""
    found, _ = stage(lambda *values: [f(*values)], [x.aval for x in xs])
    return b.inline(found, list(xs))[0]


_COUNTER = intern_aval((), dtypes.int32, False, None)


def _step_jaxpr(
    jaxpr: ClosedJaxpr, length: Any, count: Any, reverse: bool, num_consts: int, num_carry: int
) -> Jaxpr:
    """Return one iteration as a jaxpr on sequences of `count` rows: (i, operands, stacked outputs) -> (carry, stacked outputs)."""
    inner = jaxpr.jaxpr

    def whole(avals: Sequence[Any]) -> list:
        return [mapped(a, count, 0) for a in avals]

    def build() -> Jaxpr:
        constants, carry, rows = LoopOperands.split(inner.in_avals, num_consts, num_carry)
        operands = LoopOperands(constants, carry, whole(rows))
        n = len(inner.invars)

        def step(i: Any, *values: Any) -> list:
            constants, carry, sequences = operands.like(values[:n])
            at = i
            if reverse:
                symbolic = dims.is_dim(length)
                last = size_as_value(length - 1) if symbolic else np.int32(length - 1)
                at = sub(convert(last, i.aval.dtype), i)
            slices = [
                dynamic_index_in_dim(x, at, 0, keepdims=False, allow_negative_indices=False)
                for x in sequences
            ]
            outs = eval_jaxpr(inner, (), *constants, *carry, *slices)
            carry, rows = LoopResults.split(outs, num_carry)
            stacked = [
                dynamic_update_index_in_dim(y, row, at, 0, allow_negative_indices=False)
                for y, row in zip(values[n:], rows, strict=True)
            ]
            return [*carry, *stacked]

        avals = [_COUNTER, *operands.flat(), *whole(inner.out_avals[num_carry:])]
        found, captured = stage(step, avals, inner.debug_info)
        if captured:
            raise AssertionError("a scan body captured values while it was lowered")
        return found

    return derived(
        inner, (memo_keys.SCAN_STEP, length, count, reverse, num_consts, num_carry), build
    )


# public ------------------------------------------------------------------------------------------


def scan(
    f: Callable,
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    *,
    progress: bool | str = False,
) -> tuple:
    """Loop over the leading axis of `xs` with a carry; return the final carry and the stacked outputs.

    `f(carry, x) -> (carry, y)` is traced once. Equivalent to a Python loop that passes the carry from
    iteration to iteration and stacks the ys, compiled as one loop.

    Args:
      init: initial carry; any pytree. Its types must match the carry that `f` returns.
      xs: pytree of arrays with equal leading sizes, or None (then `length` is needed).
      reverse: iterate from the end of `xs`.
      unroll: the number of iterations of `f` in each iteration of the compiled loop; True for all.
      progress: show a progress bar on the terminal or in the notebook while the loop runs; a text names it. Not in
          jax.

    Raises:
      TypeError: the carry changes its structure or type; the message names the leaf.
      ValueError: leading sizes differ; a bar is wanted for a loop of symbolic length.

    >>> total, partial = sagax.lax.scan(lambda c, x: (c + x, c), snp.int32(0), snp.arange(4))
    >>> int(total), partial
    (6, Array([0, 0, 1, 3], dtype=int32))
    """
    check_function(f, "lax.scan: f argument should be a callable.", "scan", "f")
    return traced_scan("scan", f, init, xs, length, reverse, unroll, progress=progress)


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
    progress: bool | str = False,
) -> Any:
    """Implement `scan`, with messages for `function`.

    Args:
        progress: as of `scan`.
        init_paths: the caller's names of the leaves of `init`.
        names: the body's names of the leaves of its arguments.
        same: the identity of `f`, if it is a wrapper (see `trace_body`).
    """
    init_leaves, init_tree = operand_leaves(function, "init", init)
    x_leaves, x_tree = operand_leaves(function, "xs", xs, shape_of=lambda shape: shape[1:])
    of = f"{function} of {function_name(f)}"
    length = loop_length(of, function, xs, x_leaves, length)
    unroll = _unroll_factor(function, unroll, length)
    bar = bars.bar_of(function, f, progress, length)
    x_avals = [unmapped(aval_of(x), 0, length) for x in x_leaves]
    tree = trees.treedef_tuple((init_tree, x_tree))
    if names is None:
        names = functools.partial(_parameter_names, f, init, xs)
    if config.current().disable_jit and not dims.is_dim(length):
        return _scan_in_python(f, init, xs, length, reverse, bar)
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
    # Loop-invariant values become constants of the loop, and unchanged slices are not written again.
    n_const = len(body.consts)
    fixed = unchanged_carry(body.jaxpr, n_const, n)
    jaxpr = carry_to_consts(body.jaxpr, n_const, fixed, True)
    constant, changing = partition(init_leaves, fixed)
    operands = LoopOperands([*body.consts, *constant], changing, x_leaves)
    slices = dict(zip(operands.like(jaxpr.jaxpr.invars).sequences, x_leaves, strict=True))
    carry_out, rows = LoopResults.split(jaxpr.jaxpr.outvars, len(changing))
    handed = [slices.get(v) if type(v) is Var else None for v in rows]
    remaining = [v for v, x in zip(rows, handed, strict=True) if x is None]
    params = {"jaxpr": with_outputs(jaxpr, [*carry_out, *remaining]), "reverse": bool(reverse)}
    if bar is None:
        results = _scan_unrolled(operands, length, unroll, params)
    else:

        def flat(*xs: Any) -> list:
            return _scan_unrolled(operands.like(xs), length, unroll, params).flat()

        key = (length, unroll, params["reverse"], *map(len, operands))
        outs = bars.with_bar(bar, params["jaxpr"].jaxpr, key, flat, operands.flat())
        results = LoopResults.split(outs, len(changing))
    carry, stacked = map(iter, results)
    pair = body.out_tree.unflatten(
        [
            *(as_result(x) if f else next(carry) for x, f in zip(init_leaves, fixed, strict=True)),
            *(next(stacked) if x is None else as_value(x) for x in handed),
        ]
    )
    final, rows_out = pair
    if len(trees.leaves(rows_out)) == len(rows):
        return pair
    # float0 arrays, of one iteration
    return final, trees.map(lambda y: _stacked_no_tangent(y, length), rows_out)


def _stacked_no_tangent(x: Any, length: int) -> Any:
    return np.zeros((length, *x.shape), x.dtype) if is_no_tangent(x) else x


def paths_of(name: str, tree: Any) -> list[str]:
    return [trees.argument_path(name, p) for p in trees.key_paths(tree)]


def _unroll_factor(function: str, unroll: Any, length: Any) -> int:
    """Return the number of iterations of `f` in each iteration of the compiled loop.

    1 for a symbolic length that it may not divide: how many iterations remain is not known.
    """
    if isinstance(unroll, (bool, np.bool_)):
        return 1 if not unroll or dims.is_dim(length) else max(length, 1)
    iterations = checks.integer(
        function,
        "unroll",
        unroll,
        "an int, the number of rounds in each pass, or a bool: all or one",
        least=0,
        in_range="an int of at least 0",
        out_of_range="`unroll` must be a `bool` or a non-negative `int`.",
    )
    if dims.is_dim(length):
        return iterations if iterations and dims.compare(length % iterations, "==", 0) else 1
    return max(min(iterations, length), 1)


def _scan_unrolled(operands: LoopOperands, length: Any, unroll: int, params: dict) -> LoopResults:
    """Bind the scan; a second, short one runs the remaining iterations."""
    n_carry = len(operands.carry)

    def bind(operands: LoopOperands, length: Any, unroll: int) -> LoopResults:
        outs = scan_p.bind(
            *operands.flat(),
            length=length,
            unroll=unroll,
            num_consts=len(operands.constants),
            num_carry=n_carry,
            **params,
        )
        return LoopResults.split(outs, n_carry)

    rest = 0 if dims.is_dim(length) or not length else length % unroll
    if not rest:
        return bind(operands, length, unroll)
    whole = length - rest
    first, second = (
        ((0, whole), (whole, length)) if not params["reverse"] else ((rest, length), (0, rest))
    )
    carry, parts = operands.carry, []
    for lo, hi in (first, second):
        part = [slice_in_dim(x, lo, hi) for x in operands.sequences]
        given = LoopOperands(operands.constants, carry, part)
        carry, stacked = bind(given, hi - lo, unroll if hi - lo == whole else hi - lo)
        parts.append(stacked)
    ordered = parts if not params["reverse"] else parts[::-1]
    joined = [concatenate(list(pair), 0) for pair in zip(*ordered, strict=True)]
    return LoopResults(carry, joined)


def _is_pair(tree: Any, children: list) -> bool:
    node = tree.node_data()
    return len(children) == 2 and node is not None and node[0] in (tuple, list)


def _parameter_names(f: Callable, init: Any, xs: Any) -> list[str]:
    """Return the body's names of the leaves of its arguments."""
    names = body_names(f, ("carry", "x"))
    return paths_of(names[0], init) + paths_of(names[1], xs)


def loop_length(of: str, function: str, xs: Any, leaves: Sequence[Any], length: Any) -> Any:
    """Return the number of iterations, which `length` and the leading sizes of `xs` must agree on."""
    paths = [trees.argument_path("xs", p) for p in trees.key_paths(xs)]
    arrays = [(x, p) for x, p in zip(leaves, paths, strict=True) if not aval_of(x).is_high]
    leaves, paths = [x for x, _ in arrays], [p for _, p in arrays]
    for x, path in arrays:
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
            headline=lambda span: headlines.scan_lengths_headline(
                span, dict(zip(paths, sizes, strict=True))
            ),
            fix="give all arrays in xs one leading size"
            + ("" if length is None else ", or leave out length"),
        )
    return first


_LONGEST = np.iinfo(np.int32).max  # iterations are counted in 32 bits


def _static_length(of: str, length: Any) -> int:
    if isinstance(length, Tracer):
        raise ConcretizationTypeError(
            length, "The `length` argument to `scan` must be known when the function is traced."
        )
    return checks.integer(
        of,
        "length",
        length,
        message="scan requires an integer length",
        least=0,
        most=_LONGEST,
        in_range=f"an int from 0 to {_LONGEST}",
    )


def _scan_in_python(f: Callable, init: Any, xs: Any, length: int, reverse: bool, bar: Any) -> tuple:
    """Run the loop in Python, for debugging with jit disabled."""
    carry, ys = init, []
    order = range(length)[::-1] if reverse else range(length)
    for i in bars.iterate(bar, order):
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
