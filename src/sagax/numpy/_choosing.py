"""Choose elements by masks and indices: compress, extract, place, choose, fill_diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import comparison, shaping, structural
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    concrete_or_raise,
    one_axis,
    refuse_out,
    static_int,
    with_aval,
)
from sagax.numpy._arithmetic import remainder
from sagax.numpy._cumulative import cumsum
from sagax.numpy._fused import fused
from sagax.numpy._indexing import getitem
from sagax.numpy._nonzero import first_indices
from sagax.numpy._reductions import as_dtype
from sagax.numpy._selection import clip, where
from sagax.numpy._shaping import broadcast_to, ravel

_BOOL = np.dtype(bool)


# compress, extract, place -------------------------------------------------------------------------


def compress(
    condition: Any,
    a: Any,
    axis: int | Sequence[int] | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: None = None,
) -> Array:
    """Select the slices of `a` along `axis` (without one: elements) where `condition` is nonzero.

    The axis may stand alone in a sequence.
    `condition` is a vector, perhaps shorter than the axis. It must be concrete unless `size` says how
    many slices to return: the first ones, filled up with `fill_value`.

    >>> snp.compress(snp.array([True, False, True]), snp.array([5, 6, 7]))
    Array([5, 7], dtype=int32)
    """
    refuse_out("compress", out)
    return _compress("compress", condition, a, axis, size, fill_value)


def _compress(function: str, condition: Any, a: Any, axis: Any, size: Any, fill: Any) -> Array:
    condition, c_aval = with_aval(function, condition, 0)
    a, aval = with_aval(function, a, 1)
    if c_aval.ndim != 1:
        raise ArgumentValueError.about(function, "condition", condition, "a vector (1 dimension)")
    if axis is None:
        x, d = ravel(a), 0
    else:
        alone = isinstance(axis, (tuple, list)) and len(axis) == 1
        axis = axis[0] if alone else axis
        x, d = _base.as_array(function, a), one_axis(function, axis, aval.ndim)
    length = x.aval.shape[d]
    if size is None:
        fix = "give size=..., the number of slices that the result should have"
        indices = np.flatnonzero(concrete_or_raise(function, condition, fix))
        if indices.size and indices[-1] >= length:
            raise ArgumentValueError(
                "condition contains entries that are out of bounds",
                function=function,
                got=f"a true one at {indices[-1]}, for an axis of size {length}",
            )
        return getitem(x, (slice(None),) * d + (indices.astype(np.int32),))
    size = static_int(function, "size", size)
    if isinstance(size, int) and (size < 0 or (isinstance(length, int) and size > length)):
        raise ArgumentValueError.about(
            function, "size", size, f"at least 0, and at most the size of the axis, {length}"
        )
    return _compress_to(condition, x, fill, size=size, axis=d)


@fused
def _compress_to(condition: Any, x: Any, fill: Any, *, size: int, axis: int) -> Array:
    mask = condition
    length, given = x.aval.shape[axis], aval_of(mask).shape[0]
    fill = as_dtype(fill, x.aval.dtype)
    full_shape = (*x.aval.shape[:axis], size, *x.aval.shape[axis + 1 :])
    if dims.same(length, 0) or dims.same(given, 0):
        return broadcast_to(fill, full_shape)
    if given > length:
        mask = slice_in_dim(mask, 0, length)
    elif not dims.same(given, length):
        x = slice_in_dim(x, 0, given, axis=axis)
    # behind the elements is the fill value: indices beyond the last one find it
    x = pad(x, fill, [(0, int(d == axis), 0) for d in range(x.aval.ndim)])
    indices = first_indices(mask, size, dtypes.int32)
    index = (slice(None),) * axis
    return getitem(x, (*index, indices), mode="clip", wrap_negative_indices=False)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Array:
    """Extract the elements of `arr` where `condition`, of the same size, is nonzero; a vector.

    `condition` must be concrete unless `size` says how many elements to return: the first ones, filled
    up with `fill_value`.

    >>> snp.extract(snp.array([[1, 0], [0, 1]]), snp.array([[5, 6], [7, 8]]))
    Array([5, 8], dtype=int32)
    """
    return _compress("extract", ravel(condition), ravel(arr), 0, size, fill_value)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Array:
    """Replace the elements of `arr` where `mask` is nonzero by `vals`, in order, repeated.

    Arrays never change: pass `inplace=False`, and use the result.

    >>> snp.place(snp.array([1, 2, 3]), snp.array([1, 0, 1]), snp.array([7, 8]), inplace=False)
    Array([7, 2, 8], dtype=int32)
    """
    if inplace:
        raise ArgumentValueError(
            "numpy.place cannot modify arrays in-place, because arrays are immutable.",
            function="place",
            fix="pass inplace=False and use the result",
        )
    arr, aval = with_aval("place", arr, 0)
    mask, m_aval = with_aval("place", mask, 1)
    vals, v_aval = with_aval("place", vals, 2)
    if not dims.same(aval.size, m_aval.size):
        raise ArgumentValueError(
            "arr and mask must be the same size",
            function="place",
            got=f"shapes {aval.shape} and {m_aval.shape}",
        )
    if dims.same(v_aval.size, 0):
        if dims.same(aval.size, 0):
            return _base.as_array("place", arr)
        raise ArgumentValueError("Cannot place values from an empty array", function="place")
    return _masked_assignment(arr, mask, vals)


@fused
def _masked_assignment(arr: Any, mask: Any, vals: Any) -> Array:
    arr, vals = _base.as_array("place", arr), ravel(vals)
    chosen = ravel(structural.convert(_base.as_array("place", mask), _BOOL))
    rank = cumsum(structural.convert(chosen, dtypes.int32)) - 1
    values = getitem(vals, (clip(rank, 0) % vals.shape[0],), wrap_negative_indices=False)
    values = structural.convert_given(values, arr.dtype)
    out = structural.reshape(where(chosen, values, ravel(arr)), arr.shape)
    return structural.convert(out, arr.dtype, arr.weak_type)


# choose -------------------------------------------------------------------------------------------


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """Choose each element from one of `choices`, a sequence of arrays; `a` holds its index.

    All broadcast. Numbers out of range: 'raise' is an error, for which `a` must be concrete, 'clip'
    takes the first or last choice, 'wrap' counts around.

    >>> snp.choose(snp.array([0, 1, 1]), [snp.array([1, 2, 3]), 9])
    Array([1, 9, 9], dtype=int32)
    """
    refuse_out("choose", out)
    a, aval = with_aval("choose", a, 0)
    if dtypes.kind(aval.dtype) not in "iub":
        raise ArgumentValueError.about("choose", "a", a, "integers: the numbers of choices")
    if isinstance(choices, (Array, np.ndarray)):
        choices = shaping.unstack(choices)
    choices = checks.several("choose", "choices", choices, "a sequence of arrays")
    choices = [_base.as_operand("choose", c, 1) for c in choices]
    count = len(choices)
    if not count:
        raise ArgumentValueError(
            "invalid entry in choice array", function="choose", got="no choices"
        )
    if mode == "raise":
        if isinstance(a, Tracer) and a.concrete() is None:
            raise UnsupportedArgumentError(
                "The 'raise' mode to numpy.choose is not supported for traced values: a compiled"
                " program cannot raise.",
                fix="use mode='clip' or mode='wrap'",
                a=a,
            )
        values = np.asarray(concrete_or_raise("choose", a, ""))
        if values.size and (values.min() < 0 or values.max() >= count):
            raise ArgumentValueError(
                "invalid entry in choice array",
                function="choose",
                argument="a",
                got=f"numbers from {values.min()} to {values.max()}",
                expected=f"numbers from 0 to {count - 1}, since there are {count} choices",
            )
    elif mode == "wrap":
        a = remainder(structural.convert(a, dtypes.int32) if aval.dtype == _BOOL else a, count)
    elif mode != "clip":
        raise ArgumentValueError.about("choose", "mode", repr(mode), "'raise', 'clip' or 'wrap'")
    if aval.dtype == _BOOL or count == 1:
        a = structural.convert(a, dtypes.int32)
    dtype, _ = _base.common_dtype("choose", choices)
    choices = [_base.cast(c, dtype, False) for c in choices]
    shapes = [aval_of(x).shape for x in (a, *choices)]
    shape = _base.broadcast_shapes("choose", shapes)
    return _base.strong(select_n(*[broadcast_to(x, shape) for x in (a, *choices)]))


# diagonals ----------------------------------------------------------------------------------------


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Array:
    """Replace the diagonal of `a`, where all indices are equal, by `val`: a number, or several.

    `a` is a matrix, or has several dimensions of one size. Arrays never change: pass `inplace=False`,
    and use the result. `wrap` is not supported.

    >>> snp.fill_diagonal(snp.zeros((2, 2)), 5, inplace=False)
    Array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    if inplace:
        raise UnsupportedArgumentError(
            "arrays are immutable, numpy.fill_diagonal must use inplace=False",
            fix="pass inplace=False and use the result",
        )
    if wrap:
        raise UnsupportedArgumentError(
            "wrap=True is not supported, numpy.fill_diagonal must use wrap=False"
        )
    a, aval = with_aval("fill_diagonal", a, 0)
    val, v_aval = with_aval("fill_diagonal", val, 1)
    if aval.ndim < 2:
        raise ArgumentValueError("array must be at least 2-d", function="fill_diagonal", got=a)
    if aval.ndim > 2 and any(not dims.same(d, aval.shape[0]) for d in aval.shape):
        raise ArgumentValueError(
            "All dimensions of input must be of equal length", function="fill_diagonal", got=a
        )
    count = dims.min_dim(aval.shape[0], aval.shape[1])
    if v_aval.ndim:
        if dims.same(v_aval.size, 0):
            raise ArgumentValueError.about("fill_diagonal", "val", val, "at least one number")
        val = ravel(val)
        copies = dims.ceil_div(count, v_aval.size)
        val = slice_in_dim(shaping.tile(val, (copies,)), 0, count)
    index = shaping.broadcasted_iota(dtypes.int32, (count,), 0)
    return _base.as_array("fill_diagonal", a).at[(index,) * aval.ndim].set(val)
