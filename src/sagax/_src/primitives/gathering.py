"""Define gather: slices of an array at computed indices.

Its transpose is a scatter, defined in scattering.py.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import MOVEMENT, Fusion
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f32, i32
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.arithmetic import add, rem
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.index_rules import gather_indices, shard_gather
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import concatenate, full, number_as, size_as_value
from sagax._src.primitives.structural import broadcast_in_dim, convert, expand_dims, moveaxis

_WIDE = np.dtype(np.int32)


class GatherScatterMode(enum.Enum):
    """Specify the result of indices whose slice is out of bounds.

    CLIP clamps them to the closest index in bounds. FILL_OR_DROP fills the result of a gather with a value, and
    drops the update of a scatter. PROMISE_IN_BOUNDS promises that there are none; otherwise the result is
    undefined. ONE_HOT is PROMISE_IN_BOUNDS for a scatter that may be computed by a matrix product; a gather
    does not take it.
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3
    ONE_HOT = 4

    @staticmethod
    def from_any(s: str | GatherScatterMode | None) -> GatherScatterMode:
        """Parse a mode: a mode, None (FILL_OR_DROP), or one of 'clip', 'fill', 'drop', 'promise_in_bounds',
        'one_hot'."""
        if isinstance(s, GatherScatterMode):
            return s
        found = _MODES.get(s) if s is None or isinstance(s, str) else None
        if found is None:
            raise ArgumentValueError(
                f'Unknown gather mode "{s}"',
                argument="mode",
                got=repr(s),
                expected="'clip', 'fill', 'drop', 'promise_in_bounds' or a GatherScatterMode",
            )
        return found


_MODES = {
    None: GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}


class _Fields(NamedTuple):
    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


def signed_indices(indices: np.ndarray) -> np.ndarray:
    """Convert indices to int64; indices that are too large stay out of bounds."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(2**62))
    return indices.astype(np.int64)


class GatherDimensionNumbers(_Fields):
    """Describe the dimensions of operand, indices and result of a gather.

    The last dimension of the indices holds index vectors; its entry k indexes dimension `start_index_map[k]` of the
    operand. A slice starts at each vector. Its dimensions in `collapsed_slice_dims` (of size 1) are dropped, the
    others become the result's dimensions `offset_dims`, in order; the other dimensions of the result are those of
    the indices without the last. Dimension `operand_batching_dims[i]` of the operand is a batch dimension with
    `start_indices_batching_dims[i]` of the indices.

    >>> lax.GatherDimensionNumbers((1,), (0,), (0,)).start_index_map
    (0,)
    """

    __slots__ = ()

    def __new__(
        cls,
        offset_dims: Iterable[int],
        collapsed_slice_dims: Iterable[int],
        start_index_map: Iterable[int],
        operand_batching_dims: Iterable[int] = (),
        start_indices_batching_dims: Iterable[int] = (),
    ) -> GatherDimensionNumbers:
        fields = (
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
        )
        return super().__new__(cls, *[tuple(map(int, f)) for f in fields])

    def window_dims(self, ndim: int) -> tuple[int, ...]:
        """Return the dimensions of an operand of rank `ndim` whose slices appear in the result."""
        without = {*self.collapsed_slice_dims, *self.operand_batching_dims}
        return tuple([d for d in range(ndim) if d not in without])

    def batch_dims(self, out_ndim: int) -> tuple[int, ...]:
        """Return the dimensions of the result that belong to the indices."""
        return tuple([d for d in range(out_ndim) if d not in self.offset_dims])

    def check(self, function: str, x: ShapedArray, indices: ShapedArray) -> None:
        """Raise unless the numbers are consistent and fit an operand and indices of these types."""
        if not dtype_predicates.is_integer(indices.dtype):
            raise ArgumentValueError(
                f"indices must have an integer type, got {dtypes.name(indices.dtype)}",
                function=function,
                got=indices,
                expected="an array of integers",
            )
        if not indices.ndim:
            raise ShapeError.about(
                function, "indices", indices, "an array whose last dimension holds index vectors"
            )
        out_ndim = len(self.offset_dims) + indices.ndim - 1
        ranges = {
            "offset_dims": (out_ndim, "the result"),
            "collapsed_slice_dims": (x.ndim, "the operand"),
            "start_index_map": (x.ndim, "the operand"),
            "operand_batching_dims": (x.ndim, "the operand"),
            "start_indices_batching_dims": (indices.ndim - 1, "the indices, without the last"),
        }
        for name, (limit, whose) in ranges.items():
            values = getattr(self, name)
            if len(set(values)) != len(values) or not all(0 <= v < limit for v in values):
                raise self._wrong(
                    function, name, values, f"distinct dimensions of {whose}, which has {limit}"
                )
        for name in ("offset_dims", "collapsed_slice_dims", "operand_batching_dims"):
            values = getattr(self, name)
            if list(values) != sorted(values):
                raise self._wrong(function, name, values, "increasing dimensions")
        batching = self.operand_batching_dims
        for name in ("collapsed_slice_dims", "start_index_map"):
            values = getattr(self, name)
            if not set(batching).isdisjoint(values):
                raise self._wrong(
                    function, name, values, f"none of the operand_batching_dims {batching}"
                )
        if len(self.start_indices_batching_dims) != len(batching):
            raise self._wrong(
                function,
                "start_indices_batching_dims",
                self.start_indices_batching_dims,
                f"as many as operand_batching_dims {batching}",
            )
        length = indices.shape[-1]
        if not dims.same(length, len(self.start_index_map)):
            raise self._wrong(
                function,
                "start_index_map",
                self.start_index_map,
                f"as many dimensions as an index vector has entries: {length}, the last size of "
                f"the indices' shape {indices.shape}",
            )
        if len(self.window_dims(x.ndim)) != len(self.offset_dims):
            raise self._wrong(
                function,
                "offset_dims",
                self.offset_dims,
                f"one for each of the operand's {x.ndim} dimensions that is neither in "
                f"collapsed_slice_dims {self.collapsed_slice_dims} nor in operand_batching_dims "
                f"{batching}",
            )
        for d, e in zip(batching, self.start_indices_batching_dims):
            if not dims.same(x.shape[d], indices.shape[e]):
                raise ShapeError(
                    f"the batching dimensions differ in size: {x.shape[d]} (dimension {d} of the "
                    f"operand) and {indices.shape[e]} (dimension {e} of the indices)",
                    function=function,
                    got=f"{x.str_short(short_dtypes=True)} and {indices.str_short(short_dtypes=True)}",
                    expected="equal sizes",
                )

    def _wrong(self, function: str, name: str, got: Any, expected: str) -> Exception:
        return ShapeError(
            function=function,
            argument="dimension_numbers",
            path="." + _SCATTER_NAMES.get(name, name) if function != "gather" else "." + name,
            got=got,
            expected=expected,
        )

    def starts(self, indices: np.ndarray, ndim: int) -> np.ndarray:
        """Return the index vector where each slice starts in an operand of rank `ndim`."""
        starts = np.zeros((*indices.shape[:-1], ndim), np.int64)
        starts[..., list(self.start_index_map)] = signed_indices(indices)
        return starts

    def positions(self, starts: np.ndarray, window: Sequence[int]) -> tuple[np.ndarray, ...]:
        """Return indices into the operand for all elements of the result; they broadcast to its shape.

        `starts` is the result of that method, `window` the slice sizes.
        """
        ndim = starts.shape[-1]
        out_ndim = starts.ndim - 1 + len(self.offset_dims)
        batch = self.batch_dims(out_ndim)

        def line(size: int, dim: int) -> np.ndarray:
            shape = [1] * out_ndim
            shape[dim] = size
            return np.arange(size).reshape(shape)

        spread = [1] * out_ndim
        for dim, size in zip(batch, starts.shape[:-1]):
            spread[dim] = size
        found = [starts[..., d].reshape(spread) for d in range(ndim)]
        for d, dim in zip(self.window_dims(ndim), self.offset_dims):
            if window[d] != 1:
                found[d] = found[d] + line(window[d], dim)
        for d, e in zip(self.operand_batching_dims, self.start_indices_batching_dims):
            found[d] = np.broadcast_to(line(starts.shape[e], batch[e]), spread)
        return tuple(found)

    def taken_axis(self, shape: tuple, indices_ndim: int, window: tuple) -> int | None:
        """Return the axis, if the gather is NumPy's `take` along one: whole slices replace it."""
        if len(self.start_index_map) != 1 or self.operand_batching_dims:
            return None
        (axis,) = self.start_index_map
        if self.collapsed_slice_dims != (axis,) or not shape[axis]:
            return None
        n = indices_ndim - 1
        other_dims = (*range(axis), *range(axis + n, len(shape) - 1 + n))
        whole = (*shape[:axis], 1, *shape[axis + 1 :])
        return axis if self.offset_dims == other_dims and window == whole else None

    def extended(self, out_ndim: int, extra: int) -> GatherDimensionNumbers:
        """Return the numbers for arrays with `extra` more dimensions at the end, which are taken whole."""
        return GatherDimensionNumbers(
            (*self.offset_dims, *range(out_ndim, out_ndim + extra)), *self[1:]
        )

    def batched(self, operand: bool, indices: bool) -> GatherDimensionNumbers:
        """Return the numbers with a new leading dimension of operand, indices, or both.

        The result has it as its leading dimension too.
        """
        shift = int(operand)
        offset = tuple([d + 1 for d in self.offset_dims])
        collapsed = tuple([d + shift for d in self.collapsed_slice_dims])
        index_map = tuple([d + shift for d in self.start_index_map])
        batching = tuple([d + shift for d in self.operand_batching_dims])
        along = tuple([d + int(indices) for d in self.start_indices_batching_dims])
        if operand and indices:
            batching, along = (0, *batching), (0, *along)
        elif operand:
            offset = (0, *offset)
        return GatherDimensionNumbers(offset, collapsed, index_map, batching, along)

    def text(self, vector_dim: int) -> str:
        """Format the attribute of a StableHLO gather whose indices have rank `vector_dim + 1`."""
        return (
            f"#stablehlo.gather<offset_dims = {list(self.offset_dims)}, "
            f"collapsed_slice_dims = {list(self.collapsed_slice_dims)}, "
            f"operand_batching_dims = {list(self.operand_batching_dims)}, "
            f"start_indices_batching_dims = {list(self.start_indices_batching_dims)}, "
            f"start_index_map = {list(self.start_index_map)}, index_vector_dim = {vector_dim}>"
        )


# the names of these fields in a scatter
_SCATTER_NAMES = {
    "offset_dims": "update_window_dims",
    "collapsed_slice_dims": "inserted_window_dims",
    "start_index_map": "scatter_dims_to_operand_dims",
    "start_indices_batching_dims": "scatter_indices_batching_dims",
}


# gather -------------------------------------------------------------------------------------------

gather_p = Primitive(
    "gather",
    family=MOVEMENT,
    shard_rule=shard_gather,
    index_rule=gather_indices,
    fusion=Fusion.SEPARATE,
    host_cost=6,
    multilinear=True,
    exact=True,
)


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Any:
    """Gather slices of `operand` of shape `slice_sizes`, one for each index vector of `start_indices`.

    `dimension_numbers` assigns the dimensions. `mode` handles indices out of bounds (None: a promise that there
    are none). With 'fill' the slice is filled with `fill_value`, a static number; by default NaN for inexact
    dtypes, the minimum of signed ones, the maximum of unsigned ones, and True. `unique_indices` and
    `indices_are_sorted` are promises.

    >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> lax.gather(np.arange(6).reshape(3, 2), np.array([[2], [0]]), rows, (1, 2))
    Array([[4, 5],
           [0, 1]], dtype=int32)
    """
    parsed = (
        GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else GatherScatterMode.from_any(mode)
    )
    if parsed is GatherScatterMode.ONE_HOT:
        raise ArgumentValueError.about("gather", "mode", parsed, "a mode other than ONE_HOT")
    if parsed is GatherScatterMode.FILL_OR_DROP:
        fill_value = _fill(fill_value, aval_of(operand).dtype)
    else:
        fill_value = None
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=dimension_numbers
        if type(dimension_numbers) is GatherDimensionNumbers
        else GatherDimensionNumbers(
            *checks.several(
                "gather", "dimension_numbers", dimension_numbers, "GatherDimensionNumbers"
            )
        ),
        slice_sizes=dims.canonical_shape(slice_sizes, "gather: argument slice_sizes"),
        unique_indices=bool(unique_indices),
        indices_are_sorted=bool(indices_are_sorted),
        mode=parsed,
        fill_value=fill_value,
    )


def _fill(value: Any, dtype: Any) -> Any:
    """Return the fill value as a Python number."""
    if value is None:
        if dtypes.is_extended(dtype):
            dtype = dtype.physical_dtype
        if dtypes.is_inexact(dtype):
            return math.nan
        least, greatest = dtype_predicates.bounds(dtype)
        return (least if dtype_predicates.is_signed(dtype) else greatest).item()
    if isinstance(value, Tracer):
        raise ArgumentError(
            function="gather",
            argument="fill_value",
            got=value,
            expected="a number known while tracing",
            fix="mark it as static in jit, or choose between the results with lax.select",
        )
    number = np.asarray(value)
    if number.ndim or not dtypes.is_numeric_dtype(number.dtype):
        raise ArgumentError.about("gather", "fill_value", value, "a number")
    if dtypes.is_complex(number.dtype) and dtypes.kind(dtype) not in "cb":
        wanted = f"a real number, to be a {dtypes.name(dtype)}"
        raise ArgumentError.about("gather", "fill_value", value, wanted)
    number = float(number) if dtypes.kind(number.dtype) == "f" else number.item()
    # a canonical NaN: as a parameter it must be equal to itself
    return math.nan if isinstance(number, float) and math.isnan(number) else number


def fill_scalar(value: Any, dtype: Any) -> np.ndarray:
    """Return the fill value as a scalar of `dtype`, converted as at run time."""
    if dtypes.is_extended(dtype):
        dtype = dtype.physical_dtype
    if type(value) in (bool, int):
        return np.asarray(number_as(type(value), value, dtype))
    return dtype_predicates.convert_numpy(np.asarray(value), dtype)


@gather_p.abstract
def _(
    x: ShapedArray,
    indices: ShapedArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: tuple,
    **_: Any,
) -> ShapedArray:
    dimension_numbers.check("gather", x, indices)
    checks.one_for_each_dimension("gather", "slice_sizes", slice_sizes, x)
    for d, (size, whole) in enumerate(zip(slice_sizes, x.shape)):
        if not dims.same(size, whole) and (size < 0 or size > whole):
            raise ShapeError(
                f"a slice of size {size} does not fit into dimension {d}, of size {whole}",
                function="gather",
                argument="slice_sizes",
                got=slice_sizes,
                expected=f"sizes of at least 0 and at most those of shape {x.shape}",
            )
    for name in ("collapsed_slice_dims", "operand_batching_dims"):
        for d in getattr(dimension_numbers, name):
            if not slice_sizes[d] <= 1:
                raise ShapeError(
                    f"the slice has size {slice_sizes[d]} in dimension {d}, which is one of "
                    f"{name} {getattr(dimension_numbers, name)}",
                    function="gather",
                    argument="slice_sizes",
                    got=slice_sizes,
                    expected="size 1 in such dimensions",
                )
    offsets = iter([slice_sizes[d] for d in dimension_numbers.window_dims(x.ndim)])
    batch = iter(indices.shape[:-1])
    out_ndim = len(dimension_numbers.offset_dims) + indices.ndim - 1
    offset_dims = set(dimension_numbers.offset_dims)
    shape = tuple([next(offsets) if i in offset_dims else next(batch) for i in range(out_ndim)])
    return intern_aval(shape, x.dtype, x.weak_type, None)


@gather_p.show
def _(*, dimension_numbers: GatherDimensionNumbers, **params: Any) -> dict:
    return {"dimension_numbers": str(dimension_numbers), **params}


@gather_p.mask
def _(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    indexed = params["dimension_numbers"].start_index_map
    for axis, size in enumerate(aval_of(args[0]).shape):
        whole = dims.same(params["slice_sizes"][axis], size) and axis not in indexed
        if trace.is_view_size(size) and not whole:
            raise trace.refused(primitive, args)
    return trace.bind(primitive, args, params, out)


@gather_p.reference
def _(
    x: np.ndarray,
    indices: np.ndarray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: tuple,
    mode: GatherScatterMode,
    fill_value: Any,
    **_: Any,
) -> np.ndarray:
    fill = mode is GatherScatterMode.FILL_OR_DROP
    axis = dimension_numbers.taken_axis(x.shape, indices.ndim, slice_sizes)
    if axis is not None:
        starts = signed_indices(indices[..., 0])
        out = np.asarray(np.take(x, starts, axis, mode="clip"))
        if fill:
            outside = (starts < 0) | (starts >= x.shape[axis])
            if outside.any():
                out[(slice(None),) * axis + (outside,)] = fill_scalar(fill_value, x.dtype)
        return out
    starts = dimension_numbers.starts(indices, x.ndim)
    room = np.subtract(x.shape, slice_sizes)
    if x.ndim:
        clipped = np.clip(starts, 0, room)
        out = x[np.broadcast_arrays(*dimension_numbers.positions(clipped, slice_sizes))]
    else:
        out = np.broadcast_to(x, indices.shape[:-1]).copy()
    if fill:
        outside = np.any((starts < 0) | (starts > room), axis=-1)
        if outside.any():
            batch = dimension_numbers.batch_dims(out.ndim)
            outside = np.expand_dims(outside, dimension_numbers.offset_dims) if batch else outside
            out = np.where(outside, fill_scalar(fill_value, x.dtype), out)
    return out


@gather_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    out = gather_p.bind(*primals, **params)
    t = tangents[0]
    if is_zero(t):
        return out, Zero.like(aval_of(out))
    if params["mode"] is GatherScatterMode.FILL_OR_DROP:
        params["fill_value"] = 0
    return out, gather_p.bind(t, primals[1], **params)


@gather_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: tuple,
    unique_indices: bool,
    **params: Any,
) -> tuple:
    (x, indices), (d, e) = args, in_dims
    x, indices = moveaxis(x, d, 0), moveaxis(indices, e, 0)
    both = d is not None and e is not None
    if both and dims.same(axis.size, 0):  # a slice of size 1 would not fit
        one = gather_p.abstract_eval(
            tuple([_example(aval_of(a)) for a in (x, indices)]),
            dict(
                dimension_numbers=dimension_numbers,
                slice_sizes=slice_sizes,
                unique_indices=unique_indices,
                **params,
            ),
        )
        return full((0, *one.shape), 0, one.dtype), 0
    if d is not None:
        slice_sizes = (1 if both else axis.size, *slice_sizes)
    out = gather_p.bind(
        x,
        indices,
        dimension_numbers=dimension_numbers.batched(d is not None, e is not None),
        slice_sizes=slice_sizes,
        # examples may share indices into one operand
        unique_indices=unique_indices and d is not None,
        **params,
    )
    return out, 0


def _example(aval: Any) -> Any:
    return intern_aval(aval.shape[1:], aval.dtype, aval.weak_type, None)


def wide_indices(b: Any, indices: Any) -> Any:
    """Convert indices, in a lower rule, to a type that holds the sizes of any array."""
    return b.convert(indices, _WIDE) if indices.dtype.itemsize < 4 else indices


def last_starts(b: Any, indices: Any, room: tuple) -> Any:
    """Return the maximal index vector in bounds, in the shape of the indices, in a lower rule."""
    if dims.is_static(room):
        last = b.constant(np.asarray(room, indices.dtype))
    else:
        last = b.convert(b.shape_value(room), indices.dtype)
    return b.broadcast_in_dim(last, indices.shape, (indices.ndim - 1,))


@gather_p.lower
def _(
    b: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: tuple,
    indices_are_sorted: bool,
    mode: GatherScatterMode,
    fill_value: Any,
    **_: Any,
) -> Any:
    indices = wide_indices(b, indices)
    stored, out = b.physical(x.aval), b.physical(b.out)
    extra = stored.shape[x.ndim :]
    numbers = dimension_numbers.extended(b.out.ndim, len(extra)).text(indices.ndim - 1)
    is_sorted = "true" if indices_are_sorted else "false"
    sizes = (*slice_sizes, *extra)
    if dims.is_static(sizes):
        found = b.op(
            "gather",
            [x, indices],
            out,
            dimension_numbers=numbers,
            slice_sizes=b.ints(sizes),
            indices_are_sorted=is_sorted,
        )
    else:
        found = b.op(
            "dynamic_gather",
            [x, indices, b.shape_value(sizes)],
            out,
            dimension_numbers=numbers,
            indices_are_sorted=is_sorted,
        )
    index_map = dimension_numbers.start_index_map
    if mode is not GatherScatterMode.FILL_OR_DROP or not index_map:
        return found
    room = tuple([x.shape[d] - slice_sizes[d] for d in index_map])
    inside = b.op(
        "and",
        [
            b.compare("GE", indices, b.full_like(indices, 0)),
            b.compare("LE", indices, last_starts(b, indices, room)),
        ],
        intern_aval(indices.shape, np.dtype(bool), False, None),
    )
    inside = b.reduce("and", inside, True, (indices.ndim - 1,))
    inside = b.broadcast_in_dim(inside, out.shape, dimension_numbers.batch_dims(b.out.ndim))
    return b.select(inside, found, b.full(fill_scalar(fill_value, out.dtype), out))


def _sample(*operands: Any, numbers: tuple, sizes: tuple, mode: int = 1, fill: Any = None) -> Any:
    return Sample(
        *operands,
        dimension_numbers=GatherDimensionNumbers(*numbers),
        slice_sizes=sizes,
        unique_indices=False,
        indices_are_sorted=False,
        mode=GatherScatterMode(mode),
        fill_value=fill,
    )


_ROWS = ((1,), (0,), (0,))
_INDICES = np.array([[1], [-1], [9], [0]], np.int32)
gather_p.samples = [
    _sample(f32(3, 2), _INDICES, numbers=_ROWS, sizes=(1, 2)),
    _sample(f32(3, 2), _INDICES, numbers=_ROWS, sizes=(1, 2), mode=2, fill=7.0),
    _sample(c64(3, 2), _INDICES.astype(np.int8), numbers=_ROWS, sizes=(1, 1), mode=2, fill=3.0),
    _sample(i32(3, 2), i32(2, 3, 1), numbers=((1,), (0,), (0,)), sizes=(1, 2), mode=2, fill=-1),
    _sample(boolean(4), _INDICES, numbers=((1,), (), (0,)), sizes=(2,), mode=2, fill=True),
    _sample(
        f32(3, 4, 2),
        np.array([[[0, 1], [2, 5]], [[-1, 0], [1, 1]]], np.int32),
        numbers=((0, 2), (0,), (1, 0)),
        sizes=(1, 2, 2),
    ),
    _sample(
        f32(2, 3, 4),
        np.array([[[0], [2]], [[1], [9]], [[3], [-1]]], np.int32),
        numbers=((), (2,), (2,), (0, 1), (1, 0)),
        sizes=(1, 1, 1),
        mode=2,
        fill=0.5,
    ),
    _sample(f32(2, 3), np.zeros((2, 0), np.int32), numbers=((1, 2), (), ()), sizes=(1, 3)),
    _sample(f32(), np.zeros((2, 0), np.int32), numbers=((), (), ()), sizes=()),
    _sample(f32(3), np.zeros((0, 1), np.int32), numbers=((), (0,), (0,)), sizes=(1,)),
]


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Take elements of `src` along `axes`, at index vectors from the arrays `idxs`.

    `idxs` holds an array of shape (n,) for each axis. Indices wrap modulo the size of their axis. The
    result has the shape (n, ...) with the sizes of the other axes.

    >>> lax.index_take(np.arange(6).reshape(2, 3), (np.array([0, 1]), np.array([2, -1])), (0, 1))
    Array([2, 5], dtype=int32)
    """
    shape = aval_of(src).shape
    axes = tuple(checks.several("index_take", "axes", axes, "a sequence of ints"))
    idxs = checks.several("index_take", "idxs", idxs, "an array of indices for each axis")
    vectors = concatenate([expand_dims(i, (1,)) for i in idxs], 1)
    dtype = aval_of(vectors).dtype
    if not dtype_predicates.is_integer(dtype):
        raise DtypeError.about("index_take", "idxs", dtypes.name(dtype), "integers")
    if dims.is_static(shape):
        moduli = np.asarray([shape[a] for a in axes], dtype)[None, :]
    else:
        sizes: list[Any] = [convert(size_as_value(shape[a]), dtype) for a in axes]
        moduli = concatenate([broadcast_in_dim(s, (1, 1), ()) for s in sizes], 1)
    moduli = broadcast_in_dim(moduli, aval_of(vectors).shape, (0, 1))
    vectors = rem(vectors, moduli)
    vectors = select_n(lt(vectors, 0), vectors, add(vectors, moduli))
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(1, len(shape) - len(axes) + 1)),
        collapsed_slice_dims=tuple(sorted(axes)),
        start_index_map=axes,
    )
    sizes = [1 if d in axes else size for d, size in enumerate(shape)]
    return gather(src, vectors, numbers, sizes)
