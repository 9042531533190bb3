"""Rearrange elements: reshape, transpose, squeeze, broadcast, flip, roll."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives import arithmetic, comparison, identities, shaping, structural
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.structural import reshape_p, transpose_p
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    axes_in_order,
    axis_tuple,
    checked_shape,
    one_axis,
    renamed,
    static_int,
    with_aval,
)
from sagax.numpy._fused import fused_function

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import gathering, slicing


Axes = int | Sequence[int] | None


def shape(a: Any) -> tuple:
    """Return the shape of `a`, an array, a number or nested lists; a tuple.

    >>> snp.shape(snp.ones((2, 3)))
    (2, 3)
    """
    return _shape_of(a)


def ndim(a: Any) -> int:
    """Return the number of dimensions of `a`, an array, a number or nested lists.

    >>> snp.ndim(snp.ones((2, 3)))
    2
    """
    return len(_shape_of(a))


def size(a: Any, axis: Axes = None) -> Any:
    """Count the elements of `a`, or return the size of one axis (the product for several).

    >>> snp.size(snp.ones((2, 3))), snp.size(snp.ones((2, 3)), 1)
    (6, 3)
    """
    sizes = _shape_of(a)
    if axis is not None:
        sizes = [sizes[d] for d in axis_tuple("size", axis, len(sizes))]
    return dims.size(sizes)


def _shape_of(a: Any) -> tuple:
    """Return the shape of whatever has one, and that of NumPy's array of anything else."""
    if isinstance(a, Array):
        return a.shape
    if hasattr(a, "__jax_array__"):
        return a.__jax_array__().shape
    return tuple(a.shape) if hasattr(a, "shape") else np.shape(a)


# reshape ------------------------------------------------------------------------------------------


@fused_function(1)
def reshape(
    a: Any, shape: Any, order: str = "C", *, copy: bool | None = None, out_sharding: Any = None
) -> Array:
    """Reshape `a` to `shape`, an int or a tuple; one size may be -1: the rest.

    With `order="F"` elements are read and written with the first index changing fastest, as in
    Fortran. Arrays never change, so `copy` makes no difference. Same dtype. Raises a TypeError when
    the numbers of elements differ.

    >>> snp.reshape(snp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        within = functools.partial(reshape, shape=shape, order=order)
        return with_out_sharding("reshape", within, (a,), out_sharding)
    a, aval = with_aval("reshape", a)
    if order == "C":
        return _reshape(a, aval, shape)
    if order != "F":
        _bad_order("reshape", order)
    flipped = structural.transpose(a, range(aval.ndim)[::-1])
    sizes = _new_shape(aval, shape)
    out = structural.reshape(flipped, sizes[::-1])
    return structural.transpose(out, range(len(sizes))[::-1])


def _reshape(a: Any, aval: Any, shape: Any) -> Array:
    sizes = _new_shape(aval, shape)
    if hasattr(a, "aval") and dims.same_shape(sizes, aval.shape):
        return a
    try:
        return reshape_p.bind(a, new_sizes=sizes)
    except ShapeError:
        raise ShapeError(
            f"cannot reshape array of shape {aval.shape} (size {aval.size}) into shape {sizes} (size"
            f" {dims.size(sizes)})",
            function="reshape",
            fix="one size may be -1: whatever is left",
            a=a,
        ) from None


def _new_shape(aval: Any, shape: Any) -> tuple:
    """Replace -1 in `shape` by the size that is left."""
    if type(shape) is not tuple:
        shape = tuple(shape) if isinstance(shape, (list, range)) else _sizes(shape)
    rest = None
    for i, d in enumerate(shape):
        if type(d) is not int:
            if dims.is_dim(d):
                continue
            return _new_shape(
                aval, tuple([static_int("reshape", f"shape[{k}]", s) for k, s in enumerate(shape)])
            )
        if d == -1:
            if rest is not None:
                raise ShapeError(
                    "only one size can be -1, which stands for whatever is left",
                    function="reshape",
                    argument="shape",
                    got=shape,
                )
            rest = i
    if rest is not None:
        known = dims.size([d for i, d in enumerate(shape) if i != rest])
        if type(aval.size) is int and type(known) is int and (not known or aval.size % known):
            if known or aval.size:
                raise ShapeError(
                    f"cannot reshape array of shape {aval.shape} (size {aval.size}) into shape"
                    f" {shape}: the sizes that are given have the product {known}, which does not"
                    f" divide {aval.size}",
                    function="reshape",
                    x=aval,
                )
        left = dims.divide_sizes(aval.shape, shape)
        return (*shape[:rest], left, *shape[rest + 1 :])
    return checked_shape("reshape", "shape", shape)


def _sizes(shape: Any) -> tuple:
    """Convert an argument that is no tuple or list to one."""
    if isinstance(shape, (np.ndarray, Array)) and shape.ndim == 1:
        return tuple(shape)
    if isinstance(shape, Sequence) and not isinstance(shape, str):
        return tuple(shape)
    return (static_int("reshape", "shape", shape),)


def _bad_order(function: str, order: Any) -> None:
    if order in ("A", "K"):
        raise UnsupportedArgumentError(
            f"numpy.{function} with order={order!r}: arrays have no order in memory",
            fix="use order='C' (last index fastest) or order='F' (first index fastest)",
        )
    raise ArgumentValueError.about(function, "order", repr(order), "'C' or 'F'")


@fused_function(1)
def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Array:
    """Flatten `a` to one dimension, the last index changing fastest (first: `order="F"`).

    >>> snp.ravel(snp.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    if out_sharding is not None:
        within = functools.partial(ravel, order=order)
        return with_out_sharding("ravel", within, (a,), out_sharding)
    a, aval = with_aval("ravel", a)
    if order == "C":
        return a if aval.ndim == 1 and hasattr(a, "aval") else _reshape(a, aval, (aval.size,))
    if order != "F":
        _bad_order("ravel", order)
    return reshape(a, (aval.size,), order)


@fused_function(1)
def resize(a: Any, new_shape: int | Sequence[int]) -> Array:
    """Resize `a` to the shape `new_shape`: its elements are repeated or cut off.

    >>> snp.resize(snp.array([1, 2, 3]), (2, 2))
    Array([[1, 2],
           [3, 1]], dtype=int32)
    """
    a, aval = with_aval("resize", a)
    sizes = checked_shape("resize", "new_shape", new_shape)
    count = dims.size(sizes)
    flat = _reshape(a, aval, (aval.size,))
    if not aval.size or not count:
        return structural.full_of(aval.update(shape=sizes), 0)
    repeats = dims.ceil_div(count, aval.size)
    if dims.is_dim(repeats) and not dims.compare(count, "<=", aval.size):
        around = shaping.broadcasted_iota(np.int32, (count,), 0)
        flat = gathering.index_take(flat, (around,), (0,))  # which takes them modulo the size
        return _reshape(flat, aval.update(shape=(count,)), sizes)
    if not dims.is_dim(repeats) and repeats > 1:
        flat = shaping.concatenate([flat] * repeats, 0)
    return _reshape(_first(flat, count), aval.update(shape=(count,)), sizes)


def _first(flat: Any, count: dims.Size) -> Any:
    length = aval_of(flat).shape[0]
    return flat if length == count else shaping.split(flat, (count, length - count))[0]


# order of dimensions ------------------------------------------------------------------------------


@fused_function(1)
def transpose(a: Any, axes: Sequence[int] | None = None) -> Array:
    """Permute the dimensions of `a` to the order `axes`: reversed when that is None.

    >>> snp.transpose(snp.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    a, aval = with_aval("transpose", a)
    if axes is None:
        if aval.ndim < 2 and hasattr(a, "aval"):
            return a
        return transpose_p.bind(a, permutation=tuple(range(aval.ndim - 1, -1, -1)))
    order = axes_in_order("transpose", axes, aval.ndim)
    if len(order) != aval.ndim:
        raise ArgumentValueError.about(
            "transpose", "axes", axes, f"all {aval.ndim} dimensions of the array, each once", a=a
        )
    return structural.transpose(a, order)


def permute_dims(a: Any, axes: Sequence[int]) -> Array:
    """Permute the dimensions of `a` to the order `axes`; `transpose` by its name in the array API.

    >>> snp.permute_dims(snp.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    return transpose(a, axes)


@fused_function(1)
def matrix_transpose(x: Any) -> Array:
    """Swap the last two dimensions of `x`.

    Raises a ValueError for fewer than two dimensions.

    >>> snp.matrix_transpose(snp.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    x, aval = with_aval("matrix_transpose", x)
    n = aval.ndim
    if n < 2:
        raise ArgumentValueError.about(
            "matrix_transpose", "x", x, "an array with at least two dimensions"
        )
    return transpose_p.bind(x, permutation=(*range(n - 2), n - 1, n - 2))


@fused_function(1)
def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Swap two dimensions of `a`.

    >>> snp.swapaxes(snp.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a, aval = with_aval("swapaxes", a)
    i = one_axis("swapaxes", axis1, aval.ndim, "axis1")
    j = one_axis("swapaxes", axis2, aval.ndim, "axis2")
    order = list(range(aval.ndim))
    order[i], order[j] = order[j], order[i]
    return structural.transpose(a, order)


@fused_function(1)
def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Move the dimensions `source` of `a` to the positions `destination`, the others in order.

    >>> snp.moveaxis(snp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a, aval = with_aval("moveaxis", a)
    src = axes_in_order("moveaxis", source, aval.ndim, "source")
    dst = axes_in_order("moveaxis", destination, aval.ndim, "destination")
    if len(src) != len(dst):
        raise ArgumentValueError(
            f"Inconsistent number of elements: {len(src)} vs {len(dst)}",
            function="moveaxis",
            got=f"source={source} and destination={destination}",
            expected="as many destinations as sources",
        )
    order = [i for i in range(aval.ndim) if i not in src]
    for to, start in sorted(zip(dst, src)):
        order.insert(to, start)
    return structural.transpose(a, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Move the dimension `axis` of `a` before the one that is at `start`.

    >>> snp.rollaxis(snp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a, aval = with_aval("rollaxis", a)
    n = aval.ndim
    source = one_axis("rollaxis", axis, n)
    start = static_int("rollaxis", "start", start)
    if not -n <= start <= n:
        raise ArgumentValueError.about(
            "rollaxis", "start", start, f"a position from {-n} to {n}", a=a
        )
    target = start + n if start < 0 else start
    return moveaxis(a, source, target - 1 if source < target else target)


# dimensions of size 1 -----------------------------------------------------------------------------


@fused_function(1)
def expand_dims(a: Any, axis: int | Sequence[int]) -> Array:
    """Insert dimensions of size 1 into `a`, at the positions `axis` of the result.

    >>> snp.expand_dims(snp.ones(3), (0, -1)).shape
    (1, 3, 1)
    """
    a, aval = with_aval("expand_dims", a)
    if type(axis) is int:
        n = aval.ndim
        if -n - 1 <= axis <= n:
            d = axis if axis >= 0 else axis + n + 1
            shape = aval.shape
            return structural.broadcast_in_dim_p.bind(
                a,
                shape=(*shape[:d], 1, *shape[d:]),
                broadcast_dimensions=(*range(d), *range(d + 1, n + 1)),
            )
    new_axes = axis if isinstance(axis, Sequence) else (axis,)
    rank = aval.ndim + len(new_axes)
    found = axes_in_order("expand_dims", new_axes, rank, "axis")
    return structural.expand_dims(a, found)


@fused_function(1)
def squeeze(a: Any, axis: Axes = None) -> Array:
    """Remove the dimensions of size 1 from `a`, or those in `axis`, which must have size 1.

    Raises a ValueError for a dimension of another size.

    >>> snp.squeeze(snp.ones((1, 3, 1))).shape, snp.squeeze(snp.ones((1, 3, 1)), 0).shape
    ((3,), (3, 1))
    """
    a, aval = with_aval("squeeze", a)
    if axis is None:
        # Compared with ==, which records the assumption: a size of 1 gives another shape.
        axes = tuple([i for i, d in enumerate(aval.shape) if d == 1])
    else:
        axes = axis_tuple("squeeze", axis, aval.ndim)
    return structural.squeeze(a, axes)


def atleast_1d(*arys: Any) -> Array | tuple[Array, ...]:
    """Reshape the argument (several: a tuple of them) to at least one dimension.

    >>> snp.atleast_1d(1.0).shape
    (1,)
    """
    return _each("atleast_1d", arys, _at_least_1)


@fused_function(1)
def atleast_2d(*arys: Any) -> Array | tuple[Array, ...]:
    """Reshape the argument (several: a tuple of them) to at least two dimensions, new ones first.

    >>> snp.atleast_2d(snp.ones(3)).shape
    (1, 3)
    """
    return _each("atleast_2d", arys, _at_least_2)


@fused_function(1)
def atleast_3d(*arys: Any) -> Array | tuple[Array, ...]:
    """Reshape the argument (several: a tuple of them) to at least three dimensions.

    A vector of n elements gets the shape (1, n, 1), a matrix one more dimension at the end.

    >>> snp.atleast_3d(snp.ones(3)).shape, snp.atleast_3d(snp.ones((3, 4))).shape
    ((1, 3, 1), (3, 4, 1))
    """
    return _each("atleast_3d", arys, _at_least_3)


def _each(function: str, arrays: tuple, change: Any) -> Any:
    if len(arrays) == 1:
        return change(*with_aval(function, arrays[0]))
    return tuple([change(*with_aval(function, x, i)) for i, x in enumerate(arrays)])


def _to_array(x: Any, aval: Any) -> Array:
    """Convert `x` to an array of sagax, unchanged."""
    if hasattr(x, "aval"):
        return x
    return structural.broadcast_in_dim(x, aval.shape, tuple(range(aval.ndim)))


def _at_least_1(x: Any, aval: Any) -> Array:
    return structural.expand_dims(x, (0,)) if not aval.ndim else _to_array(x, aval)


def _at_least_2(x: Any, aval: Any) -> Array:
    new = tuple(range(2 - aval.ndim))
    return structural.expand_dims(x, new) if new else _to_array(x, aval)


def _at_least_3(x: Any, aval: Any) -> Array:
    new = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}.get(aval.ndim)
    return structural.expand_dims(x, new) if new else _to_array(x, aval)


# broadcasting -------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> tuple:
    """Compute the shape that arrays of the given shapes (tuples or ints) broadcast to.

    Raises a ValueError when they do not fit together.

    >>> snp.broadcast_shapes((2, 1), (3,), 1)
    (2, 3)
    """
    return shaping.broadcast_shapes(*shapes)


@fused_function(1)
def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Array:
    """Broadcast `array` to `shape`: sizes 1 stretch, and missing leading dimensions are added.

    Raises a ValueError when `array` does not fit.

    >>> snp.broadcast_to(snp.array([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        within = functools.partial(broadcast_to, shape=shape)
        return with_out_sharding("broadcast_to", within, (array,), out_sharding)
    array, aval = with_aval("broadcast_to", array)
    return _broadcast_to(array, aval, checked_shape("broadcast_to", "shape", shape))


def _broadcast_to(x: Any, aval: Any, shape: tuple) -> Array:
    length = aval.shape
    if hasattr(x, "aval") and dims.same_shape(length, shape):
        return x
    new = len(shape) - len(length)
    fits = new >= 0
    for k, d in enumerate(length if fits else ()):
        fits = fits and (dims.same(d, shape[new + k]) or dims.same(d, 1))
    if not fits:
        raise ArgumentValueError(
            f"Incompatible shapes for broadcasting: {length} and requested shape {shape}",
            function="broadcast_to",
            expected=f"an array whose shape broadcasts to {shape}: equal sizes counted from the "
            "last dimension, or size 1",
            x=x,
        )
    return structural.broadcast_in_dim_p.bind(
        x, shape=shape, broadcast_dimensions=tuple(range(new, len(shape)))
    )


def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """Broadcast the arguments to their common shape; a tuple.

    Raises a ValueError when they do not fit together.

    >>> [x.shape for x in snp.broadcast_arrays(snp.ones((2, 1)), snp.ones(3))]
    [(2, 3), (2, 3)]
    """
    found = [with_aval("broadcast_arrays", x, i) for i, x in enumerate(args)]
    shapes = [aval.shape for _, aval in found]
    try:
        common = shaping.broadcast_shapes(*shapes)
    except ArgumentValueError as error:
        raise renamed(error, "broadcast_arrays") from None
    return tuple([_broadcast_to(x, aval, common) for x, aval in found])


# flip, rotate, roll -------------------------------------------------------------------------------


@fused_function(1)
def flip(m: Any, axis: Axes = None) -> Array:
    """Reverse the order of elements of `m` along `axis`: one, several, or None for all.

    >>> snp.flip(snp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    return _flip("flip", m, axis)


def _flip(function: str, m: Any, axis: Axes) -> Array:
    m, aval = with_aval(function, m)
    return shaping.rev_p.bind(m, dimensions=axis_tuple(function, axis, aval.ndim))


def flipud(m: Any) -> Array:
    """Reverse the order of the rows (the first dimension) of `m`.

    >>> snp.flipud(snp.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return _flip("flipud", m, 0)


def fliplr(m: Any) -> Array:
    """Reverse the order of the columns (the second dimension) of `m`.

    >>> snp.fliplr(snp.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return _flip("fliplr", m, 1)


@fused_function(1)
def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """Rotate `m` by `k` right angles in the plane of two axes, from the first toward the second.

    >>> snp.rot90(snp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    m, aval = with_aval("rot90", m)
    found = axes_in_order("rot90", axes, aval.ndim)
    if len(found) != 2:
        raise ArgumentValueError.about("rot90", "axes", axes, "two different axes")
    first, second = found
    turns = static_int("rot90", "k", k) % 4
    if turns == 0:
        return _to_array(m, aval)
    if turns == 2:
        return shaping.rev(m, found)
    order = list(range(aval.ndim))
    order[first], order[second] = second, first
    if turns == 1:
        return structural.transpose(shaping.rev(m, (second,)), order)
    return shaping.rev(structural.transpose(m, order), (second,))


@fused_function(1)
def roll(a: Any, shift: Any, axis: Axes = None) -> Array:
    """Roll `a` along `axis` by `shift` positions; what leaves at the end enters at the front.

    `shift` may be one number for all axes or one for each; a traced one is allowed. Without an axis
    the elements are shifted in row-major order.

    >>> snp.roll(snp.arange(5), 2)
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    a, aval = with_aval("roll", a)
    if axis is None:
        flat = roll(_reshape(a, aval, (aval.size,)), shift, 0)
        return _reshape(flat, flat.aval, aval.shape)
    axes = axis if isinstance(axis, Sequence) else (axis,)
    found = [one_axis("roll", d, aval.ndim) for d in axes]
    shifts = _shifts(shift)
    if len(shifts) == 1:
        shifts = shifts * len(found)
    elif len(found) == 1:
        found = found * len(shifts)
    if len(shifts) != len(found):
        raise ArgumentValueError(
            "shift and axis do not go together",
            function="roll",
            got=f"{len(shifts)} shifts and {len(found)} axes",
            expected="one shift for each axis",
        )
    out = _to_array(a, aval)
    for amount, d in zip(shifts, found):
        out = _roll_one(out, amount, d)
    return out


def _shifts(shift: Any) -> list:
    """Convert the shifts to a list; ints where they are known."""
    if isinstance(shift, (tuple, list)):
        return [s for one in shift for s in _shifts(one)]
    if type(shift) is int or dims.is_dim(shift):
        return [shift]
    x, aval = with_aval("roll", shift, 1)
    if dtypes.kind(aval.dtype) not in "iub":
        raise ArgumentError.about("roll", "shift", shift, "integers")
    if aval.ndim > 1:
        raise ArgumentValueError.about("roll", "shift", shift, "an int or a vector of ints")
    if isinstance(x, Tracer) and x.concrete() is None:
        return list(shaping.unstack(x)) if aval.ndim else [x]
    return [int(v) for v in np.atleast_1d(np.asarray(x))]


def _roll_one(x: Any, shift: Any, axis: int) -> Any:
    aval = x.aval
    size = aval.shape[axis]
    if dims.same(size, 0):
        return x
    if isinstance(shift, Tracer):
        return _roll_traced(x, shift, axis)
    start = -shift % size  # the first element of the result
    if dims.same(start, 0):
        return x
    if dtypes.is_inexact(aval.dtype):
        # the cotangents of both parts are added first, as one term of the operand's cotangent
        x = identities.copy_p.bind(x)
    # slices, whose derivative is padding: the sum of padded arrays is one loop, parts put together are copies
    front = slicing.slice_in_dim(x, 0, start, axis=axis)
    back = slicing.slice_in_dim(x, start, size, axis=axis)
    return shaping.concatenate_p.bind(back, front, dimension=axis)


def _roll_traced(x: Any, shift: Any, axis: int) -> Any:
    """Roll as `_roll_one` does by a traced shift: a window onto two copies in a row."""
    size = x.aval.shape[axis]
    shift = structural.convert(shift, np.dtype(np.int32))
    rest = arithmetic.rem(shift, size)  # has the sign of the shift
    start = select_n(comparison.gt(rest, 0), arithmetic.neg(rest), arithmetic.sub(size, rest))
    twice = shaping.concatenate_p.bind(x, x, dimension=axis)
    return slicing.dynamic_slice_in_dim(twice, start, size, axis)
