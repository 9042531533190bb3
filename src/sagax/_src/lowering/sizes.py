"""Symbolic sizes inside programs: computed, as int32 scalars, from the sizes of the arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dims
from sagax._src.core.avals import intern_aval
from sagax._src.core.dims.expression import from_atom
from sagax._src.diagnostics.errors import InconclusiveDimensionOperation

_SCALAR = intern_aval((), np.dtype(np.int32), False, None)


def size_value(b: Any, size: Any) -> Any:
    """The value of a size; `b.dim_values` holds those that are the size of some argument."""
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
    quotient, rest = b.op("divide", [x, y], _SCALAR), b.op("remainder", [x, y], _SCALAR)
    # XLA rounds towards zero, sizes are divided downwards: one less where the signs differ
    zero = b.constant(0, np.int32)
    flag = intern_aval((), np.dtype(bool), False, None)
    differ = b.op("xor", [b.compare("LT", rest, zero), b.compare("LT", y, zero)], flag)
    off = b.op("and", [b.compare("NE", rest, zero), differ], flag)
    if atom.kind == "floordiv":
        less = b.op("subtract", [quotient, b.constant(1, np.int32)], _SCALAR)
        return b.select(off, less, quotient)
    return b.select(off, b.op("add", [rest, y], _SCALAR), rest)
