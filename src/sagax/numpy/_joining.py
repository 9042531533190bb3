"""Join and split arrays: concatenate, stack, split, tile, block, append."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.primitives import shaping, slicing, structural
from sagax._src.primitives.shaping import concatenate_p, split_p, stack_p
from sagax.numpy._arguments import (
    checked_shape,
    concrete_or_raise,
    one_axis,
    refuse_out,
    renamed,
    static_int,
    with_aval,
)
from sagax.numpy._fused import fused_function
from sagax.numpy._shaping import _to_array, moveaxis, ravel

Arrays = Sequence[Any] | Array


def _operands(function: str, arrays: Any) -> list:
    """Convert the arrays of a sequence (or along the first axis of one array), each checked."""
    if isinstance(arrays, (Array, np.ndarray)):
        if not arrays.ndim:
            raise ArgumentError.about(function, "arrays", arrays, "a sequence of arrays")
        arrays = shaping.unstack(arrays)
    if not isinstance(arrays, (list, tuple)):
        try:
            arrays = list(arrays)
        except TypeError:
            raise ArgumentError.about(function, "arrays", arrays, "a sequence of arrays") from None
    if not arrays:
        raise ArgumentValueError(
            f"Need at least one array to {function}.", function=function, argument="arrays"
        )
    return [x if isinstance(x, Array) else _checked(function, x, i) for i, x in enumerate(arrays)]


def _checked(function: str, x: Any, position: int) -> Any:
    try:
        return _base.as_operand(function, x, position)
    except ArgumentError:
        if isinstance(x, (list, tuple)):
            raise ArgumentError(
                f"{function} requires ndarray or scalar arguments, got {type(x)} at position"
                f" {position} of the sequence.",
                function=function,
                fix="make an array of it first: numpy.asarray(...)",
            ) from None
        raise


def _one_dtype(function: str, arrays: list, dtype: Any) -> list:
    """Convert the arrays to `dtype`, or to their common dtype when that is None."""
    if dtype is not None:
        dtype = dtypes.requested_dtype(dtype, function)
        return [structural.convert_given(x, dtype) for x in arrays]
    first = aval_of(arrays[0]).dtype
    if all(isinstance(x, Array) and x.aval.dtype is first for x in arrays):
        return arrays
    return _base.promote_dtypes(function, *arrays)


# concatenate --------------------------------------------------------------------------------------


def concatenate(arrays: Arrays, axis: int | None = 0, dtype: Any = None) -> Array:
    """Join arrays along `axis`, with None flattened first. They differ in size there alone.

    The result has the common dtype, or `dtype`.

    >>> snp.concatenate([snp.arange(2), snp.arange(3)])
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    return _concatenate("concatenate", arrays, axis, dtype)


def _concatenate(function: str, arrays: Arrays, axis: int | None, dtype: Any = None) -> Array:
    if _is_one_array(arrays):
        if axis is None:
            return ravel(_one_dtype(function, [arrays], dtype)[0])
        return _joined_slices(function, arrays, {}, axis, dtype)
    given = _one_dtype(function, _operands(function, arrays), dtype)
    if axis is None:
        given, axis = [ravel(x) for x in given], 0
    return _joined(function, given, axis)


def _joined(function: str, arrays: list, axis: int) -> Array:
    """Join arrays of one dtype along `axis`."""
    ndim = aval_of(arrays[0]).ndim
    if not ndim:
        raise _of_scalars(function, tuple(a for a in arrays if not aval_of(a).ndim))
    axis = one_axis(function, axis, ndim)
    if len(arrays) == 1:
        return _to_array(arrays[0], aval_of(arrays[0]))
    try:
        return concatenate_p.bind(*arrays, dimension=axis)
    except ShapeError as error:
        raise renamed(error, function) from None


def _of_scalars(function: str, of: tuple) -> ArgumentValueError:
    return ArgumentValueError(
        "Zero-dimensional arrays cannot be concatenated.",
        function=function,
        fix="use numpy.stack, or numpy.concatenate with axis=None",
        of=of,
    )


def _is_one_array(arrays: Any) -> TypeGuard[Array]:
    """Return whether the arrays to join are the slices of one, along its first axis."""
    if not isinstance(arrays, (Array, np.ndarray)) or not arrays.ndim:
        return False
    return not dims.same(arrays.shape[0], 0)


_NewAxes = Mapping[int, tuple[int, ...]]  # by rank: the positions of axes that are inserted


def _joined_slices(function: str, x: Any, new_axes: _NewAxes, axis: int, dtype: Any) -> Array:
    """Join the slices of an array along its first axis, whose size may be symbolic: two axes become one."""
    (x,) = _one_dtype(function, [_base.as_operand(function, x, 0)], dtype)
    new = new_axes.get(aval_of(x).ndim - 1, ())
    x = structural.expand_dims(x, [d + 1 for d in new]) if new else _to_array(x, aval_of(x))
    if x.ndim == 1:
        raise _of_scalars(function, (x,))
    axis = one_axis(function, axis, x.ndim - 1)
    shape = x.shape[1:]
    merged = (*shape[:axis], x.shape[0] * shape[axis], *shape[axis + 1 :])
    return shaping.reshape(moveaxis(x, 0, axis), merged)


def _joined_with_axes(
    function: str, tup: Arrays, new_axes: _NewAxes, axis: int, dtype: Any = None
) -> Array:
    """Join arrays along `axis` once each has the new axes of its rank; along the only axis of vectors."""
    if _is_one_array(tup):
        ndim = tup.ndim - 1 + len(new_axes.get(tup.ndim - 1, ()))
        return _joined_slices(function, tup, new_axes, min(axis, ndim - 1), dtype)
    arrays = []
    for x in _operands(function, tup):
        new = new_axes.get(aval_of(x).ndim)
        arrays.append(structural.expand_dims(x, new) if new else _to_array(x, aval_of(x)))
    return _joined(function, _one_dtype(function, arrays, dtype), min(axis, arrays[0].ndim - 1))


def concat(arrays: Arrays, *, axis: int | None = 0) -> Array:
    """Join arrays along `axis`; `concatenate` by its name in the array API.

    >>> snp.concat([snp.arange(2), snp.arange(3)])
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    return _concatenate("concat", arrays, axis)


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Append `values` to `arr` along `axis`; with None both are flattened first.

    >>> snp.append(snp.array([1, 2]), 3)
    Array([1, 2, 3], dtype=int32)
    """
    return _concatenate("append", [arr, values], axis)


# stack --------------------------------------------------------------------------------------------


def stack(arrays: Arrays, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Stack arrays, all of one shape, along a new dimension `axis` of the result.

    The result has the common dtype, or `dtype`. Raises a ValueError when shapes differ.

    >>> snp.stack([snp.arange(2), snp.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    if out is not None:
        refuse_out("stack", out)
    if isinstance(arrays, Array) and arrays.ndim and not dims.same(arrays.shape[0], 0):
        new_axis = one_axis("stack", axis, arrays.ndim)
        (x,) = _one_dtype("stack", [arrays], dtype)
        return moveaxis(x, 0, new_axis)
    given = _one_dtype("stack", _operands("stack", arrays), dtype)
    return stack_p.bind(*given, axis=one_axis("stack", axis, aval_of(given[0]).ndim + 1))


def vstack(tup: Arrays, dtype: Any = None) -> Array:
    """Stack arrays vertically: joined along the first dimension; vectors are rows.

    >>> snp.vstack([snp.arange(2), snp.arange(2)])
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    return _joined_with_axes("vstack", tup, {0: (0, 1), 1: (0,)}, 0, dtype)


def hstack(tup: Arrays, dtype: Any = None) -> Array:
    """Stack arrays horizontally: joined along the second dimension, vectors along their only one.

    >>> snp.hstack([snp.ones((2, 1)), snp.zeros((2, 2))])
    Array([[1., 0., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    return _joined_with_axes("hstack", tup, {0: (0,)}, 1, dtype)


def dstack(tup: Arrays, dtype: Any = None) -> Array:
    """Stack arrays in depth: joined along the third dimension.

    >>> snp.dstack([snp.arange(2), snp.arange(2)])
    Array([[[0, 0],
            [1, 1]]], dtype=int32)
    """
    return _joined_with_axes("dstack", tup, {0: (0, 1, 2), 1: (0, 2), 2: (2,)}, 2, dtype)


def column_stack(tup: Arrays) -> Array:
    """Stack arrays as columns of a matrix: vectors are one column each.

    >>> snp.column_stack([snp.arange(2), snp.ones((2, 2))])
    Array([[0., 1., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    return _joined_with_axes("column_stack", tup, {0: (0, 1), 1: (1,)}, 1)


def block(arrays: Any) -> Array:
    """Assemble an array from nested lists of blocks.

    A list joins along the last axis, a list of lists too along the one before it, and so on.

    >>> snp.block([[snp.ones((1, 1)), snp.zeros((1, 2))], [snp.zeros((1, 3))]])
    Array([[1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    depth = _block_depth(arrays, "arrays")
    leaves = _block_leaves(arrays)
    checked = [_base.as_operand("block", x, i) for i, x in enumerate(leaves)]
    rank = max([depth, *[aval_of(x).ndim for x in checked]])
    aligned = []
    for x in _one_dtype("block", checked, None):
        aval = aval_of(x)
        new = tuple(range(rank - aval.ndim))
        aligned.append(structural.expand_dims(x, new) if new else _to_array(x, aval))
    parts = iter(aligned)

    def assemble(nested: Any, axis: int) -> Array:
        if not isinstance(nested, list):
            return next(parts)
        return _joined("block", [assemble(x, axis + 1) for x in nested], axis)

    return assemble(arrays, rank - depth)


def _block_depth(nested: Any, path: str) -> int:
    """Compute the nesting depth of lists, the same everywhere."""
    if isinstance(nested, tuple):
        raise ArgumentError(
            "blocks are given in lists: a tuple is neither a list of blocks nor an array",
            function="block",
            argument=path,
            got=nested,
            fix="use lists",
        )
    if not isinstance(nested, list):
        return 0
    if not nested:
        raise ArgumentValueError.about("block", path, "an empty list", "at least one block")
    depths = [_block_depth(x, f"{path}[{i}]") for i, x in enumerate(nested)]
    if len(set(depths)) > 1:
        raise ArgumentValueError(
            "lists of blocks must be nested equally deep everywhere",
            function="block",
            argument=path,
            got=f"depths {', '.join(map(str, depths))}",
        )
    return depths[0] + 1


def _block_leaves(nested: Any) -> list:
    return (
        [x for one in nested for x in _block_leaves(one)] if isinstance(nested, list) else [nested]
    )


# split --------------------------------------------------------------------------------------------


@fused_function(1)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split `ary` along `axis`: into a number of equal pieces, or before the given indices.

    Raises a ValueError when it cannot be cut into so many equal pieces (see `array_split`).

    >>> snp.split(snp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    >>> snp.split(snp.arange(4), [1, 3])
    [Array([0], dtype=int32), Array([1, 2], dtype=int32), Array([3], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis)


@fused_function(1)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split as `split` does, into pieces that need not be equal: the first may be longer by one.

    >>> snp.array_split(snp.arange(3), 2)
    [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split `ary` along its first dimension; see `split`.

    >>> [x.shape for x in snp.vsplit(snp.ones((4, 3)), 2)]
    [(2, 3), (2, 3)]
    """
    return _split("vsplit", ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split `ary` along its second dimension, a vector along its only one; see `split`.

    >>> [x.shape for x in snp.hsplit(snp.ones((4, 2)), 2)]
    [(4, 1), (4, 1)]
    """
    ndim = with_aval("hsplit", ary)[1].ndim
    return _split("hsplit", ary, indices_or_sections, 0 if ndim == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split `ary` along its third dimension; see `split`.

    >>> [x.shape for x in snp.dsplit(snp.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2)


def _split(function: str, ary: Any, where: Any, axis: Any) -> list[Array]:
    x, aval = with_aval(function, ary)
    axis = one_axis(function, axis, aval.ndim)
    size = aval.shape[axis]
    if dims.is_dim(where) or np.ndim(where) == 0:
        count = static_int(function, "indices_or_sections", where)
        if count < 1:
            raise ArgumentValueError.about(
                function, "indices_or_sections", count, "at least one piece"
            )
        each, longer = divmod(size, count)
        if function != "array_split" and not dims.same(longer, 0):
            raise ArgumentValueError(
                "array split does not result in an equal division",
                function=function,
                argument="indices_or_sections",
                got=f"{count} pieces of axis {axis}, whose size is {size}",
                expected=f"a divisor of {size}",
                fix="array_split allows pieces that differ by one",
                ary=ary,
            )
        sizes = (
            tuple([each + 1] * longer + [each] * (count - longer)) if longer else (each,) * count
        )
        return split_p.bind(x, sizes=sizes, axis=axis)
    cuts = _cuts(function, where, size)
    edges = [0, *cuts, size]
    if any(b < a for a, b in zip(edges, edges[1:])):  # as slices: empty where they run backwards
        return [
            slicing.slice_in_dim(_to_array(x, aval), a, max(a, b), 1, axis)
            for a, b in zip(edges, edges[1:])
        ]
    return split_p.bind(x, sizes=tuple([b - a for a, b in zip(edges, edges[1:])]), axis=axis)


def _cuts(function: str, where: Any, size: Any) -> list:
    """Normalize the indices to cut before as a slice does: from the end if negative, in range."""
    if isinstance(where, (Tracer, Array, np.ndarray)):
        where = concrete_or_raise(
            function, where, "cut at indices that are known: a list of ints"
        ).tolist()
    found = []
    for i, cut in enumerate(where):
        cut = static_int(function, f"indices_or_sections[{i}]", cut)
        if not dims.is_dim(cut) and cut < 0:
            cut = dims.non_negative(cut + size)
        found.append(dims.min_dim(cut, size))
    return found


@fused_function(1)
def unstack(x: Any, *, axis: int = 0) -> tuple[Array, ...]:
    """Split `x` into its slices along `axis`, each without that dimension; a tuple.

    >>> snp.unstack(snp.array([[1, 2], [3, 4]]), axis=1)
    (Array([1, 3], dtype=int32), Array([2, 4], dtype=int32))
    """
    x, aval = with_aval("unstack", x)
    if not aval.ndim:
        raise ArgumentValueError.about("unstack", "x", x, "an array with at least one dimension")
    return tuple(shaping.unstack_p.bind(x, axis=one_axis("unstack", axis, aval.ndim)))


# tile ---------------------------------------------------------------------------------------------


@fused_function(1)
def tile(A: Any, reps: Any) -> Array:
    """Repeat `A` `reps[i]` times along each dimension i; missing leading ones are added to either.

    >>> snp.tile(snp.array([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    x, aval = with_aval("tile", A)
    counts = checked_shape("tile", "reps", reps)
    missing = len(counts) - aval.ndim
    if missing > 0:
        x = structural.expand_dims(x, tuple(range(missing)))
    return shaping.tile_p.bind(x, reps=(1,) * -missing + counts)
