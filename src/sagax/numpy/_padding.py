"""Pad arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.numpy._base as _base
import sagax.numpy._reductions as _reductions
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives import shaping, slicing, structural
from sagax._src.primitives.slicing import slice_in_dim
from sagax.numpy._applying import apply_along_axis
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    check_choice,
    concrete_or_raise,
    with_aval,
)
from sagax.numpy._arithmetic import floor_divide, maximum, remainder
from sagax.numpy._creation import linspace
from sagax.numpy._floats import rint
from sagax.numpy._fused import fused_function
from sagax.numpy._indexing import take
from sagax.numpy._joining import concatenate
from sagax.numpy._selection import where
from sagax.numpy._statistics import median

_OPTIONS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


@fused_function(1)
def pad(array: Any, pad_width: Any, mode: str | Callable = "constant", **kwargs: Any) -> Array:
    """Pad `array` with `pad_width` elements before and after it along each axis. Same dtype.

    Args:
      pad_width: a number for all, a pair (before, after) for all axes, or a pair for each axis.
      mode: what the new elements are.
        'constant': `constant_values`, a number, a pair or pairs as above, by default 0; 'empty': 0.
        'edge': the closest element. 'wrap': those of the other end.
        'reflect', 'symmetric': a mirror image at the last element, or just after it; with
        `reflect_type="odd"` as far on the other side of the last element's value.
        'linear_ramp': values from the last element to `end_values` (by default 0).
        'maximum', 'mean', 'median', 'minimum': that of the axis, or of its `stat_length` elements
        closest to the end.
        Or a function of (vector, (before, after), axis, kwargs), which gets and returns vectors along
        the axis in which the new elements are 0 at first.

    >>> snp.pad(snp.array([1, 2, 3]), (1, 2), mode="reflect")
    Array([2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x, aval = with_aval("pad", array)
    widths = _widths(pad_width, aval.ndim)
    x = _base.as_array("pad", x)
    if not aval.ndim:
        return x
    if callable(mode):
        return _of_type(_pad_by(x, widths, mode, kwargs), aval)
    if not isinstance(mode, str) or mode not in _OPTIONS:
        raise UnsupportedArgumentError(
            f"Unimplemented padding mode {mode!r} for numpy.pad; there are"
            f" {', '.join(map(repr, _OPTIONS))}"
        )
    unknown_options = kwargs.keys() - _OPTIONS[mode].keys()
    if unknown_options:
        raise ArgumentValueError(
            f"unsupported keyword arguments for mode {mode!r}: {', '.join(sorted(unknown_options))}",
            function="pad",
            expected=f"only {', '.join(_OPTIONS[mode]) or 'none'}",
        )
    options = _OPTIONS[mode] | kwargs
    if mode in ("constant", "empty"):
        return _of_type(_pad_constant(x, widths, options.get("constant_values", 0)), aval)
    for axis, (before, after) in enumerate(widths):
        if dims.same(before, 0) and dims.same(after, 0):
            continue
        if dims.same(aval.shape[axis], 0):
            raise ArgumentValueError(
                f"Cannot apply '{mode}' padding to empty axis", function="pad", got=array
            )
        x = _MODES[mode](x, axis, before, after, mode, options, widths)
    return _of_type(x, aval)


def _of_type(x: Any, aval: Any) -> Array:
    """Return the padded array as weakly typed as the given one."""
    return structural.convert(x, x.dtype, True) if aval.weak_type and x.dtype == aval.dtype else x


# arguments ----------------------------------------------------------------------------------------


def _pairs(value: Any, ndim: int, argument: str) -> list[tuple]:
    """Normalize a number, a pair, or pairs, to a pair for each axis."""
    shape = _nested_shape(value)
    if shape == ():
        return [(value, value)] * ndim
    if shape == (1,):
        return [(value[0], value[0])] * ndim
    if shape == (2,):
        return [(value[0], value[1])] * ndim
    if shape == (1, 2):
        return [(value[0][0], value[0][1])] * ndim
    if shape == (ndim, 2):
        return [(v[0], v[1]) for v in value]
    if shape == (ndim, 1):
        return [(v[0], v[0]) for v in value]
    raise ArgumentValueError(
        f"{argument} with nd={ndim} has unsupported shape {shape}. Valid shapes are"
        f" ({ndim}, 2), (1, 2), (2,), (1,), or ().",
        function="pad",
    )


def _nested_shape(value: Any) -> tuple:
    if isinstance(value, (list, tuple)):
        inner = [_nested_shape(v) for v in value]
        same = inner and all(s == inner[0] for s in inner)
        return (len(value), *(inner[0] if same else ()))
    return tuple(getattr(value, "shape", ()))


def _widths(pad_width: Any, ndim: int) -> list[tuple]:
    if isinstance(pad_width, (Array, np.ndarray)):
        pad_width = concrete_or_raise(
            "pad", pad_width, "give pad_width as ints: the shape of the result depends on it"
        ).tolist()
    found = []
    for pair in _pairs(pad_width, ndim, "pad_width"):
        for width in pair:
            if dims.is_dim(width):
                continue
            integral = isinstance(width, np.integer) or hasattr(width, "__index__")
            if isinstance(width, (bool, np.bool_)) or not integral:
                raise ArgumentError(
                    "`pad_width` must be of integral type.", function="pad", got=width
                )
            if width.__index__() < 0:
                raise ArgumentValueError("index can't contain negative values", function="pad")
        found.append(tuple([w if dims.is_dim(w) else w.__index__() for w in pair]))
    return found


# modes --------------------------------------------------------------------------------------------


def _pad_constant(x: Array, widths: list, values: Any) -> Array:
    if isinstance(values, (Array, np.ndarray)) and values.ndim:
        values = list(values)
        values = [list(v) if v.ndim else v for v in values]
    pairs = _pairs(values, x.ndim, "constant_values")
    scalars: dict[int, Any] = {}

    def scalar(value: Any) -> Any:
        key = id(value)
        if key not in scalars:
            value = _base.as_operand("pad", value)
            if aval_of(value).ndim:
                raise ArgumentValueError.about("pad", "constant_values", value, "numbers")
            if type(value) is int and dtypes.kind(x.dtype) in "iu":
                dtypes.check_python_int(value, x.dtype)
            scalars[key] = _reductions.as_dtype(value, x.dtype)
        return scalars[key]

    first = pairs[0][0] if pairs else 0
    if all(v is first or (type(v) is type(first) and type(v) is int and v == first)
            for pair in pairs for v in pair):  # fmt: skip
        return slicing.pad(x, scalar(first), [(b, a, 0) for b, a in widths])
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, pairs)):
        for width, value, index in ((before, low, 0), (after, high, 1)):
            config = [(0, 0, 0)] * x.ndim
            config[axis] = (0, width, 0) if index else (width, 0, 0)
            x = slicing.pad(x, scalar(value), config)
    return x


def _slice(x: Any, start: Any, stop: Any, axis: int) -> Any:
    return slice_in_dim(x, start, stop, 1, axis)


def _pad_edge(x: Any, axis: int, before: Any, after: Any, *_: Any) -> Array:
    size = x.shape[axis]
    shape = x.shape
    pieces = [x]
    if not dims.same(before, 0):
        wide = (*shape[:axis], before, *shape[axis + 1 :])
        pieces.insert(0, structural.broadcast_in_dim(_slice(x, 0, 1, axis), wide, range(x.ndim)))
    if not dims.same(after, 0):
        wide = (*shape[:axis], after, *shape[axis + 1 :])
        last = _slice(x, size - 1, size, axis)
        pieces.append(structural.broadcast_in_dim(last, wide, range(x.ndim)))
    return concatenate(pieces, axis)


def _take_static(x: Any, positions: np.ndarray, axis: int) -> Array:
    """Take x[positions] along `axis`, joined from slices where positions run up or down."""
    cuts = np.flatnonzero(np.diff(np.diff(positions))) + 1
    pieces, start = [], 0
    while start < len(positions):
        # the longest run of steps that are all 1 or all -1
        stop = start + 1
        if stop < len(positions) and abs(positions[stop] - positions[start]) == 1:
            later = cuts[cuts > start]
            stop = int(later[0]) + 1 if later.size else len(positions)
        run = positions[start:stop]
        low, high = int(min(run[0], run[-1])), int(max(run[0], run[-1])) + 1
        piece = _slice(x, low, high, axis)
        pieces.append(shaping.rev(piece, (axis,)) if run[0] > run[-1] else piece)
        start = stop
    return concatenate(pieces, axis)


def _pad_mirrored(
    x: Any, axis: int, before: Any, after: Any, mode: str, options: dict, _: Any
) -> Array:
    size = x.shape[axis]
    kind = options.get("reflect_type", "even")
    check_choice("pad", "reflect_type", kind, ("even", "odd"), "'even' or 'odd'")
    if dims.is_dim(size) or dims.is_dim(before) or dims.is_dim(after):
        return _pad_mirrored_at_run_time(x, axis, before, after, mode, kind)
    if size == 1 and mode == "reflect":
        return _pad_edge(x, axis, before, after)
    index = np.arange(-before, size + after)
    if mode == "wrap":
        return _take_static(x, index % size, axis)
    # the mirrored sequence repeats after `period` elements; in its second half it runs backwards
    period = 2 * (size - 1) if mode == "reflect" else 2 * size
    phase = index % period
    backwards = phase >= size
    positions = np.where(backwards, period - phase - (mode == "symmetric"), phase)
    mirrored = _take_static(x, positions, axis)
    if kind == "even":
        return mirrored
    # odd: each reflection is at the value of the end, so that a period adds twice the total rise
    first, last = _slice(x, 0, 1, axis), _slice(x, size - 1, size, axis)
    shape = [1] * x.ndim
    shape[axis] = len(index)
    sign = np.where(backwards, -1, 1).astype(x.dtype).reshape(shape)
    ends = (2 * backwards).astype(x.dtype).reshape(shape)
    periods = (2 * (index // period)).astype(x.dtype).reshape(shape)
    return mirrored * sign + last * ends + (last - first) * periods


def _pad_mirrored_at_run_time(
    x: Any, axis: int, before: Any, after: Any, mode: str, kind: str
) -> Array:
    """Pad by mirroring with indices that are computed at run time."""
    size = x.shape[axis]
    length = before + size + after
    count = structural.convert(shaping.size_as_value(size), dtypes.int32)
    index = shaping.iota(dtypes.int32, length) - shaping.size_as_value(before)
    if mode == "wrap":
        return take(x, remainder(index, count), axis=axis)
    period = maximum(2 * (count - 1), 1) if mode == "reflect" else 2 * count
    phase = remainder(index, period)
    backwards = phase >= count
    positions = where(backwards, period - phase - (mode == "symmetric"), phase)
    mirrored = take(x, positions, axis=axis)
    if kind == "even":
        return mirrored
    first = take(x, np.zeros(1, np.int32), axis=axis)
    last = take(x, structural.reshape(count - 1, (1,)), axis=axis)
    shape = [1] * x.ndim
    shape[axis] = length
    back = structural.reshape(backwards, tuple(shape))
    periods = structural.reshape(
        structural.convert(floor_divide(index, period), x.dtype), tuple(shape)
    )
    return where(back, 2 * last - mirrored, mirrored) + (last - first) * (2 * periods)


def _pad_ramp(
    x: Any, axis: int, before: Any, after: Any, _: str, options: dict, widths: Any
) -> Array:
    low, high = _pairs(options["end_values"], len(widths), "end_values")[axis]
    size = x.shape[axis]
    first, last = (structural.squeeze(_slice(x, i, i + 1, axis), (axis,)) for i in (0, size - 1))
    pieces = [x]
    if not dims.same(before, 0):
        pieces.insert(0, linspace(low, first, before, endpoint=False, dtype=x.dtype, axis=axis))
    if not dims.same(after, 0):
        ramp = linspace(high, last, after, endpoint=False, dtype=x.dtype, axis=axis)
        pieces.append(shaping.rev(ramp, (axis,)))
    return concatenate([structural.convert(p, x.dtype) for p in pieces], axis)


_STATISTICS: dict[str, Callable] = {
    "maximum": _reductions.max,
    "minimum": _reductions.min,
    "mean": _reductions.mean,
    "median": median,
}


def _pad_statistic(
    x: Any, axis: int, before: Any, after: Any, mode: str, options: dict, widths: Any
) -> Array:
    size = x.shape[axis]
    lengths: tuple = (None, None)
    if options["stat_length"] is not None:
        lengths = _pairs(options["stat_length"], len(widths), "stat_length")[axis]
    pieces = [x]
    for index, (width, length) in enumerate(zip((before, after), lengths)):
        if dims.same(width, 0):
            continue
        length = size if length is None else dims.min_dim(length, size)
        if not dims.is_dim(length) and length < 1:
            raise ArgumentValueError.about("pad", "stat_length", length, "at least 1")
        window = _slice(x, size - length, size, axis) if index else _slice(x, 0, length, axis)
        value = _STATISTICS[mode](window, axis, keepdims=True)
        if dtypes.kind(x.dtype) in "iu" and dtypes.is_inexact(value.dtype):
            value = rint(value)
        value = structural.convert(value, x.dtype)
        wide = (*x.shape[:axis], width, *x.shape[axis + 1 :])
        piece = structural.broadcast_in_dim(value, wide, range(x.ndim))
        pieces.insert(len(pieces) if index else 0, piece)
    return concatenate(pieces, axis)


def _pad_by(x: Array, widths: list, function: Callable, kwargs: dict) -> Array:
    x = _pad_constant(x, widths, 0)
    for axis, pair in enumerate(widths):
        x = apply_along_axis(function, axis, x, pair, axis, kwargs)
    return x


_MODES: dict[str, Callable] = {
    "edge": _pad_edge,
    "linear_ramp": _pad_ramp,
    "maximum": _pad_statistic,
    "mean": _pad_statistic,
    "median": _pad_statistic,
    "minimum": _pad_statistic,
    "reflect": _pad_mirrored,
    "symmetric": _pad_mirrored,
    "wrap": _pad_mirrored,
}
