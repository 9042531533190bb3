"""Check jaxprs for columns that meet rows, and for gradients that are 0 by construction."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sagax._autofix.checks.report import Add, own_position, own_span
from sagax._autofix.repairs.case import base_name
from sagax._src import source_stacks
from sagax._src.core.families import IDENTITY
from sagax._src.core.jaxpr import Jaxpr, Literal, subjaxprs
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import has_zero_derivative
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import is_backward, span_at
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.custom_derivative_primitives import custom_jvp_p, custom_vjp_p
from sagax._src.higher_order.progress import progress_p
from sagax._src.higher_order.remat import remat_p

__all__ = ["EagerBroadcasts", "check_broadcasts", "check_zero_gradients", "constant_zero"]

_MAX_EQUATIONS = 20_000
_EXPANSIONS = (
    "None",
    "newaxis",
    "expand_dims",
    "reshape",
    "outer",
    "meshgrid",
    "column",
    "atleast_2d",
)


class Step:
    """Hold an equation with the variables of the flattened jaxpr."""

    __slots__ = ("eqn", "ins", "outs")

    def __init__(self, eqn: Any, ins: list[Any], outs: list[Any]) -> None:
        self.eqn, self.ins, self.outs = eqn, ins, outs


class _Value:
    """Stand for a variable of a call that was inlined."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval


def flattened(jaxpr: Jaxpr) -> tuple[list[Step], list[Any]]:
    """Return the equations of a jaxpr with calls inlined, and its results."""
    steps: list[Step] = []

    def run(eqns: Iterable[Any], env: dict[Any, Any]) -> None:
        def atom(v: Any) -> Any:
            return v if type(v) is Literal else env.get(v, v)

        for eqn in eqns:
            if len(steps) > _MAX_EQUATIONS:
                return
            ins = [atom(v) for v in eqn.invars]
            inner = eqn.params.get("jaxpr")
            if eqn.primitive in (jit_p, progress_p, remat_p) and inner is not None:
                body = getattr(inner, "jaxpr", inner)
                own: dict[Any, Any] = dict(zip(body.invars, ins, strict=False))
                for e in body.eqns:
                    own.update((v, _Value(v.aval)) for v in e.outvars)
                run(body.eqns, own)
                for v, out in zip(eqn.outvars, body.outvars, strict=True):
                    env[v] = out if type(out) is Literal else own.get(out, out)
                continue
            steps.append(Step(eqn, ins, [env.get(v, v) for v in eqn.outvars]))

    top: dict[Any, Any] = {}
    run(jaxpr.eqns, top)
    return steps, [v if type(v) is Literal else top.get(v, v) for v in jaxpr.outvars]


# --- columns and rows ----------------------------------------------------------------------------


def check_broadcasts(jaxpr: Jaxpr, add: Add) -> None:
    """Report (n, 1) with (n,), which is (n, n), if all of it is then reduced to a number."""
    steps, results = flattened(jaxpr)
    made = {id(out): step for step in steps for out in step.outs}
    used: dict[int, list[Step]] = {}
    for step in steps:
        for atom in step.ins:
            used.setdefault(id(atom), []).append(step)
    returned = {id(v) for v in results}
    for step in steps:
        elementwise = step.eqn.primitive.elementwise and len(step.ins) == 2
        if not elementwise or is_backward(step.eqn.traceback):
            continue
        shapes = [tuple(a.aval.shape) for a in step.ins]
        n = max(shapes[0], default=0) if all(isinstance(d, int) for d in shapes[0]) else 0
        if not isinstance(n, int) or n < 2 or sorted(shapes) != sorted([(n, 1), (1, n)]):
            continue
        column, row = step.ins if shapes[0] == (n, 1) else reversed(step.ins)
        source = made.get(id(row))
        position = own_position(step.eqn.traceback)
        if source is None or position is None or source.eqn.primitive.name != "broadcast_in_dim":
            continue
        if source.ins[0].aval.shape != (n,) or own_position(source.eqn.traceback) != position:
            continue  # the row was made on purpose
        if _is_expanded(column, made) or not _is_reduced(step.outs[0], used, returned):
            continue
        span = span_at(position)
        add(
            cautions.BroadcastWarning,
            _pairs(n),
            step.eqn.traceback,
            span=span,
        )
    for eqn in jaxpr.eqns:
        if eqn.primitive not in (jit_p, progress_p, remat_p):
            for inner in subjaxprs(eqn.params):
                check_broadcasts(inner, add)


class EagerBroadcasts:
    """Follow columns and rows that meet outside of compiled functions."""

    def __init__(self, add: Add) -> None:
        self.add = add
        self.rows: dict[int, tuple[Any, Any]] = {}
        self.columns: dict[int, tuple[Any, Any]] = {}  # that the user's code made of vectors
        self.squares: dict[int, tuple[Any, Any]] = {}

    def evaluated(self, primitive: Any, args: Sequence[Any], params: Any, result: Any) -> None:
        """Note an operation."""
        name = primitive.name
        if isinstance(result, (list, tuple)) or not hasattr(result, "aval"):
            return
        shape, shapes = tuple(result.aval.shape), [tuple(np.shape(x)) for x in args]
        if len(shape) == 2 and name in ("broadcast_in_dim", "reshape") and len(shapes[0]) == 1:
            stack = source_stacks.stack()
            if shape[0] == 1 and shape[1] > 1:
                _put(self.rows, result, own_position(stack))
            elif shape[1] == 1 and shape[0] > 1:
                span = own_span(stack)
                if span is not None and any(word in span.text for word in _EXPANSIONS):
                    _put(self.columns, result, True)
            return
        found = [f for x in args if (f := _get(self.squares, x)) is not None]
        if found and not is_backward(source_stacks.origin()):
            if name.startswith("reduce_") and len(params.get("axes", ())) == 2:
                self.add(
                    cautions.BroadcastWarning,
                    _pairs(found[0][1]),
                    found[0][0],
                    span=span_at(found[0][2]),
                )
            elif _keeps_positions(primitive) and shape in shapes:
                _put(self.squares, result, found[0])
            else:
                for x in args:
                    self.squares.pop(id(x), None)
        elif (
            primitive.elementwise
            and len(shapes) == 2
            and sorted(shapes) == [(1, n := max(shape, default=0)), (n, 1)]
        ):
            column, row = args if shapes[1][0] == 1 else (args[1], args[0])
            stack = source_stacks.stack()
            position = own_position(stack)
            if n > 1 and position is not None and _get(self.columns, column) is None:
                if _get(self.rows, row) == position:
                    _put(self.squares, result, (stack, n, position))
        elif _keeps_positions(primitive) and any(_get(self.columns, x) for x in args):
            if sum(bool(s) for s in shapes) == 1:
                _put(self.columns, result, True)


def _keeps_positions(primitive: Primitive) -> bool:
    """Return whether an element of the result stands where the element of the operands does."""
    return primitive.elementwise or primitive.family is IDENTITY


def _put(table: dict[int, tuple[Any, Any]], value: Any, fact: Any) -> None:
    if len(table) > 1000:
        table.clear()
    table[id(value)] = weakref.ref(value), fact


def _get(table: dict[int, tuple[Any, Any]], value: Any) -> Any:
    found = table.get(id(value))
    return found[1] if found is not None and found[0]() is value else None


def _pairs(n: int) -> str:
    return f"({n}, 1) with ({n},) is ({n}, {n}): each element meets all others, and the sum is over all pairs"


def _is_expanded(value: Any, made: dict[int, Step]) -> bool:
    """Return whether the user's code made a column of a vector."""
    for _ in range(50):
        step = made.get(id(value))
        if step is None:
            return False
        name = step.eqn.primitive.name
        if name in ("broadcast_in_dim", "reshape") and len(step.ins[0].aval.shape) == 1:
            span = own_span(step.eqn.traceback)
            return span is not None and any(word in span.text for word in _EXPANSIONS)
        operands = [v for v in step.ins if getattr(v, "aval", None) is not None and v.aval.shape]
        if not _keeps_positions(step.eqn.primitive) or len(operands) != 1:
            return False
        value = operands[0]
    return False


def _is_reduced(value: Any, used: dict[int, list[Step]], returned: set[int]) -> bool:
    """Return whether a matrix is used for nothing but the sum of all its elements."""
    shape = value.aval.shape
    todo, seen, reduced = [value], set[int](), False
    while todo:
        found = todo.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if id(found) in returned:
            return False
        for step in used.get(id(found), ()):
            name = step.eqn.primitive.name
            if is_backward(step.eqn.traceback):
                continue
            if name.startswith("reduce_") and len(step.eqn.params.get("axes", ())) == len(shape):
                reduced = True
            elif (
                _keeps_positions(step.eqn.primitive)
                or step.eqn.primitive in (custom_jvp_p, custom_vjp_p)
            ) and all(out.aval.shape == shape for out in step.outs):
                todo += step.outs
            else:
                return False
    return reduced


# --- gradients that are 0 --------------------------------------------------------------------------


def _has_no_slope(eqn: Any) -> bool:
    if eqn.primitive.name == "convert_element_type":
        return np.dtype(eqn.outvars[0].aval.dtype).kind in "biu"
    return has_zero_derivative(eqn.primitive)


def constant_zero(value: Any, equations: Sequence[Any]) -> bool:
    """Return whether a value is 0 in any run: a constant, or a tracer of one."""
    for _ in range(20):
        if hasattr(value, "_var") or getattr(value, "inner", None) is None:
            break
        value = value.inner
    variable = getattr(value, "_var", None)
    if variable is None:
        if hasattr(value, "_trace"):
            return False
        array = np.asarray(value)
        return array.dtype.kind == "f" and not array.any()
    for eqn in reversed(equations):
        if variable in eqn.outvars:
            return (
                eqn.primitive.name == "broadcast_in_dim"
                and type(eqn.invars[0]) is Literal
                and not np.any(eqn.invars[0].val)
            )
    return False


def check_zero_gradients(
    equations: Sequence[Any],
    zeros: Sequence[tuple[Any, str]],
    result: Any,
    add: Add,
    stops: bool = False,
) -> None:
    """Report arguments whose gradient is 0 since no operation between has a slope.

    `zeros` are the variables of arguments with their names, `result` the variable of the value, or None. With
    `stops`, `stop_gradient` is reported as well.
    """
    steps, results = flattened_equations(equations, () if result is None else (result,))
    result = results[0] if results else None  # of the call that computes it
    for variable, path in zeros:
        reached, flat, stopped, through = {id(variable)}, [], False, False
        for step in steps:
            if is_backward(step.eqn.traceback):
                continue
            if not any(type(v) is not Literal and id(v) in reached for v in step.ins):
                continue
            if step.eqn.primitive.name == "stop_gradient" and not stops:
                stopped = True
                break
            if _has_no_slope(step.eqn):
                flat.append(step)
                continue
            reached.update(id(v) for v in step.outs)
            through = through or any(id(v) == id(result) for v in step.outs)
        if stopped or through or not flat or (result is not None and id(variable) == id(result)):
            continue
        if result is not None and not _leads_to(steps, flat, result):
            continue
        shown = [s for s in flat if own_span(s.eqn.traceback) is not None]
        if not shown:
            continue
        # what the user stops is meant to be stopped, but not all of it
        first = next((s for s in shown if s.eqn.primitive.name == "stop_gradient"), shown[0])
        kind = first.eqn.primitive.name
        why = (
            "`stop_gradient` stops all of it"
            if kind == "stop_gradient"
            else f"`{kind}` has no slope"
        )
        add(
            cautions.ZeroGradientWarning,
            f"the gradient of `{path}` is 0, whatever the numbers are: {why}",
            first.eqn.traceback,
            span=own_span(first.eqn.traceback),
            depends=(base_name(path),),
        )
        return


def _leads_to(steps: Sequence[Step], flat: Sequence[Step], result: Any) -> bool:
    reached = {id(v) for s in flat for v in s.outs}
    for step in steps:
        if any(type(v) is not Literal and id(v) in reached for v in step.ins):
            reached.update(id(v) for v in step.outs)
    return id(result) in reached


def flattened_equations(
    equations: Sequence[Any], results: tuple[Any, ...]
) -> tuple[list[Step], list[Any]]:
    """Return equations with calls inlined, and the variables of some results."""

    class Body:
        eqns = equations
        outvars = results

    found: Any = Body()
    return flattened(found)
