"""Compute symbolic sizes at run time, as int32 scalars, from the sizes of the arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dims
from sagax._src.core.avals import intern_aval
from sagax._src.core.dims.expression import from_atom
from sagax._src.diagnostics.errors import InconclusiveDimensionOperation

_SCALAR = intern_aval((), np.dtype(np.int32), False, None)


def size_value(b: Any, size: Any) -> Any:
    """Return the value of a size; `b.dim_values` holds those that are the size of some argument."""
    if not dims.is_dim(size):
        return b.constant(size, np.int32)
    known = b.dim_values.get(size)
    if known is not None:
        return known
    total = None
    for monomial, coefficient in size.terms:
        term = None
        for atom, exponent in monomial.factors:
            factor = _atom_value(b, size, atom)
            for _ in range(exponent):
                term = factor if term is None else b.op("multiply", [term, factor], _SCALAR)
        if coefficient != 1 or term is None:
            scale = b.constant(coefficient, np.int32)
            term = scale if term is None else b.op("multiply", [term, scale], _SCALAR)
        total = term if total is None else b.op("add", [total, term], _SCALAR)
    if size.const or total is None:
        const = b.constant(size.const, np.int32)
        total = const if total is None else b.op("add", [total, const], _SCALAR)
    b.dim_values[size] = total
    return total


def _atom_value(b: Any, size: Any, atom: Any) -> Any:
    whole = from_atom(size.scope, atom)
    known = b.dim_values.get(whole)
    if known is not None:
        return known
    if atom.kind == "var":
        raise InconclusiveDimensionOperation(
            f"the size {size} cannot be computed: no argument has {atom.name} as one of its sizes",
            fix=f"pass an argument with a dimension of size {atom.name}",
        )
    x, y = (size_value(b, operand) for operand in atom.operands)
    if atom.kind in ("max", "min"):
        return b.op({"max": "maximum", "min": "minimum"}[atom.kind], [x, y], _SCALAR)
    # XLA rounds towards zero, sizes are divided downwards. This uses only arithmetic, no selection: XLA
    # folds it when the sizes are refined to numbers.
    rest = b.op("remainder", [x, y], _SCALAR)
    (least, _), (divisor, _) = (dims.bounds(operand) for operand in atom.operands)
    if divisor is None or divisor < 1:
        raise InconclusiveDimensionOperation(
            f"the size {size} divides by {atom.operands[1]}, which may be negative or zero",
            fix=f'say that it is not where the dimensions are made: constraints=["{atom.operands[1]} >= 1"]',
        )
    if least is None or least < 0:
        rest = b.op("remainder", [b.op("add", [rest, y], _SCALAR), y], _SCALAR)
    if atom.kind == "mod":
        return rest
    return b.op("divide", [b.op("subtract", [x, rest], _SCALAR), y], _SCALAR)
