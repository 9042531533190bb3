"""Random integer expressions to be computed twice: symbolically and with Python's integers."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from sagax._src.core import dims

NAMES = ("a", "b", "c")
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}

# An expression is a name, an integer, or (operation, left, right).
leaves = st.one_of(st.sampled_from(NAMES), st.integers(-6, 6))


def linear_expressions() -> st.SearchStrategy[Any]:
    """Sums, and products and quotients by constants."""
    factor = st.integers(-5, 5)
    divisor = st.integers(-5, 7).filter(bool)

    def extend(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.tuples(st.sampled_from(["+", "-", "max", "min"]), parts, parts),
            st.tuples(st.just("*"), factor, parts),
            st.tuples(st.sampled_from(["//", "%"]), parts, divisor),
        )

    return st.recursive(leaves, extend, max_leaves=5)


def expressions() -> st.SearchStrategy[Any]:
    """All operations on all operands."""
    operations = st.sampled_from([*_OPERATORS, "max", "min"])
    return st.recursive(leaves, lambda parts: st.tuples(operations, parts, parts), max_leaves=6)


def symbolic(expression: Any, variables: Mapping[str, Any]) -> Any:
    """The expression made of symbolic sizes. ZeroDivisionError if it divides by a constant 0."""
    if isinstance(expression, str):
        return variables[expression]
    if isinstance(expression, int):
        return expression
    operation, *parts = expression
    x, y = (symbolic(part, variables) for part in parts)
    if operation == "max":
        return dims.max_dim(x, y)
    if operation == "min":
        return dims.min_dim(x, y)
    return _OPERATORS[operation](x, y)


def numeric(expression: Any, env: Mapping[str, int]) -> int:
    """The expression computed with these integers. ZeroDivisionError as in Python."""
    if isinstance(expression, str):
        return env[expression]
    if isinstance(expression, int):
        return expression
    operation, *parts = expression
    x, y = (numeric(part, env) for part in parts)
    if operation == "max":
        return max(x, y)
    if operation == "min":
        return min(x, y)
    return _OPERATORS[operation](x, y)


def grid(ranges: Mapping[str, Iterable[int]]) -> list[dict[str, int]]:
    """All combinations of the values."""
    combinations = itertools.product(*ranges.values())
    return [dict(zip(ranges, values, strict=True)) for values in combinations]
