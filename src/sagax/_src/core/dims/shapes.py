"""Compute with shapes of ints and Dims.

Every function has a fast path for ints.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

import sagax._src.core.dims.expression as expression
from sagax._src.core.dims.expression import Dim, Size
from sagax._src.diagnostics import errors
from sagax._src.languages.choice import worded

Shape = tuple[Size, ...]


def is_dim(x: Any) -> bool:
    """Return whether ``x`` is a symbolic size."""
    return type(x) is Dim


def is_static(shape: Iterable[Any]) -> bool:
    """Return whether no entry of ``shape`` is symbolic."""
    for d in shape:
        if type(d) is Dim:
            return False
    return True


def same(x: Size, y: Size) -> bool:
    """Return whether two sizes are provably equal.

    This records no assumption. Use it for checks, and where False leads to a correct result for equal
    sizes too. Otherwise compare ``x == y``.
    """
    if x is y:
        return True
    if type(x) is not Dim and type(y) is not Dim:
        return x == y
    if type(x) is Dim and type(y) is Dim and x.scope is not y.scope:
        return False
    return expression.equal(x, y) is True


def same_shape(x: Sequence[Size], y: Sequence[Size]) -> bool:
    """Return whether two shapes have equal ranks and provably equal sizes."""
    if x is y:
        return True
    if len(x) != len(y):
        return False
    for a, b in zip(x, y):
        if a is b or (type(a) is int and type(b) is int and a == b):
            continue
        if not same(a, b):
            return False
    return True


def canonical_shape(shape: Any, where: str = "shape") -> Shape:
    """Convert ``shape`` to a tuple of non-negative ints and Dims; a single size means rank one.

    ``where`` names the argument in errors. Raises TypeError for an entry that is not an integer, and
    ValueError for a negative one (for a Dim, one that is negative for all sizes; see `check_sizes`).
    """
    entries: tuple[Any, ...] = shape
    if type(shape) is list:
        entries = tuple(cast("list[Any]", shape))
    elif type(shape) is not tuple:
        entries = _as_sequence(shape, where)
    for d in entries:
        if type(d) is not int or d < 0:
            return tuple([_check_entry(entries, i, where) for i in range(len(entries))])
    return entries


def _as_sequence(shape: Any, where: str) -> tuple[Any, ...]:
    if isinstance(shape, int | np.integer | Dim):
        return (cast(Any, shape),)
    if not isinstance(shape, str) and getattr(shape, "ndim", None) != 0:
        try:
            return tuple(shape)
        except TypeError as error:
            if isinstance(error, errors.SagaxError):
                raise  # the error of a tracer
    elif hasattr(shape, "ndim"):
        return (shape,)
    raise errors.ArgumentError(
        argument=where, got=repr(shape), expected="an integer or a sequence of integers"
    )


def _check_entry(shape: Sequence[Any], i: int, where: str) -> Size:
    d = shape[i]
    if type(d) is Dim:
        if expression.compare(d, "<", 0):
            raise errors.ArgumentValueError(
                f"{where}[{i}] is negative: {d}, which is below zero for all sizes, in"
                f" {shape_text(shape)}"
            )
        return d
    value = _as_integer(d)
    if value is None:
        fix = None
        if isinstance(d, float) and d.is_integer():
            fix = f"write {int(d)}; if it is a quotient, divide with // instead of /"
        raise errors.ArgumentError(
            f"{where}[{i}] must be an integer that is known while tracing; got"
            f" {errors.describe(d)} ({type(d).__name__}) in {shape_text(shape)}",
            fix=fix,
        )
    if value < 0:
        raise errors.ArgumentValueError(
            f"{where}[{i}] is negative: {value} in {shape_text(shape)}; sizes are at least 0"
        )
    return value


def _as_integer(d: Any) -> int | None:
    if isinstance(d, bool | np.bool_ | float | complex | str):
        return None
    if isinstance(d, np.ndarray):
        return expression.zero_dimensional_integer(d)
    try:
        return operator.index(d)
    except TypeError as error:
        if isinstance(error, errors.SagaxError):
            raise  # the error of a tracer
        return None


def shape_text(shape: Sequence[Any]) -> str:
    """Format a shape like a tuple."""
    body = ", ".join(str(d) for d in shape)
    return f"({body},)" if len(shape) == 1 else f"({body})"


def check_sizes(shape: Sequence[Size], where: str = "shape") -> None:
    """Check that every size of ``shape`` is provably at least 0.

    Use it in operations that create an array. Raises InconclusiveDimensionOperation, with the constraint
    that decides it.
    """
    for d in shape:
        if type(d) is Dim:
            answer = expression.compare(d, ">=", 0)
            if answer is None:
                raise d.scope.inconclusive(d, ">=", 0)
        else:
            answer = d >= 0
        if not answer:
            raise errors.ArgumentValueError(
                f"{where} has a negative size: {d} in {shape_text(shape)}"
            )


def size(shape: Iterable[Size]) -> Size:
    """Return the number of elements of an array of that shape."""
    return math.prod(shape)


def max_dim(x: Size, y: Size) -> Size:
    """Return the larger of two sizes."""
    if type(x) is int and type(y) is int:
        return x if x >= y else y
    return expression.maximum(x, y)


def min_dim(x: Size, y: Size) -> Size:
    """Return the smaller of two sizes."""
    if type(x) is int and type(y) is int:
        return x if x <= y else y
    return expression.minimum(x, y)


def clamp_dim(x: Size, lo: Size, hi: Size) -> Size:
    """Clamp ``x`` to ``lo ... hi`` (``lo`` wins if they cross)."""
    return max_dim(min_dim(x, hi), lo)


def non_negative(x: Size) -> Size:
    """Return ``max(x, 0)``."""
    return max_dim(x, 0)


def ceil_div(x: Size, y: Size) -> Size:
    """Return ``x / y`` rounded up."""
    return (x + y - 1) // y if type(y) is int and y > 0 else -(-x // y)


def broadcast_dim(x: Size, y: Size) -> Size | None:
    """Return the broadcast of two sizes, or None if they do not provably broadcast."""
    if same(x, y):
        return x
    if same(x, 1):
        return y
    if same(y, 1):
        return x
    return None


def divide_sizes(s1: Sequence[Size], s2: Sequence[Size]) -> Size:
    """Divide the size of ``s1`` by that of ``s2``: the value of ``-1`` in a reshape.

    An entry ``-1`` of ``s2`` is ignored. Raises InconclusiveDimensionOperation unless the quotient is
    provably an integer.
    """
    whole = size(s1)
    part = size([d for d in s2 if type(d) is Dim or d != -1])
    if type(whole) is not Dim and type(part) is not Dim:
        if part:
            quotient, remainder = divmod(whole, part)
            if not remainder:
                return quotient
        elif not whole:
            return 1  # 0 / 0: any size is correct, NumPy chooses 1
        else:
            raise _uneven_error(s1, s2, _zero_size(s1, s2, whole))
        raise _uneven_error(s1, s2, f"The remainder {remainder} should be 0.")
    if type(part) is not Dim and part == 0:
        if same(whole, 0):
            return 1
        raise _uneven_error(s1, s2, _zero_size(s1, s2, whole))
    remainder = expression.mod(whole, part)
    if same(remainder, 0):
        return expression.floordiv(whole, part)
    raise _uneven_error(s1, s2, f"The remainder {remainder} should be 0.", remainder)


def _zero_size(s1: Sequence[Size], s2: Sequence[Size], whole: Size) -> str:
    return f"The size of {shape_text(s2)} is 0 and that of {shape_text(s1)} is {whole}."


def _uneven_error(
    s1: Sequence[Size], s2: Sequence[Size], why: str, remainder: Size | None = None
) -> Exception:
    message = (
        f"Cannot divide evenly the sizes of shapes {shape_text(s1)} and {shape_text(s2)}.\n{why}"
    )
    if type(remainder) is not Dim:
        return errors.InconclusiveDimensionOperation(message)
    constraint = f"{remainder} == 0"
    return errors.InconclusiveDimensionOperation(
        message,
        lhs=remainder,
        op="==",
        rhs=0,
        constraint=constraint,
        fix=f'if it always is, say so where the dimensions are made: constraints=["{constraint}"]',
    )


def dilate_dim(d: Size, dilation: int) -> Size:
    """Return the extent of ``d`` elements ``dilation`` apart: ``1 + dilation*(d - 1)``, or 0."""
    if type(d) is not Dim:
        return 1 + dilation * (d - 1) if d > 0 else 0
    if dilation == 1:
        return d
    return non_negative(1 + dilation * (d - 1))


def stride_dim(d: Size, window: Size, stride: Size) -> Size:
    """Return the number of windows that fit into ``d`` elements, ``stride`` apart.

    It is ``(d - window)//stride + 1``, or 0 if none fits.
    """
    if type(d) is int and type(window) is int and type(stride) is int:
        return (d - window) // stride + 1 if d >= window else 0
    return non_negative((d - window) // stride + 1)


def slice_size(start: Size, stop: Size, step: Size = 1) -> Size:
    """Return the length of ``range(start, stop, step)``; the sign of ``step`` must be known."""
    if type(start) is int and type(stop) is int and type(step) is int:
        return len(range(start, stop, step))
    if step < 0:
        start, stop, step = stop, start, -step
    if type(step) is int and step == 1:
        return non_negative(stop - start)
    return non_negative((stop - start + step - 1) // step)


def canonical_slice(index: slice, d: Size) -> tuple[Size, Size, Size]:
    """Return ``(start, size, step)`` of ``index`` on an axis of ``d`` elements, by Python's rules.

    Negative indices count from the end, and indices are clamped to the axis. ``start`` is the first
    index taken, also for a negative step; with size 0 it is 0.

    >>> from sagax._src.core import dims
    >>> dims.canonical_slice(slice(None, None, -2), 5)
    (4, 3, -2)
    """
    step = 1 if index.step is None else index.step
    if type(step) is not Dim:
        step = operator.index(step)
        if step == 0:
            raise worded(ValueError("slice step cannot be zero"))
    if type(d) is int and not any(type(x) is Dim for x in (index.start, index.stop, step)):
        start, stop, step = index.indices(d)
        count = len(range(start, stop, step))
        return (start if count else 0), count, step
    forward = step > 0  # raises if the sign is not known
    if forward:
        start = 0 if index.start is None else _clamp_index(index.start, d, 0, d)
        stop = d if index.stop is None else _clamp_index(index.stop, d, 0, d)
    else:
        last = d - 1
        start = last if index.start is None else _clamp_index(index.start, d, -1, last)
        stop = -1 if index.stop is None else _clamp_index(index.stop, d, -1, last)
    count = slice_size(start, stop, step)
    if same(count, 0):
        return 0, 0, step
    return start, count, step


def _clamp_index(i: Any, d: Size, lo: Size, hi: Size) -> Size:
    """Convert index ``i`` of an axis of ``d`` elements to one from the start, in ``lo ... hi``."""
    if type(i) is not Dim:
        i = operator.index(i)
    # The comparison raises if the sign of the index is not known.
    return clamp_dim(i if i >= 0 else i + d, lo, hi)
