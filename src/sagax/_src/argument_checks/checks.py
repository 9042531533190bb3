"""Check single arguments: return them normalized, or raise an error that names function and
argument.

`expected` describes valid values. `show` formats the given value for the error: `as_it_is`, `repr`
or `kind_of`.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from sagax._src.core.references import Ref
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError, ShapeError


def shown(value: Any) -> Any:
    """Format `value` as the fact `got` of an error: text in quotes, others unchanged."""
    return repr(value) if isinstance(value, (str, bytes)) else value


def as_it_is(value: Any) -> Any:
    """Return `value` itself as the fact `got`."""
    return value


def _refusal(
    error: type[SagaxError],
    message: str | None,
    function: str,
    argument: str,
    got: Any,
    expected: str,
    fix: str | None = None,
) -> SagaxError:
    facts = {"function": function, "argument": argument, "got": got, "expected": expected}
    if fix is not None:  # else a caller may attach one
        facts["fix"] = fix
    return error(message, **facts)


def instance(
    function: str,
    argument: str,
    value: Any,
    kinds: type | tuple[type, ...],
    expected: str,
    *,
    message: str | None = None,
    show: Callable[[Any], Any] = as_it_is,
    fix: str | None = None,
    error: type[SagaxError] = ArgumentError,
) -> Any:
    """Return `value` if it is of one of the classes `kinds`."""
    if isinstance(value, kinds):
        return value
    raise _refusal(error, message, function, argument, show(value), expected, fix)


def callable(
    function: str,
    argument: str,
    value: Any,
    expected: str = "a function",
    *,
    show: Callable[[Any], Any] = as_it_is,
) -> Any:
    """Return `value` if it can be called."""
    if builtins.callable(value):
        return value
    raise _refusal(ArgumentError, None, function, argument, show(value), expected)


def one_of(
    function: str,
    argument: str,
    value: Any,
    choices: Container[Any],
    expected: str,
    *,
    message: str | None = None,
    show: Callable[[Any], Any] = as_it_is,
) -> Any:
    """Return `value` if it is among `choices`."""
    if value in choices:
        return value
    raise _refusal(ArgumentValueError, message, function, argument, show(value), expected)


def integer(
    function: str,
    argument: str,
    value: Any,
    expected: str = "an int",
    *,
    message: str | None = None,
    show: Callable[[Any], Any] = repr,
    least: int | None = None,
    most: int | None = None,
    in_range: str | None = None,
    out_of_range: str | None = None,
) -> int:
    """Return `value` as an int from `least` to `most`.

    Args:
      message: the message where it is no integer; `out_of_range` that if it is out of range.
      in_range: what is expected of an integer, if not the same as of other values.
    """
    try:
        number = operator.index(value)
    except TypeError:
        if isinstance(value, Tracer):  # its error says more
            raise
        raise _refusal(ArgumentError, message, function, argument, show(value), expected) from None
    if (least is not None and number < least) or (most is not None and number > most):
        raise _refusal(
            ArgumentValueError, out_of_range, function, argument, number, in_range or expected
        )
    return number


def is_index(value: Any) -> bool:
    """Return whether `value` is a single integer."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def several(function: str, argument: str, value: Any, expected: str) -> list:
    """Return the elements of an iterable as a list."""
    try:
        return list(value)
    except SagaxError:  # such as that of an array without dimensions
        raise
    except TypeError:
        raise _refusal(ArgumentError, None, function, argument, shown(value), expected) from None


def positions(
    function: str, argument: str, value: Any, show: Callable[[Any], Any] = shown
) -> tuple[int, ...]:
    """Return positions of arguments, an int or several, as a tuple."""
    try:
        single = isinstance(value, str) or is_index(value) or not isinstance(value, Iterable)
        return tuple(map(operator.index, (value,) if single else value))
    except TypeError:
        expected = "an int or a sequence of ints: positions of arguments"
        raise _refusal(ArgumentError, None, function, argument, show(value), expected) from None


def one_for_each_dimension(
    function: str,
    argument: str,
    values: Sequence[Any],
    operand: Any,
    *,
    error: type[SagaxError] = ShapeError,
    fix: str | None = None,
) -> None:
    """Raise unless `values` has one entry for each dimension of `operand`."""
    if len(values) != operand.ndim:
        expected = f"one entry for each of the operand's {operand.ndim} dimensions"
        refusal = _refusal(error, None, function, argument, values, expected, fix)
        raise refusal.attach(operand=operand)


class AxisError(ArgumentValueError, IndexError):
    """An axis that the array has not; an IndexError too, as NumPy's class of this name."""


def canonical_axis(axis: Any, ndim: int, function: str, argument: str = "axis") -> int:
    """Return `axis` as an int in [0, ndim)."""
    if isinstance(axis, Tracer):
        axis = axis.__index__()
    try:
        k = axis.__index__()
    except (AttributeError, TypeError):  # TypeError: an array of several numbers, or of floats
        raise _refusal(ArgumentError, None, function, argument, axis, "an int") from None
    if not -ndim <= k < ndim:
        expected = f"an axis of an array with {ndim} dimension{'s' if ndim != 1 else ''}"
        expected += f" ({-ndim} to {ndim - 1})" if ndim else ": a scalar has none"
        raise _refusal(AxisError, None, function, argument, k, expected)
    return k + ndim if k < 0 else k


def distinct_references(
    function: str, captured: Sequence[Any], operands: Sequence[Any], what: str
) -> None:
    """Raise if `what`, a function, could write to one reference under two names."""
    seen = {id(x): f"a value that {what} captures" for x in captured if type(x) is Ref}
    for i, x in enumerate(operands):
        if type(x) is not Ref:
            continue
        if id(x) in seen:
            raise ArgumentValueError(
                f"one reference of type {x.aval!r} is passed twice: as {seen[id(x)]} and as operand {i}",
                function=function,
                argument=f"operands[{i}]",
                got=repr(x.aval),
                fix="pass it once, and use that name in the function",
            )
        seen[id(x)] = f"operand {i}"
