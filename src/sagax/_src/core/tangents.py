"""Define symbolic zeros and linear operands, the special arguments of derivative rules."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from sagax._src.core.value import aval_of


class Zero:
    """A symbolic zero tangent or cotangent, without an array. `aval` is its tangent type."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    @staticmethod
    def like(aval: Any) -> Zero:
        """Return the zero tangent of a primal value of type `aval`."""
        return Zero(aval.to_tangent_aval())

    @staticmethod
    def from_primal_value(x: Any) -> Zero:
        """Return the zero tangent of a value."""
        return Zero.like(aval_of(x))

    def __repr__(self) -> str:
        return f"Zero({self.aval.str_short(short_dtypes=True)})"


class Linear:
    """Mark, in a transpose rule, a linear operand, whose cotangent is to be computed."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    def __repr__(self) -> str:
        return f"Linear({self.aval.str_short(short_dtypes=True)})"


def is_zero(x: Any) -> bool:
    return type(x) is Zero


def is_linear(x: Any) -> bool:
    return type(x) is Linear


def set_zero_derivative(*primitives: Any) -> None:
    """Make the tangents of all results of primitives symbolic zeros."""
    for p in primitives:
        p.jvp_rule = functools.partial(_zero_jvp, p)


def has_zero_derivative(primitive: Any) -> bool:
    """Return whether all results of a primitive have zero tangents, whatever its operands."""
    return getattr(primitive.jvp_rule, "func", None) is _zero_jvp


def _zero_jvp(p: Any, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    out = p.bind(*primals, **params)
    if p.multiple_results:
        return out, [Zero.like(aval_of(o)) for o in out]
    return out, Zero.like(aval_of(out))


def nonzero_marks(tangents: Iterable[Any]) -> tuple[bool, ...]:
    """Mark the tangents (or cotangents) that are not symbolic zeros."""
    return tuple([type(t) is not Zero for t in tangents])


def nonzero_tangents(tangents: Iterable[Any]) -> list:
    """Return the tangents (or cotangents) that are not symbolic zeros."""
    return [t for t in tangents if type(t) is not Zero]


def linear_marks(operands: Iterable[Any]) -> tuple[bool, ...]:
    """Mark the linear operands of a transpose rule."""
    return tuple([type(x) is Linear for x in operands])


def spread_tangents(given: Iterable[Any], marks: Iterable[bool], avals: Sequence[Any]) -> list:
    """Put the given tangents at the marked positions, symbolic zeros of primals of type `avals` at the others."""
    values = iter(given)
    return [next(values) if m else Zero.like(a) for m, a in zip(marks, avals, strict=True)]


def spread_cotangents(given: Iterable[Any], marks: Iterable[bool], operands: Sequence[Any]) -> list:
    """Put the given cotangents at the marked linear operands, symbolic zeros at the others.

    `marks` has an entry for each linear operand. The other operands get None.
    """
    values, flags = iter(given), iter(marks)
    return [
        (next(values) if next(flags) else Zero(x.aval)) if type(x) is Linear else None
        for x in operands
    ]


def transposed_operands(operands: Iterable[Any], cotangents: Iterable[Any]) -> list:
    """Return the operands of a transposed jaxpr: nonlinear operands, then nonzero cotangents."""
    return [x for x in operands if type(x) is not Linear] + nonzero_tangents(cotangents)
