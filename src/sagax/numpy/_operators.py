"""Implement Python's operators on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._arithmetic as _arithmetic
import sagax.numpy._logic as _logic
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.lazy_import import LazyMethod, lazy_imports
from sagax.numpy._conversion import astype

if TYPE_CHECKING or lazy_imports():
    from sagax.numpy import _contraction, _floats


_SCALARS = frozenset((bool, int, float, complex))
_NUMPY = (np.ndarray, np.generic)


def _refused(symbol: str, x: Any, other: Any) -> ArgumentError:
    left, right = type(x).__name__, type(other).__name__
    return ArgumentError(
        f"unsupported operand type(s) for {symbol}: '{left}' and '{right}'",
        got=other,
        expected="an array or a number",
        fix="make an array of it first: numpy.asarray(...)",
    )


def _binary(symbol: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a method for `x <symbol> other`."""

    def operator(self: Any, other: Any) -> Any:
        if type(other) in _SCALARS or isinstance(other, Array) or _is_operand(other):
            return function(self, other)
        if type(other) in (list, tuple):  # a class of the user's may define the operation
            raise _refused(symbol, self, other)
        return NotImplemented

    return operator


def _reflected(symbol: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a method for `other <symbol> x`."""

    def operator(self: Any, other: Any) -> Any:
        if type(other) in _SCALARS or isinstance(other, Array) or _is_operand(other):
            return function(other, self)
        if type(other) in (list, tuple):
            raise _refused(symbol, other, self)
        return NotImplemented

    return operator


def _is_operand(x: Any) -> bool:
    return isinstance(x, (*_NUMPY, bool, int, float, complex)) or hasattr(x, "__jax_array__")


def _round(self: Any, ndigits: int | None = None) -> Any:
    if ndigits is None:  # as for Python's numbers, an integer
        return astype(_floats.round(self), int)
    return _floats.round(self, ndigits)


_BINARY = {
    "add": ("+", _arithmetic.add),
    "sub": ("-", _arithmetic.subtract),
    "mul": ("*", _arithmetic.multiply),
    "truediv": ("/", _arithmetic.true_divide),
    "floordiv": ("//", _arithmetic.floor_divide),
    "mod": ("%", _arithmetic.remainder),
    "divmod": ("divmod", _arithmetic.divmod),
    "pow": ("**", _arithmetic.power),
    "and": ("&", _logic.bitwise_and),
    "or": ("|", _logic.bitwise_or),
    "xor": ("^", _logic.bitwise_xor),
    "lshift": ("<<", _logic.left_shift),
    "rshift": (">>", _logic.right_shift),
}
_COMPARISONS = {
    "eq": ("==", _logic.equal),
    "ne": ("!=", _logic.not_equal),
    "lt": ("<", _logic.less),
    "le": ("<=", _logic.less_equal),
    "gt": (">", _logic.greater),
    "ge": (">=", _logic.greater_equal),
}

OPERATORS: dict[str, Callable[..., Any] | LazyMethod] = {
    **{f"__{name}__": _binary(symbol, f) for name, (symbol, f) in (_BINARY | _COMPARISONS).items()},
    **{f"__r{name}__": _reflected(symbol, f) for name, (symbol, f) in _BINARY.items()},
    "__matmul__": LazyMethod(_contraction, "matmul", functools.partial(_binary, "@")),
    "__rmatmul__": LazyMethod(_contraction, "matmul", functools.partial(_reflected, "@")),
    "__neg__": lambda self: _arithmetic.negative(self),
    "__pos__": lambda self: _arithmetic.positive(self),
    "__abs__": lambda self: _arithmetic.absolute(self),
    "__invert__": lambda self: _logic.invert(self),
    "__round__": _round,
}
