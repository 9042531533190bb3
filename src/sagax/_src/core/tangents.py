"""What derivative rules are given instead of numbers: symbolic zeros and unknown linear operands."""

from __future__ import annotations

from typing import Any

from sagax._src.core.value import aval_of


class Zero:
    """A tangent or cotangent that is zero, known without any array. `aval` is its tangent type."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    @staticmethod
    def like(aval: Any) -> Zero:
        """The zero tangent of a primal value of type `aval`."""
        return Zero(aval.to_tangent_aval())

    @staticmethod
    def from_primal_value(x: Any) -> Zero:
        """The zero tangent of a value."""
        return Zero.like(aval_of(x))

    def __repr__(self) -> str:
        return f"Zero({self.aval.str_short()})"


class Linear:
    """In a transpose rule: the operand in which the operation is linear, and whose cotangent is wanted."""

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
        return f"Linear({self.aval.str_short()})"


def is_zero(x: Any) -> bool:
    return type(x) is Zero


def is_linear(x: Any) -> bool:
    return type(x) is Linear
