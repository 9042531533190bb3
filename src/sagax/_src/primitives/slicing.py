"""Define static and dynamic slices, updates of slices, and padding."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import JOINING, MOVEMENT, Fusion, Recompute, Sums, shard_resized
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f32, i32
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    DtypeError,
    ShapeError,
    TracerIntegerConversionError,
)
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.arithmetic import add, sub
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.index_rules import shard_update, slice_indices, update_indices
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import (
    align_mapped,
    full,
    linear_in_all,
    same_dtypes,
    size_as_value,
    stack_p,
    unstack,
)
from sagax._src.primitives.structural import (
    broadcast,
    broadcast_in_dim,
    convert,
    expand_dims,
    instantiate,
    linear_rules,
    moveaxis,
    reduce_sum,
    squeeze,
    zeros_of,
)

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import gathering, scattering


_WIDE = np.dtype(np.int32)


# slice --------------------------------------------------------------------------------------------

slice_p = Primitive(
    "slice", family=MOVEMENT, shard_rule=shard_resized, multilinear=True, exact=True
)


def slice(
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Any:
    """Slice `operand` from `start_indices` up to `limit_indices`, by `strides`.

    One entry for each dimension; they are in bounds and not negative.

    >>> lax.slice(np.arange(12).reshape(3, 4), (0, 1), (2, 4), (1, 2))
    Array([[1, 3],
           [5, 7]], dtype=int32)
    """
    start = sizes_of("slice", "start_indices", start_indices)
    limit = sizes_of("slice", "limit_indices", limit_indices)
    if strides is not None:
        strides = sizes_of("slice", "strides", strides)
    if strides is None or all(type(s) is int and s == 1 for s in strides):
        aval = getattr(operand, "aval", None)
        if (
            aval is not None
            and len(start) == aval.ndim
            and dims.same_shape(limit, aval.shape)
            and all(dims.same(s, 0) for s in start)
        ):
            return operand
    return slice_p.bind(operand, start_indices=start, limit_indices=limit, strides=strides)


def sizes_of(function: str, argument: str, values: Any) -> tuple:
    """Convert `values` to a tuple of ints and symbolic sizes, which may be negative."""
    try:
        return tuple([v if dims.is_dim(v) else v.__index__() for v in values])
    except TracerIntegerConversionError as error:  # it names the arguments that the size depends on
        raise error.attach(function=function, argument=argument) from None
    except (TypeError, AttributeError):
        raise ArgumentError.about(
            function, argument, values, "a sequence of ints known while tracing"
        ) from None


@slice_p.abstract
def _(
    x: ShapedArray, *, start_indices: tuple, limit_indices: tuple, strides: tuple | None
) -> ShapedArray:
    given = {"start_indices": start_indices, "limit_indices": limit_indices}
    if strides is not None:
        given["strides"] = strides
    for argument, values in given.items():
        checks.one_for_each_dimension("slice", argument, values, x)
    shape = []
    for axis, size in enumerate(x.shape):
        start, limit = start_indices[axis], limit_indices[axis]
        stride = 1 if strides is None else strides[axis]
        if stride <= 0:
            raise ShapeError(
                function="slice",
                argument="strides",
                path=f"[{axis}]",
                got=stride,
                expected="a stride of at least 1",
                fix="lax.rev reverses dimensions",
            )
        if start < 0 or limit < start or limit > size:
            raise ShapeError(
                f"dimension {axis} of size {size} cannot be sliced from {start} to {limit}",
                function="slice",
                got=f"start_indices {start_indices} and limit_indices {limit_indices}",
                expected="0 <= start <= limit <= size in each dimension",
                operand=x,
                fix="lax.slice_in_dim and indexing x[a:b] count negative indices from the end",
            )
        shape.append(dims.slice_size(start, limit, stride))
    return intern_aval(tuple(shape), x.dtype, x.weak_type, None)


@slice_p.reference
def _(
    x: np.ndarray, *, start_indices: tuple, limit_indices: tuple, strides: tuple | None
) -> np.ndarray:
    strides = (None,) * x.ndim if strides is None else strides
    return x[tuple(map(builtins.slice, start_indices, limit_indices, strides))].copy()


linear_rules(slice_p)


@slice_p.transpose
def _(
    ct: Any, x: Any, *, start_indices: tuple, limit_indices: tuple, strides: tuple | None
) -> tuple:
    config = []
    for axis, (size, start, count) in enumerate(zip(x.shape, start_indices, aval_of(ct).shape)):
        stride = 1 if strides is None else strides[axis]
        config.append((start, size - start - dims.dilate_dim(count, stride), stride - 1))
    return (pad(ct, scalar_like(0, x.dtype), config),)


@slice_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    start_indices: tuple,
    limit_indices: tuple,
    strides: tuple | None,
) -> tuple:
    (x,), (d,) = args, in_dims
    out = slice_p.bind(
        x,
        start_indices=(*start_indices[:d], 0, *start_indices[d:]),
        limit_indices=(*limit_indices[:d], aval_of(x).shape[d], *limit_indices[d:]),
        strides=None if strides is None else (*strides[:d], 1, *strides[d:]),
    )
    return out, d


@slice_p.lower
def _(b: Any, x: Any, *, start_indices: tuple, limit_indices: tuple, strides: tuple | None) -> Any:
    return b.slice(x, start_indices, limit_indices, strides)


slice_p.samples = [
    Sample(f32(3, 4), start_indices=(0, 1), limit_indices=(2, 4), strides=(1, 2)),
    Sample(f32(3), start_indices=(1,), limit_indices=(3,), strides=None),
    Sample(f32(5), start_indices=(2,), limit_indices=(2,), strides=(3,)),
    Sample(c64(7), start_indices=(1,), limit_indices=(7,), strides=(4,)),
    Sample(boolean(2, 2), start_indices=(0, 0), limit_indices=(2, 1), strides=None),
    Sample(i32(), start_indices=(), limit_indices=(), strides=None),
]


def slice_in_dim(
    operand: Any,
    start_index: dims.Size | None,
    limit_index: dims.Size | None,
    stride: int = 1,
    axis: int = 0,
) -> Any:
    """Slice `operand[start_index:limit_index:stride]` along one axis; all of it along the others.

    Negative indices count from the end. Unlike in Python, indices are not clamped to the size of the operand.

    >>> lax.slice_in_dim(np.arange(5), 1, -1, 2)
    Array([1, 3], dtype=int32)
    """
    shape = aval_of(operand).shape
    axis = canonical_axis(axis, len(shape), "slice_in_dim")
    size = shape[axis]
    (start,) = sizes_of("slice_in_dim", "start_index", (0 if start_index is None else start_index,))
    (limit,) = sizes_of(
        "slice_in_dim", "limit_index", (size if limit_index is None else limit_index,)
    )
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis] = start + size if start < 0 else start
    limits[axis] = limit + size if limit < 0 else limit
    (strides[axis],) = sizes_of("slice_in_dim", "stride", (stride,))
    return slice(operand, starts, limits, strides)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Select the element `index` of `operand` along an axis, which stays with size 1 if `keepdims`.

    A negative index counts from the end. Raises IndexError when it is out of bounds.

    >>> lax.index_in_dim(np.arange(6).reshape(2, 3), -1, keepdims=False)
    Array([3, 4, 5], dtype=int32)
    """
    shape = aval_of(operand).shape
    axis = canonical_axis(axis, len(shape), "index_in_dim")
    (index,) = sizes_of("index_in_dim", "index", (index,))
    size = shape[axis]
    start = index + size if index < 0 else index
    if start < 0 or start >= size:
        raise OutOfBoundsError(index, axis, size)
    row = slice_in_dim(operand, start, start + 1, 1, axis)
    return row if keepdims else squeeze(row, (axis,))


class OutOfBoundsError(ArgumentValueError, IndexError):
    """A static index is out of bounds of its axis."""

    def __init__(self, index: Any, axis: int, size: Any) -> None:
        super().__init__(
            f"index {index} is out of bounds for axis {axis} with size {size}",
            function="index_in_dim",
            argument="index",
            got=index,
            expected=f"an index from -{size} to {size - 1}",
        )


# pad ----------------------------------------------------------------------------------------------

pad_p = Primitive(
    "pad",
    family=JOINING,
    creates_nan=True,
    moves_keys=False,
    shard_rule=shard_resized,
    multilinear=True,
    exact=True,
)


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """Pad `operand` with copies of the scalar `padding_value`.

    For each dimension `padding_config` holds (low, high, interior): the numbers of copies before, after, and
    between elements. Interior padding comes first; a negative low or high then removes elements.

    >>> lax.pad(np.array([1, 2, 3]), np.int32(0), [(2, -1, 1)])
    Array([0, 0, 1, 0, 2, 0], dtype=int32)
    """
    config = []
    for entry in checks.several(
        "pad", "padding_config", padding_config, "(low, high, interior) for each dimension"
    ):
        entry = sizes_of("pad", "padding_config", entry)
        if len(entry) != 3:
            raise ArgumentValueError.about(
                "pad", "padding_config", entry, "an entry (low, high, interior) for each dimension"
            )
        config.append(entry)
    return pad_p.bind(operand, padding_value, padding_config=tuple(config))


@pad_p.abstract
def _(x: ShapedArray, value: ShapedArray, *, padding_config: tuple) -> ShapedArray:
    if value.shape:
        raise ArgumentValueError.about("pad", "padding_value", value, "a scalar")
    same_dtypes("pad", [x, value])
    if dtypes.is_extended(x.dtype):
        raise DtypeError(
            f"pad does not accept dtype {dtypes.name(x.dtype)}",
            function="pad",
            got=x,
            expected="numbers or booleans",
            fix="use lax.concatenate with an array to put before or after",
        )
    checks.one_for_each_dimension(
        "pad", "padding_config", padding_config, x, error=ArgumentValueError
    )
    shape = []
    for axis, (size, (low, high, interior)) in enumerate(zip(x.shape, padding_config)):
        if interior < 0:
            raise ArgumentValueError(
                function="pad",
                argument="padding_config",
                path=f"[{axis}][2]",
                got=interior,
                expected="an interior padding of at least 0",
            )
        padded = low + high + dims.dilate_dim(size, interior + 1)
        if padded < 0:
            raise ArgumentValueError(
                f"dimension {axis} of size {size} would get the negative size {padded}",
                function="pad",
                argument="padding_config",
                got=padding_config,
                expected="padding that removes no more than there is",
                operand=x,
            )
        shape.append(padded)
    return intern_aval(tuple(shape), x.dtype, x.weak_type and value.weak_type, None)


@pad_p.mask
def _(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    padded = [d for d, n in enumerate(params["padding_config"]) if tuple(n) != (0, 0, 0)]
    return trace.bind_other_axes(padded, primitive, args, params, out)


@pad_p.reference
def _(x: np.ndarray, value: np.ndarray, *, padding_config: tuple) -> np.ndarray:
    shape, taken, targets = [], [], []
    for size, (low, high, interior) in zip(x.shape, padding_config):
        step = interior + 1
        whole = low + high + dims.dilate_dim(size, step)
        shape.append(whole)
        # element i moves to low + i * step; those out of bounds are cut off
        first = max(0, -(low // step))
        count = max(0, min(size - 1, (whole - 1 - low) // step) - first + 1)
        start = low + first * step
        taken.append(builtins.slice(first, first + count))
        targets.append(builtins.slice(start, start + count * step, step))
    out = np.full(shape, value, x.dtype)
    if all(s.start < s.stop for s in taken):
        out[tuple(targets)] = x[tuple(taken)]
    return out


linear_in_all(pad_p)


def _unpad(x: Any, padding_config: tuple) -> Any:
    """Extract the elements of `x` where `pad` of that configuration put those of its operand.

    Elements that a negative padding removed are zero.
    """
    cut = [(-low, -high, 0) for low, high, _ in padding_config]
    x = pad(x, scalar_like(0, aval_of(x).dtype), cut)
    shape = aval_of(x).shape
    return slice(x, (0,) * len(shape), shape, [interior + 1 for _, _, interior in padding_config])


@pad_p.transpose
def _(ct: Any, x: Any, value: Any, *, padding_config: tuple) -> tuple:
    inside = _unpad(ct, padding_config)
    ct_value = None
    if is_linear(value):
        axes = range(aval_of(ct).ndim)
        ct_value = sub(reduce_sum(ct, axes), reduce_sum(inside, axes))
    return inside if is_linear(x) else None, ct_value


@pad_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, padding_config: tuple) -> tuple:
    (x, value), (d, dv) = args, in_dims
    if d is None:
        x, d = broadcast(x, (axis.size,)), 0
    config = (*padding_config[:d], (0, 0, 0), *padding_config[d:])
    if dv is None:
        return pad_p.bind(x, value, padding_config=config), d
    # each example has its own padding value: pad with any value, then select
    aval = aval_of(x)
    padded = pad_p.bind(x, scalar_like(0, aval.dtype), padding_config=config)
    is_operand = pad_p.bind(full(aval.shape, True), np.bool_(False), padding_config=config)
    values = broadcast_in_dim(value, aval_of(padded).shape, (d,))
    return select_n(is_operand, values, padded), d


@pad_p.lower
def _(b: Any, x: Any, value: Any, *, padding_config: tuple) -> Any:
    low, high, interior = [tuple(c) for c in zip(*padding_config)] if padding_config else [()] * 3
    if dims.is_static((*low, *high, *interior)):
        return b.op(
            "pad",
            [x, value],
            b.out,
            edge_padding_low=b.ints(low),
            edge_padding_high=b.ints(high),
            interior_padding=b.ints(interior),
        )
    return b.op("dynamic_pad", [x, value, *map(b.shape_value, (low, high, interior))], b.out)


pad_p.samples = [
    Sample(f32(2, 3), f32(), padding_config=((1, 2, 0), (0, -1, 0))),
    Sample(f32(3), f32(), padding_config=((-1, 2, 2),)),
    Sample(f32(3), f32(), padding_config=((-4, 5, 1),)),
    Sample(f32(3, 2), f32(), padding_config=((3, -5, 0), (0, 0, 1))),
    Sample(f32(0), f32(), padding_config=((2, 1, 3),)),
    Sample(f32(), f32(), padding_config=()),
    Sample(c64(2), c64(), padding_config=((0, 1, 1),)),
    Sample(boolean(2), boolean(), padding_config=((1, 1, 0),)),
    Sample(i32(2), i32(), padding_config=((0, 0, 2),)),
]


# start indices of dynamic slices ------------------------------------------------------------------


def start_values(
    function: str, shape: tuple, start_indices: Any, allow_negative_indices: Any
) -> list:
    """Return start indices: a scalar for each dimension of `shape`, all of one integer dtype.

    Negative indices count from the end, where they are allowed.
    """
    ndim = getattr(start_indices, "ndim", None)
    if ndim is not None and ndim != 1:
        raise ShapeError(
            function=function,
            argument="start_indices",
            got=start_indices,
            expected="a one-dimensional array, or a sequence of scalars",
        )
    if isinstance(start_indices, np.ndarray) or ndim is None:
        indices = checks.several(
            function,
            "start_indices",
            start_indices,
            "a sequence of scalars, one for each dimension",
        )
    else:
        indices = list(unstack(start_indices))
    if len(indices) != len(shape):
        raise ArgumentValueError(
            f"there are {len(indices)} start indices for an operand of shape {shape}",
            function=function,
            argument="start_indices",
            got=start_indices,
            expected=f"one index for each of its {len(shape)} dimensions",
        )
    if isinstance(allow_negative_indices, (bool, np.bool_)):
        allowed = [bool(allow_negative_indices)] * len(indices)
    else:
        allowed = [bool(a) for a in allow_negative_indices]
        if len(allowed) != len(indices):
            raise ArgumentValueError(
                function=function,
                argument="allow_negative_indices",
                got=allow_negative_indices,
                expected=f"a bool, or one for each of the {len(indices)} dimensions",
            )
    plain = all(type(x) is int for x in indices)  # which have the default integer type
    dtype = aval_of(0).dtype if plain else _index_dtype(function, indices)
    bound = _limits(dtype)[1]
    if any(not dims.is_dim(size) and size > bound for size in shape):
        dtype = _WIDE  # the dtype must hold the sizes, for wrapping and for clamping
    return [
        _start_value(function, x, size, axis, dtype, plain, allow)
        for axis, (x, size, allow) in enumerate(zip(indices, shape, allowed))
    ]


@functools.cache
def _limits(dtype: Any) -> tuple[int, int]:
    """Return the least and the greatest number of an integer dtype."""
    low, high = dtype_predicates.bounds(dtype)
    return int(low), int(high)


def _index_dtype(function: str, indices: Sequence[Any]) -> Any:
    """Return the common dtype of the indices; Python ints take that of the others."""
    found = [aval_of(x).dtype for x in indices if type(x) is not int and not dims.is_dim(x)]
    if not found:
        return aval_of(0).dtype
    first = found[0]
    if not dtype_predicates.is_integer(first) or any(dtype != first for dtype in found):
        names = ", ".join(map(dtypes.name, found))
        raise DtypeError(
            f"index arguments to {function} must be integers of the same type, got: {names}",
            function=function,
            argument="start_indices",
            fix="convert them to one integer dtype with astype",
        )
    return first


def _start_value(
    function: str, x: Any, size: Any, axis: int, dtype: Any, plain: bool, allow_negative: bool
) -> Any:
    if isinstance(x, (np.ndarray, np.generic)) and x.ndim == 0:
        x = int(x)
    if type(x) is int or dims.is_dim(x):
        if x < 0:
            if not allow_negative:
                raise ArgumentValueError(
                    f"index {x} of dimension {axis} is negative",
                    function=function,
                    argument="start_indices",
                    got=x,
                    expected=f"an index from 0 to {size}, since allow_negative_indices is False",
                )
            x = x + size
        if type(x) is int:
            # indices out of bounds are clamped anyway; here they must not overflow the dtype
            low, high = _limits(dtype)
            x = min(max(x, low), high)
            return x if plain else dtype.type(x)
        return convert(size_as_value(x), dtype)
    aval = aval_of(x)
    if aval.ndim:
        raise ShapeError(
            f"index {axis} is not a scalar",
            function=function,
            argument="start_indices",
            got=x,
            expected="a scalar for each dimension",
        )
    x = convert(x, dtype)
    if not allow_negative or dtype_predicates.is_unsigned(dtype):
        return x
    end = convert(size_as_value(size), dtype) if dims.is_dim(size) else dtype.type(size)
    return select_n(lt(x, dtype.type(0)), x, add(x, end))


# dynamic_slice ------------------------------------------------------------------------------------

dynamic_slice_p = Primitive(
    "dynamic_slice",
    family=MOVEMENT,
    shard_rule=shard_resized,
    index_rule=slice_indices,
    multilinear=True,
    exact=True,
)


def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """Return the slice of `operand` of shape `slice_sizes` at `start_indices`, maybe traced.

    Indices are integer scalars of one dtype, or one array of them. Negative ones count from the end (unless
    `allow_negative_indices` is False, for all or for each dimension). A start is clamped so that the slice is
    in bounds.

    >>> lax.dynamic_slice(np.arange(5), (3,), (2,))
    Array([3, 4], dtype=int32)
    """
    shape = aval_of(operand).shape
    starts = start_values("dynamic_slice", shape, start_indices, allow_negative_indices)
    sizes = sizes_of("dynamic_slice", "slice_sizes", slice_sizes)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=sizes)


def _check_starts(function: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != x.ndim:
        raise ShapeError(
            function=function,
            got=f"{len(starts)} start indices",
            expected=f"one for each of the operand's {x.ndim} dimensions",
            operand=x,
        )
    for s in starts:
        if s.ndim or not dtype_predicates.is_integer(s.dtype) or s.dtype != starts[0].dtype:
            raise DtypeError(
                function=function,
                argument="start_indices",
                got=", ".join(a.str_short(short_dtypes=False) for a in starts),
                expected="integer scalars of one dtype",
            )


@dynamic_slice_p.abstract
def _(x: ShapedArray, *starts: ShapedArray, slice_sizes: tuple) -> ShapedArray:
    _check_starts("dynamic_slice", x, starts)
    checks.one_for_each_dimension("dynamic_slice", "slice_sizes", slice_sizes, x)
    for axis, (size, whole) in enumerate(zip(slice_sizes, x.shape)):
        if size is whole:
            continue
        if size < 0 or size > whole:
            raise ShapeError(
                f"a slice of size {size} does not fit into dimension {axis}, of size {whole}",
                function="dynamic_slice",
                argument="slice_sizes",
                got=slice_sizes,
                expected=f"sizes of at least 0 and at most those of shape {x.shape}",
            )
    return intern_aval(slice_sizes, x.dtype, x.weak_type, None)


def _clamped(starts: Sequence[Any], shape: tuple, sizes: tuple) -> tuple:
    """Return NumPy indices of a slice of size `sizes`, clamped to the bounds."""
    found = []
    for start, whole, size in zip(starts, shape, sizes):
        begin = min(max(int(start), 0), whole - size)
        found.append(builtins.slice(begin, begin + size))
    return tuple(found)


@dynamic_slice_p.reference
def _(x: np.ndarray, *starts: np.ndarray, slice_sizes: tuple) -> np.ndarray:
    return x[_clamped(starts, x.shape, slice_sizes)].copy()


linear_rules(dynamic_slice_p)


@dynamic_slice_p.transpose
def _(ct: Any, x: Any, *starts: Any, slice_sizes: tuple) -> tuple:
    return (dynamic_update_slice_p.bind(zeros_of(x.aval), ct, *starts), *(None for _ in starts))


@dynamic_slice_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, slice_sizes: tuple) -> tuple:
    (x, *starts), (d, *start_dims) = args, in_dims
    if all(s is None for s in start_dims):
        starts.insert(d, np.zeros((), aval_of(starts[0]).dtype if starts else _WIDE)[()])
        sizes = (*slice_sizes[:d], aval_of(x).shape[d], *slice_sizes[d:])
        return dynamic_slice_p.bind(x, *starts, slice_sizes=sizes), d
    n = len(starts)
    mapped = d is not None
    out = gathering.gather_p.bind(
        moveaxis(x, d, 0),
        _stacked_starts(axis, starts, start_dims),
        dimension_numbers=gathering.GatherDimensionNumbers(
            offset_dims=tuple(range(1, n + 1)),
            collapsed_slice_dims=(),
            start_index_map=tuple(range(mapped, n + mapped)),
            operand_batching_dims=(0,) if mapped else (),
            start_indices_batching_dims=(0,) if mapped else (),
        ),
        slice_sizes=(1, *slice_sizes) if mapped else slice_sizes,
        mode=gathering.GatherScatterMode.CLIP,
        fill_value=None,
        unique_indices=mapped,
        indices_are_sorted=mapped,
    )
    return out, 0


def _stacked_starts(axis: Any, starts: Sequence[Any], start_dims: Sequence[Any]) -> Any:
    """Return the start indices of all examples: an array of shape (examples, dimensions)."""
    columns = [broadcast(s, (axis.size,)) if d is None else s for s, d in zip(starts, start_dims)]
    return stack_p.bind(*columns, axis=1)


@dynamic_slice_p.lower
def _(b: Any, x: Any, *starts: Any, slice_sizes: tuple) -> Any:
    indices = _lowered_starts(b, x, starts)
    sizes = (*slice_sizes, *b.physical(x.aval).shape[x.ndim :])
    if dims.is_static(sizes):
        return b.op("dynamic_slice", [x, *indices], b.out, slice_sizes=b.ints(sizes))
    # The operation for dynamic sizes does not clamp by itself.
    one = intern_aval((1,), _WIDE, False, None)
    line = intern_aval((len(sizes),), _WIDE, False, None)
    cells = [b.op("reshape", [b.convert(s, _WIDE)], one) for s in indices]
    begin = b.op("concatenate", cells, line, dimension="0 : i64")
    extent = b.shape_value(sizes)
    room = b.op("subtract", [b.shape_value(b.physical(x.aval).shape), extent], line)
    begin = b.op("clamp", [b.full(0, line), begin, room], line)
    end = b.op("add", [begin, extent], line)
    return b.op("real_dynamic_slice", [x, begin, end, b.full(1, line)], b.out)


def _lowered_starts(b: Any, x: Any, starts: Sequence[Any]) -> list:
    """Return start indices of at least 32 bits, also for the dimensions inside of extended dtypes."""
    wide = [b.convert(s, _WIDE) if s.dtype.itemsize < 4 else s for s in starts]
    dtype = wide[0].dtype if wide else _WIDE
    return wide + [b.constant(0, dtype) for _ in b.physical(x.aval).shape[x.ndim :]]


_INT8 = np.dtype(np.int8)
dynamic_slice_p.samples = [
    Sample(f32(3, 4), np.int32(1), np.int32(3), slice_sizes=(2, 2)),
    Sample(f32(5), np.int32(-7), slice_sizes=(2,)),
    Sample(c64(5), np.uint8(4), slice_sizes=(3,)),
    Sample(boolean(2), i32(), slice_sizes=(1,)),
    Sample(i32(200), np.int8(120), slice_sizes=(100,)),
    Sample(f32(3), np.int32(1), slice_sizes=(0,)),
    Sample(f32(), slice_sizes=()),
]


# dynamic_update_slice -----------------------------------------------------------------------------

dynamic_update_slice_p = Primitive(
    "dynamic_update_slice",
    family=MOVEMENT,
    shard_rule=shard_update,
    index_rule=update_indices,
    fusion=Fusion.SEPARATE,
    recomputes=Recompute.CONDITIONALLY,
    multilinear=True,
    exact=True,
)
dynamic_update_slice_p.sums = Sums.EACH


def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Any,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """Write `update` into a copy of `operand` at `start_indices`.

    The indices are as in `dynamic_slice`: a start is clamped so that the update is in bounds.

    >>> lax.dynamic_update_slice(np.zeros(4, np.int32), np.array([7, 8]), (1,))
    Array([0, 7, 8, 0], dtype=int32)
    """
    shape = aval_of(operand).shape
    starts = start_values("dynamic_update_slice", shape, start_indices, allow_negative_indices)
    return dynamic_update_slice_p.bind(operand, update, *starts)


@dynamic_update_slice_p.abstract
def _(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    same_dtypes("dynamic_update_slice", [x, update])
    if update.ndim != x.ndim:
        raise ShapeError(
            "the update has another number of dimensions than the operand",
            function="dynamic_update_slice",
            argument="update",
            got=update,
            expected=f"an array with {x.ndim} dimensions, as shape {x.shape} has",
        )
    _check_starts("dynamic_update_slice", x, starts)
    for axis, (size, whole) in enumerate(zip(update.shape, x.shape)):
        if size is not whole and size > whole:
            raise ShapeError(
                f"an update of size {size} does not fit into dimension {axis}, of size {whole}",
                function="dynamic_update_slice",
                argument="update",
                got=update,
                expected=f"sizes of at most those of shape {x.shape}",
            )
    return x.strip_weak_type()


@dynamic_update_slice_p.reference
def _(x: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    out = np.array(x)
    out[_clamped(starts, x.shape, update.shape)] = update
    return out


@dynamic_update_slice_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple:
    out = dynamic_update_slice_p.bind(*primals)
    t, t_update = tangents[:2]
    zero = Zero.like(aval_of(out))
    if (is_zero(t) and is_zero(t_update)) or zero.aval.dtype == dtypes.float0:
        return out, zero
    return out, dynamic_update_slice_p.bind(instantiate(t), instantiate(t_update), *primals[2:])


@dynamic_update_slice_p.transpose
def _(ct: Any, x: Any, update: Any, *starts: Any) -> tuple:
    ct_x = ct_update = None
    shape = update.shape if is_linear(update) else aval_of(update).shape
    if is_linear(x):
        hole = zeros_of(intern_aval(shape, x.dtype, False, None))
        ct_x = dynamic_update_slice_p.bind(ct, hole, *starts)
    if is_linear(update):
        ct_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=shape)
    return (ct_x, ct_update, *(None for _ in starts))


@dynamic_update_slice_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    (x, update, *starts), (d, d_update, *start_dims) = args, in_dims
    if all(s is None for s in start_dims):
        (x, update), d = align_mapped((x, update), (d, d_update), axis.size)
        starts.insert(d, np.zeros((), aval_of(starts[0]).dtype if starts else _WIDE)[()])
        return dynamic_update_slice_p.bind(x, update, *starts), d
    x = broadcast(x, (axis.size,)) if d is None else moveaxis(x, d, 0)
    update = broadcast(update, (axis.size,)) if d_update is None else moveaxis(update, d_update, 0)
    n = len(starts)
    out = scattering.scatter_p.bind(
        x,
        _stacked_starts(axis, starts, start_dims),
        update,
        dimension_numbers=scattering.ScatterDimensionNumbers(
            update_window_dims=tuple(range(1, n + 1)),
            inserted_window_dims=(),
            scatter_dims_to_operand_dims=tuple(range(1, n + 1)),
            operand_batching_dims=(0,),
            scatter_indices_batching_dims=(0,),
        ),
        indices_are_sorted=True,
        unique_indices=True,
        mode=gathering.GatherScatterMode.CLIP,
        update_jaxpr=None,
        update_consts=(),
    )
    return out, 0


@dynamic_update_slice_p.lower
def _(b: Any, x: Any, update: Any, *starts: Any) -> Any:
    return b.op("dynamic_update_slice", [x, update, *_lowered_starts(b, x, starts)], b.out)


dynamic_update_slice_p.samples = [
    Sample(f32(3, 4), f32(2, 2), np.int32(1), np.int32(3)),
    Sample(f32(5), f32(2), np.int32(-7)),
    Sample(c64(5), c64(3), np.uint8(4)),
    Sample(boolean(2), boolean(1), i32()),
    Sample(i32(200), i32(100), np.int8(120)),
    Sample(f32(3), f32(0), np.int32(1)),
    Sample(f32(), f32()),
]


# along one dimension ------------------------------------------------------------------------------


def _starts_at(function: str, operand: Any, index: Any, axis: int) -> tuple[list, int]:
    ndim = aval_of(operand).ndim
    axis = canonical_axis(axis, ndim, function)
    starts: list = [0] * ndim
    starts[axis] = index
    return starts, axis


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Slice `slice_size` elements of `operand` along an axis, from `start_index` on.

    See `dynamic_slice` for starts that are negative or too large.

    >>> lax.dynamic_slice_in_dim(np.arange(5), 1, 3)
    Array([1, 2, 3], dtype=int32)
    """
    starts, axis = _starts_at("dynamic_slice_in_dim", operand, start_index, axis)
    sizes = list(aval_of(operand).shape)
    sizes[axis] = slice_size
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Select the element `index` of `operand` along an axis, which stays with size 1 if `keepdims`.

    See `dynamic_slice` for indices that are negative or too large.

    >>> lax.dynamic_index_in_dim(np.arange(6).reshape(2, 3), 1, keepdims=False)
    Array([3, 4, 5], dtype=int32)
    """
    row = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return row if keepdims else squeeze(row, (axis,))


def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Write `update` into a copy of `operand` from `start_index` on, along an axis.

    See `dynamic_slice` for starts that are negative or too large.

    >>> lax.dynamic_update_slice_in_dim(np.zeros(4, np.int32), np.array([7, 8]), 1, axis=0)
    Array([0, 7, 8, 0], dtype=int32)
    """
    starts, _ = _starts_at("dynamic_update_slice_in_dim", operand, start_index, axis)
    return dynamic_update_slice(
        operand, update, starts, allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(
    operand: Any,
    update: Any,
    index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Write `update` into a copy of `operand` at `index` along an axis.

    The update has size 1 along the axis, or lacks it. See `dynamic_slice` for indices that are negative or
    too large.

    >>> lax.dynamic_update_index_in_dim(np.zeros((2, 2), np.int32), np.array([7, 8]), 1, axis=0)
    Array([[0, 0],
           [7, 8]], dtype=int32)
    """
    starts, axis = _starts_at("dynamic_update_index_in_dim", operand, index, axis)
    if aval_of(update).ndim == len(starts) - 1:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice(
        operand, update, starts, allow_negative_indices=allow_negative_indices
    )
