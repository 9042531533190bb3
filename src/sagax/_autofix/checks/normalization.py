"""Find square matrices that are divided by their sums over the other axis."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sagax._autofix.checks.report import Add, own_position
from sagax._src import source_stacks
from sagax._src.core.jaxpr import Jaxpr, Literal, subjaxprs
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import is_backward, span_at

__all__ = ["EagerNormalization", "check_normalization", "has_normalization"]

_REDUCTIONS = {"reduce_sum", "reduce_max", "reduce_min"}
_NORMALIZING = {"div", "sub"}

Finding = tuple[type[Warning], str]


def has_normalization(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr divides a square matrix by its own sums of rows."""
    made = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    return any(_reduced_matrix(eqn, made) is not None for eqn in jaxpr.eqns) or any(
        has_normalization(inner) for eqn in jaxpr.eqns for inner in subjaxprs(eqn.params)
    )


def check_normalization(
    eqn: Any, made: Mapping[Any, Any], env: Mapping[Any, Any]
) -> Finding | None:
    """Return the finding for `x / x.sum(axis=1)` of a square matrix that is not symmetric."""
    matrix = _reduced_matrix(eqn, made)
    value = env.get(matrix) if matrix is not None else None
    return _finding(eqn.primitive.name, value) if isinstance(value, np.ndarray) else None


def _finding(name: str, matrix: np.ndarray) -> Finding | None:
    x = np.asarray(matrix, np.float64)
    if np.allclose(x, x.T, equal_nan=True):
        return None  # both axes have the same sums
    n = len(x)
    does = "is divided by" if name == "div" else "is lowered by"
    return (
        cautions.BroadcastWarning,
        f"({n}, {n}) with its reduction over axis 1, ({n},): column j {does} the value of row j. "
        "keepdims=True keeps the rows",
    )


def _reduced_matrix(eqn: Any, made: Mapping[Any, Any]) -> Any:
    """Return the matrix that meets its own reduction over axis 1, in the place of a row."""
    if eqn.primitive.name not in _NORMALIZING or len(eqn.invars) != 2:
        return None
    matrix, row = eqn.invars
    shape = matrix.aval.shape
    if type(matrix) is Literal or not _is_square(shape) or type(row) is Literal:
        return None
    position = own_position(eqn.traceback) if eqn.traceback is not None else None
    spread = made.get(row)
    if position is None or spread is None or spread.primitive.name != "broadcast_in_dim":
        return None
    if spread.invars[0].aval.shape != shape[:1] or is_backward(eqn.traceback):
        return None
    if tuple(spread.params["broadcast_dimensions"]) != (1,):
        return None
    if own_position(spread.traceback) != position:
        return None  # the row was made on purpose
    vector = spread.invars[0]
    for _ in range(6):  # a root or a mean of the sums
        step = None if type(vector) is Literal else made.get(vector)
        if step is None:
            return None
        if step.primitive.name in _REDUCTIONS:
            operand = step.invars[0]
            reduced = step.params.get("axes") == (1,) and operand.aval.shape == shape
            return matrix if reduced and _is_of(operand, matrix, made) else None
        operands = [v for v in step.invars if type(v) is not Literal and v.aval.shape]
        if not step.primitive.elementwise or len(operands) != 1:
            return None
        vector = operands[0]
    return None


def _is_square(shape: Sequence[Any]) -> bool:
    return len(shape) == 2 and isinstance(shape[0], int) and shape[0] == shape[1] > 1


def _is_of(operand: Any, matrix: Any, made: Mapping[Any, Any]) -> bool:
    """Return whether what is reduced is a matrix, or a function of each of its elements."""
    for _ in range(4):
        if operand is matrix:
            return True
        step = None if type(operand) is Literal else made.get(operand)
        if step is None or not step.primitive.elementwise:
            return False
        operands = {v for v in step.invars if type(v) is not Literal and v.aval.shape}
        if len(operands) != 1:
            return False
        operand = operands.pop()
    return False


class EagerNormalization:
    """Follow reductions of square matrices outside of compiled functions."""

    def __init__(self, add: Add) -> None:
        self.add = add
        # by the id of a value: it, the matrix that it is reduced from, and its position as a row
        self.reduced: dict[int, tuple[Any, Any, Any]] = {}
        self.functions: dict[int, tuple[Any, Any]] = {}  # the latest of each element of a matrix

    def evaluated(self, primitive: Any, args: Sequence[Any], params: Any, result: Any) -> None:
        """Note an operation."""
        name = primitive.name
        if isinstance(result, (list, tuple)) or not hasattr(result, "aval"):
            return
        if name in _REDUCTIONS:
            if _is_square(np.shape(args[0])) and tuple(params.get("axes", ())) == (1,):
                of = self.functions.get(id(args[0]))
                known = of is not None and of[0]() is args[0]
                self._put(result, of[1] if of and known else weakref.ref(args[0]), None)
            return
        if primitive.elementwise and _is_square(np.shape(result)):
            matrices = {id(x): x for x in args if np.ndim(x)}
            if len(matrices) == 1 and hasattr(args[0], "aval"):  # such as squares, for a norm
                matrix = weakref.ref(next(iter(matrices.values())))
                self.functions = {id(result): (weakref.ref(result), matrix)}
        if not self.reduced:
            return
        known = [f for x in args if (f := self._get(x)) is not None]
        if not known:
            return
        _, matrix, position = known[0]
        if name == "broadcast_in_dim" and len(np.shape(args[0])) == 1:
            if tuple(params["broadcast_dimensions"]) == (1,) and result.aval.ndim == 2:
                self._put(result, matrix, own_position(source_stacks.stack()))
        elif name in _NORMALIZING and position is not None and len(args) == 2:
            stack = source_stacks.stack()
            if matrix() is args[0] and own_position(stack) == position:
                finding = _finding(name, np.asarray(args[0]))
                if finding is not None and not is_backward(source_stacks.origin()):
                    self.add(*finding, stack, span=span_at(position))
        elif primitive.elementwise and sum(bool(np.ndim(x)) for x in args) == 1:
            self._put(result, matrix, None)

    def _put(self, value: Any, matrix: Any, position: Any) -> None:
        if len(self.reduced) > 1000:
            self.reduced.clear()
        self.reduced[id(value)] = weakref.ref(value), matrix, position

    def _get(self, value: Any) -> tuple[Any, Any, Any] | None:
        found = self.reduced.get(id(value))
        return found if found is not None and found[0]() is value else None
