"""Define creation, concatenation and splitting of arrays, and functions of shapes.

iota, full, empty; concatenate, stack, tile, pad; split, unstack; rev; and functions of shapes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval, scalar_aval
from sagax._src.core.families import (
    JOINING,
    MOVEMENT,
    WHOLE,
    Sums,
    mask_all,
    mask_other_axes,
    shard_as_first,
)
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f32, i32
from sagax._src.core.shardings import Sharding, sharding_of_struct
from sagax._src.core.tangents import Zero, is_linear, is_zero, set_zero_derivative
from sagax._src.core.value import Array, aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.structural import (
    broadcast_in_dim,
    broadcast_in_dim_p,
    convert,
    convert_given,
    instantiate,
    linear_rules,
    moveaxis,
    reduce_sum,
    reshape,
)


def enumeration(items: Sequence[Any]) -> str:
    """Format shapes, dtypes or names for a message: `(3, 4), (3, 5) and (2, 4)`."""
    texts = [str(i) for i in items]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def same_dtypes(function: str, avals: Sequence[ShapedArray]) -> None:
    """Raise DtypeError unless all dtypes are equal."""
    first = avals[0].dtype
    for a in avals:
        if a.dtype != first:
            names = ", ".join(dtypes.name(a.dtype) for a in avals)
            raise DtypeError(
                f"lax.{function} requires arguments to have the same dtypes, got {names}",
                function=function,
                fix="convert them to one dtype, or use sagax.numpy, which promotes dtypes",
            )


def linear_in_all(primitive: Primitive) -> None:
    """Derive the jvp of a primitive that is jointly linear in all its operands."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        out = primitive.bind(*primals, **params)
        several = primitive.multiple_results
        if all(map(is_zero, tangents)) or dtypes.float0 in [
            t.dtype for t in map(_tangent_aval, tangents)
        ]:
            zeros = [Zero.like(aval_of(o)) for o in (out if several else [out])]
            return out, zeros if several else zeros[0]
        return out, primitive.bind(*map(instantiate, tangents), **params)

    primitive.jvp_rule = jvp


def _tangent_aval(t: Any) -> Any:
    return t.aval if is_zero(t) else aval_of(t)


def align_mapped(args: Sequence[Any], in_dims: Sequence[Any], size: Any) -> tuple[list, int]:
    """Return operands of equal rank with their examples along one dimension, and that dimension."""
    mapped = {d for d in in_dims if d is not None}
    batch_dim = mapped.pop() if len(mapped) == 1 else 0
    aligned = []
    for x, d in zip(args, in_dims, strict=True):
        if d is not None:
            aligned.append(moveaxis(x, d, batch_dim))
            continue
        shape = aval_of(x).shape
        other_dims = tuple(i for i in range(len(shape) + 1) if i != batch_dim)
        aligned.append(
            broadcast_in_dim(x, (*shape[:batch_dim], size, *shape[batch_dim:]), other_dims)
        )
    return aligned, batch_dim


# concatenate --------------------------------------------------------------------------------------

concatenate_p = Primitive(
    "concatenate",
    family=JOINING,
    mask_rule=mask_other_axes("dimension"),
    multilinear=True,
    exact=True,
)
concatenate_p.sums = Sums.EACH


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Concatenate the operands along `dimension`.

    They have the same dtype, rank, and sizes in all other dimensions.

    >>> lax.concatenate([np.arange(2), np.arange(3)], 0)
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    if not hasattr(operands, "aval"):
        operands = tuple(
            checks.several("concatenate", "operands", operands, "a sequence of arrays")
        )
    elif aval_of(operands).ndim == 0:
        raise ArgumentError.about("concatenate", "operands", operands, "a sequence of arrays")
    if len(operands) == 0:
        raise ArgumentValueError.about(
            "concatenate", "operands", "an empty sequence", "at least one array"
        )
    if len(operands) == 1 and hasattr(operands[0], "aval"):
        return operands[0]
    return concatenate_p.bind(*operands, dimension=dimension)


@concatenate_p.abstract
def _(*avals: ShapedArray, dimension: int) -> ShapedArray:
    same_dtypes("concatenate", avals)
    first = avals[0]
    shapes = [a.shape for a in avals]
    if any(len(s) != first.ndim for s in shapes):
        raise ShapeError(
            "the operands differ in their number of dimensions",
            function="concatenate",
            got=enumeration(shapes),
            expected="equal numbers of dimensions",
            fix="reshape them, or give them new dimensions with lax.expand_dims",
        )
    if not first.ndim:
        raise ShapeError(
            "scalars have no dimension to join along",
            function="concatenate",
            got=enumeration(shapes),
            expected="arrays",
            fix="use lax.stack",
        )
    if not 0 <= dimension < first.ndim:
        raise ShapeError(
            function="concatenate",
            argument="dimension",
            got=dimension,
            expected=f"a dimension from 0 to {first.ndim - 1} of shapes {enumeration(shapes)}",
        )
    size = first.shape[dimension]
    for i, s in enumerate(shapes[1:], 1):
        for k, (own, others) in enumerate(zip(s, first.shape, strict=True)):
            if k != dimension and not dims.same(own, others):
                raise ShapeError(
                    f"operand {i} has size {own} along dimension {k}, operand 0 has size {others}",
                    function="concatenate",
                    got=enumeration(shapes),
                    expected=f"equal sizes in all dimensions but {dimension}, the one being joined",
                )
        size = size + s[dimension]
    shape = (*first.shape[:dimension], size, *first.shape[dimension + 1 :])
    return intern_aval(shape, first.dtype, all(a.weak_type for a in avals), None)


@concatenate_p.shard
def _(call: Any) -> list:
    shape = call.outs[0].shape
    return [call.merged(call.cuts, [shape] * len(call.avals), shape)]


@concatenate_p.reference
def _(*xs: np.ndarray, dimension: int) -> np.ndarray:
    return np.concatenate(xs, dimension)


linear_in_all(concatenate_p)


@concatenate_p.transpose
def _(ct: Any, *xs: Any, dimension: int) -> list:
    parts = split(
        ct,
        [x.shape[dimension] if is_linear(x) else aval_of(x).shape[dimension] for x in xs],
        dimension,
    )
    return [part if is_linear(x) else None for x, part in zip(xs, parts, strict=True)]


@concatenate_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, dimension: int) -> tuple:
    xs, d = align_mapped(args, in_dims, axis.size)
    return concatenate_p.bind(*xs, dimension=dimension + (d <= dimension)), d


@concatenate_p.lower
def _(b: Any, *xs: Any, dimension: int) -> Any:
    dtype = xs[0].dtype
    if dtypes.kind(dtype) in "iu" and dtypes.itemsize_bits(dtype) < 4:
        # XLA for the CPU ends the process on a concatenation of these
        wide = [b.convert(x, np.dtype(np.int8)) for x in xs]
        return b.convert(b.concatenate(wide, dimension), dtype)
    return b.concatenate(xs, dimension)


concatenate_p.samples = [
    Sample(f32(2, 3), f32(2, 1), dimension=1),
    Sample(f32(2), f32(0), f32(3), dimension=0),
    Sample(c64(1, 2), c64(2, 2), dimension=0),
    Sample(boolean(3), boolean(1), dimension=0),
    Sample(i32(2, 2), dimension=0),
]


# split --------------------------------------------------------------------------------------------

split_p = Primitive("split", multiple_results=True, multilinear=True, exact=True, family=MOVEMENT)
split_p.mask_rule = mask_other_axes("axis")


def split(operand: Any, sizes: Sequence[dims.Size], axis: int = 0) -> Sequence[Any]:
    """Split `operand` along `axis` into a list of slices of the given sizes.

    The sizes add up to the size of the operand along that axis.

    >>> lax.split(np.arange(5), (2, 3))
    [Array([0, 1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    axis = canonical_axis(axis, aval_of(operand).ndim, "split")
    sizes = checks.several("split", "sizes", sizes, "a sequence of sizes")
    return split_p.bind(
        operand, sizes=dims.canonical_shape(tuple(sizes), "split: argument sizes"), axis=axis
    )


@split_p.abstract
def _(x: ShapedArray, *, sizes: tuple, axis: int) -> list:
    if not dims.same(sum(sizes), x.shape[axis]):
        raise ArgumentValueError(
            f"the sizes add up to {sum(sizes)}, axis {axis} has size {x.shape[axis]}",
            function="split",
            argument="sizes",
            got=sizes,
            expected=f"sizes whose sum is {x.shape[axis]}",
            operand=x,
        )
    return [
        intern_aval((*x.shape[:axis], s, *x.shape[axis + 1 :]), x.dtype, x.weak_type, None)
        for s in sizes
    ]


@split_p.shard
def _(call: Any) -> list:
    axis = call.params["axis"]
    parts = call.parts(call.cuts[0][axis])
    if any(n % parts for n in call.params["sizes"]):
        call.check_unsharded((axis,), "split")
    return call.as_first()


@split_p.reference
def _(x: np.ndarray, *, sizes: tuple, axis: int) -> list:
    return [part.copy() for part in np.split(x, np.cumsum(sizes[:-1]), axis)] if sizes else []


def _linear_to_many(primitive: Primitive) -> None:
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        outs = primitive.bind(*primals, **params)
        (t,) = tangents
        if is_zero(t):
            return outs, [Zero.like(aval_of(o)) for o in outs]
        return outs, primitive.bind(t, **params)

    primitive.jvp_rule = jvp


_linear_to_many(split_p)


@split_p.transpose
def _(cts: Sequence[Any], x: Any, *, sizes: tuple, axis: int) -> tuple:
    return (concatenate([instantiate(ct) for ct in cts], axis),) if cts else (Zero(x.aval),)


@split_p.batch
def _(_axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, sizes: tuple, axis: int) -> tuple:
    (x,), (d,) = args, in_dims
    return split_p.bind(x, sizes=sizes, axis=axis + (d <= axis)), [d] * len(sizes)


def _at(axis: int, value: Any, ndim: int) -> tuple:
    return (0,) * axis + (value,) + (0,) * (ndim - axis - 1)


@split_p.lower
def _(b: Any, x: Any, *, sizes: tuple, axis: int) -> list:
    parts, start = [], 0
    for size in sizes:
        limits = (*x.shape[:axis], start + size, *x.shape[axis + 1 :])
        parts.append(b.slice(x, _at(axis, start, x.ndim), limits))
        start = start + size
    return parts


split_p.samples = [
    Sample(f32(2, 5), sizes=(2, 0, 3), axis=1),
    Sample(i32(3), sizes=(3,), axis=0),
    Sample(c64(3, 2), sizes=(1, 2), axis=0),
]


# stack, unstack -----------------------------------------------------------------------------------

stack_p = Primitive("stack", family=JOINING, mask_rule=mask_all, multilinear=True, exact=True)
stack_p.sums = Sums.EACH


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Stack the operands, all of one shape and dtype, along a new dimension `axis` of the result.

    >>> lax.stack([np.arange(2), np.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    operands = tuple(checks.several("stack", "operands", operands, "a sequence of arrays"))
    if not operands:
        raise ArgumentValueError.about(
            "stack", "operands", "an empty sequence", "at least one array"
        )
    return stack_p.bind(
        *operands, axis=canonical_axis(axis, aval_of(operands[0]).ndim + 1, "stack")
    )


@stack_p.abstract
def _(*avals: ShapedArray, axis: int) -> ShapedArray:
    same_dtypes("stack", avals)
    first = avals[0]
    if not all(dims.same_shape(a.shape, first.shape) for a in avals):
        raise ArgumentValueError(
            "the operands differ in shape",
            function="stack",
            got=enumeration([a.shape for a in avals]),
            expected="equal shapes",
        )
    shape = (*first.shape[:axis], len(avals), *first.shape[axis:])
    return intern_aval(shape, first.dtype, all(a.weak_type for a in avals), None)


@stack_p.shard
def _(call: Any) -> list:
    axis = call.params["axis"]
    merged = call.merged(call.cuts, [a.shape for a in call.avals], call.avals[0].shape)
    return [(*merged[:axis], (), *merged[axis:])]


@stack_p.reference
def _(*xs: np.ndarray, axis: int) -> np.ndarray:
    return np.stack(xs, axis)


linear_in_all(stack_p)


@stack_p.transpose
def _(ct: Any, *xs: Any, axis: int) -> list:
    return [
        part if is_linear(x) else None
        for x, part in zip(xs, unstack_p.bind(ct, axis=axis), strict=True)
    ]


@stack_p.batch
def _(_axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis: int) -> tuple:
    xs, d = align_mapped(args, in_dims, _axis.size)
    if axis <= d:  # the new dimension comes before the batch dimension
        return stack_p.bind(*xs, axis=axis), d + 1
    return stack_p.bind(*xs, axis=axis + 1), d


@stack_p.lower
def _(b: Any, *xs: Any, axis: int) -> Any:
    shape = xs[0].shape
    parts = [b.reshape(x, (*shape[:axis], 1, *shape[axis:])) for x in xs]
    return b.concatenate(parts, axis)


stack_p.samples = [
    Sample(f32(2, 3), f32(2, 3), axis=1),
    Sample(f32(), f32(), axis=0),
    Sample(i32(2), axis=1),
]


unstack_p = Primitive(
    "unstack", multiple_results=True, multilinear=True, exact=True, family=MOVEMENT
)
unstack_p.mask_rule = mask_other_axes("axis")


def unstack(x: Any, axis: int = 0) -> tuple:
    """Return the slices of `x` along `axis`, each without that dimension, as a tuple.

    >>> lax.unstack(np.arange(4).reshape(2, 2), axis=1)
    (Array([0, 2], dtype=int32), Array([1, 3], dtype=int32))
    """
    return tuple(unstack_p.bind(x, axis=canonical_axis(axis, aval_of(x).ndim, "unstack")))


@unstack_p.abstract
def _(x: ShapedArray, *, axis: int) -> list:
    count = x.shape[axis]
    if dims.is_dim(count):
        raise ArgumentValueError(
            f"dimension {axis} has the symbolic size {count}: the number of results is not known",
            function="unstack",
            argument="x",
            got=x,
            expected="a known size along axis",
            fix="use lax.scan or vmap to work on each slice",
        )
    return [
        intern_aval((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype, x.weak_type, None)
    ] * count


@unstack_p.shard
def _(call: Any) -> list:
    axis = call.params["axis"]
    cuts = call.cuts[0]
    if len(cuts) > 1:  # numbers of a vector are on each device
        call.check_unsharded((axis,), "taken apart")
    return [(*cuts[:axis], *cuts[axis + 1 :])] * len(call.outs)


@unstack_p.reference
def _(x: np.ndarray, *, axis: int) -> list:
    return [np.array(part) for part in np.moveaxis(x, axis, 0)]


_linear_to_many(unstack_p)


@unstack_p.transpose
def _(cts: Sequence[Any], x: Any, *, axis: int) -> tuple:
    return (stack_p.bind(*map(instantiate, cts), axis=axis),) if cts else (Zero(x.aval),)


@unstack_p.batch
def _(_axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis: int) -> tuple:
    (x,), (d,) = args, in_dims
    axis += d <= axis
    outs = unstack_p.bind(x, axis=axis)
    return outs, [d - (axis < d)] * len(outs)


@unstack_p.lower
def _(b: Any, x: Any, *, axis: int) -> list:
    parts = []
    for i, out in enumerate(b.outs):
        limits = (*x.shape[:axis], i + 1, *x.shape[axis + 1 :])
        parts.append(b.reshape(b.slice(x, _at(axis, i, x.ndim), limits), out.shape))
    return parts


unstack_p.samples = [Sample(f32(2, 3), axis=1), Sample(f32(2), axis=0), Sample(i32(0, 2), axis=0)]


# tile ---------------------------------------------------------------------------------------------

tile_p = Primitive("tile", family=MOVEMENT, multilinear=True, exact=True)


def tile(operand: Any, reps: Sequence[dims.Size]) -> Any:
    """Repeat `operand` `reps[i]` times along each dimension i.

    >>> lax.tile(np.arange(3), (2,))
    Array([0, 1, 2, 0, 1, 2], dtype=int32)
    """
    reps = tuple(checks.several("tile", "reps", reps, "a sequence of ints"))
    return tile_p.bind(operand, reps=dims.canonical_shape(reps, "tile: argument reps"))


@tile_p.abstract
def _(x: ShapedArray, *, reps: tuple) -> ShapedArray:
    fix = "sagax.numpy.tile fills up missing ones"
    checks.one_for_each_dimension("tile", "reps", reps, x, fix=fix)
    return intern_aval(
        tuple([s * r for s, r in zip(x.shape, reps, strict=True)]), x.dtype, x.weak_type, None
    )


@tile_p.shard
def _(call: Any) -> list:
    call.check_unsharded([i for i, n in enumerate(call.params["reps"]) if n != 1], "repeated")
    return call.as_first()


@tile_p.reference
def _(x: np.ndarray, *, reps: tuple) -> np.ndarray:
    return np.tile(x, reps)


linear_rules(tile_p)


def _interleaved(shape: tuple, reps: tuple) -> tuple:
    return tuple(size for pair in zip(reps, shape, strict=True) for size in pair)


@tile_p.transpose
def _(ct: Any, x: Any, *, reps: tuple) -> tuple:
    return (reduce_sum(reshape(ct, _interleaved(x.shape, reps)), range(0, 2 * len(reps), 2)),)


@tile_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, reps: tuple) -> tuple:
    (x,), (d,) = args, in_dims
    return tile_p.bind(x, reps=(*reps[:d], 1, *reps[d:])), d


@tile_p.lower
def _(b: Any, x: Any, *, reps: tuple) -> Any:
    wide = b.broadcast_in_dim(x, _interleaved(x.shape, reps), range(1, 2 * len(reps), 2))
    return b.reshape(wide, b.out.shape)


tile_p.samples = [
    Sample(f32(2, 3), reps=(2, 2)),
    Sample(f32(2), reps=(0,)),
    Sample(f32(), reps=()),
    Sample(c64(2, 1), reps=(1, 3)),
]


# rev ----------------------------------------------------------------------------------------------

rev_p = Primitive("rev", multilinear=True, exact=True, family=MOVEMENT)
rev_p.shard_rule, rev_p.mask_rule = shard_as_first, mask_other_axes("dimensions")


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Reverse `operand` along the given dimensions.

    >>> lax.rev(np.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    try:
        dimensions = tuple([int(d) for d in dimensions])
    except (TypeError, ValueError):
        raise ArgumentError.about(
            "rev", "dimensions", dimensions, "a sequence of ints", fix="pass (axis,)"
        ) from None
    return rev_p.bind(operand, dimensions=dimensions)


@rev_p.abstract
def _(x: ShapedArray, *, dimensions: tuple) -> ShapedArray:
    if len(set(dimensions)) != len(dimensions) or not all(0 <= d < x.ndim for d in dimensions):
        raise ShapeError(
            function="rev",
            argument="dimensions",
            got=dimensions,
            expected=f"distinct dimensions of the operand, which has {x.ndim} (no negative ones)",
            operand=x,
        )
    return x


@rev_p.reference
def _(x: np.ndarray, *, dimensions: tuple) -> np.ndarray:
    return np.flip(x, dimensions).copy()


linear_rules(rev_p)


@rev_p.transpose
def _(ct: Any, x: Any, *, dimensions: tuple) -> tuple:
    return (rev_p.bind(ct, dimensions=dimensions),)


@rev_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, dimensions: tuple) -> tuple:
    (x,), (d,) = args, in_dims
    return rev_p.bind(x, dimensions=tuple(k + (d <= k) for k in dimensions)), d


@rev_p.lower
def _(b: Any, x: Any, *, dimensions: tuple) -> Any:
    return b.op("reverse", [x], x.aval, dimensions=b.ints(dimensions))


rev_p.samples = [
    Sample(f32(2, 3), dimensions=(1,)),
    Sample(c64(2, 2), dimensions=(0, 1)),
    Sample(boolean(3), dimensions=()),
]


# iota ---------------------------------------------------------------------------------------------

iota_p = Primitive("iota", family=WHOLE, cost=0, rounds=False, creates_nan=False, exact=True)


def iota(dtype: Any, size: int) -> Any:
    """Return the numbers 0, 1, ..., size - 1 as an array of `dtype` (integer, floating or complex).

    >>> lax.iota(np.float32, 3)
    Array([0., 1., 2.], dtype=float32)
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(
    dtype: Any, shape: Sequence[dims.Size], dimension: int, *, out_sharding: Any = None
) -> Any:
    """Return an array of `shape` whose elements are their index along `dimension`.

    >>> lax.broadcasted_iota(np.int32, (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        within = functools.partial(broadcasted_iota, dtype, shape, dimension)
        return with_out_sharding("broadcasted_iota", within, (), out_sharding)
    dtype = dtype_predicates.requested(dtype, "iota")
    return iota_p.bind(
        dtype=dtype,
        shape=dims.canonical_shape(shape, "iota: argument shape"),
        dimension=checks.integer("iota", "dimension", dimension),
    )


@iota_p.abstract
def _(*, dtype: Any, shape: tuple, dimension: int) -> ShapedArray:
    if dtypes.kind(dtype) not in "iufc":
        raise DtypeError(
            f"iota does not accept dtype {dtypes.name(dtype)}",
            function="iota",
            argument="dtype",
            got=dtypes.name(dtype),
            expected="an integer, floating point or complex dtype",
        )
    if not 0 <= dimension < len(shape):
        raise ArgumentValueError(
            function="iota",
            argument="dimension",
            got=dimension,
            expected=f"a dimension of shape {shape}: at least 0 and below {len(shape)}",
        )
    if not dims.is_static(shape):
        dims.check_sizes(shape, "iota: argument shape")
    return intern_aval(shape, dtype, False, None)


@iota_p.show
def _(*, dtype: Any, shape: tuple, dimension: int) -> dict:
    return {"dimension": dimension, "dtype": dtype, "shape": shape, "sharding": None}


@iota_p.reference
def _(*, dtype: Any, shape: tuple, dimension: int) -> np.ndarray:
    with np.errstate(over="ignore"):  # narrow floats become infinite where the index exceeds them
        line = np.arange(shape[dimension]).astype(dtype)
    if len(shape) == 1:
        return line
    line = line.reshape([-1 if i == dimension else 1 for i in range(len(shape))])
    return np.broadcast_to(line, shape).copy()


set_zero_derivative(iota_p)


@iota_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    return iota_p.bind(**params), None


@iota_p.lower
def _(b: Any, *, dtype: Any, shape: tuple, dimension: int) -> Any:
    return b.iota(b.out, dimension)


iota_p.samples = [
    Sample(dtype=np.dtype(np.int32), shape=(4,), dimension=0),
    Sample(dtype=np.dtype(np.float32), shape=(2, 3), dimension=1),
    Sample(dtype=np.dtype(np.complex64), shape=(2, 0, 1), dimension=0),
    Sample(dtype=np.dtype(np.int8), shape=(300,), dimension=0),
    Sample(dtype=np.dtype(np.float16), shape=(2100,), dimension=0),
]


# sizes as values ----------------------------------------------------------------------------------

dim_as_value_p = Primitive("dim_as_value", family=WHOLE, mask_rule=None)


def shape_as_value(shape: Any) -> Any:
    """Convert a shape to a vector of int32 values (int64 where a size needs it); sizes may be symbolic.

    >>> [int(size) for size in lax.shape_as_value((2, 3))]
    [2, 3]
    """
    shape = dims.canonical_shape(shape, "shape_as_value")
    static = [size for size in shape if not dims.is_dim(size)]
    wide = any(size > np.iinfo(np.int32).max for size in static)
    dtype = np.dtype(np.int64 if wide else np.int32)
    if len(static) == len(shape):
        return np.array(static, dtype)
    return stack([convert(size_as_value(size), dtype) for size in shape])


def size_as_value(size: Any) -> Any:
    """Convert a size to a value: symbolic sizes become (weakly typed) integer scalars."""
    return dim_as_value_p.bind(dim=size) if dims.is_dim(size) else size


@dim_as_value_p.abstract
def _(*, dim: Any) -> ShapedArray:
    return scalar_aval(int, config.current().x64)


@dim_as_value_p.reference
def _(*, dim: Any) -> np.ndarray:
    return np.asarray(dim.__index__(), aval_of(0).dtype)


@dim_as_value_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, dim: Any) -> tuple:
    return dim_as_value_p.bind(dim=dim), None


@dim_as_value_p.lower
def _(b: Any, *, dim: Any) -> Any:
    return b.convert(b.dim(dim), b.out.dtype)


dim_as_value_p.samples = [Sample(dim=5)]


# full ---------------------------------------------------------------------------------------------


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Any:
    """Return an array of `shape` filled with the scalar `fill_value`, of `dtype` (None: its own).

    >>> lax.full((2, 2), 7.0)
    Array([[7., 7.],
           [7., 7.]], dtype=float32, weak_type=True)
    """
    if sharding is not None:
        within = functools.partial(full, shape, fill_value, dtype)
        return with_out_sharding("full", within, (), sharding)
    sizes = dims.canonical_shape(shape, "full: argument shape")
    value = _filling("full", fill_value, dtype)
    return broadcast_in_dim_p.bind(value, shape=sizes, broadcast_dimensions=())


def _filling(function: str, value: Any, dtype: Any, weak_type: bool = False) -> Any:
    """Return the scalar `value` as `dtype`, in the cheapest form that preserves its weakness."""
    if np.ndim(value) if not hasattr(value, "aval") else value.ndim:
        raise ArgumentError.about(function, "fill_value", value, "a scalar")
    if dtype is None:
        if not is_operand(value):
            raise ArgumentError.about(function, "fill_value", value, "a number or scalar array")
        return value
    dtype = dtype_predicates.requested(dtype, function)
    if dtypes.is_extended(dtype) and type(value) is int:
        return dtype.element(value)
    if hasattr(value, "aval") or weak_type or dtypes.is_extended(dtype):
        return convert_given(value, dtype, weak_type)
    if type(value) in (bool, int):
        return number_as(type(value), value, dtype)
    number = np.asarray(value)
    if not dtypes.is_numeric_dtype(number.dtype):
        raise ArgumentError.about(function, "fill_value", value, "a number")
    if type(value) is complex and dtypes.kind(dtype) not in "cb":
        wanted = f"a real number, to be a {dtypes.name(dtype)}"
        raise ArgumentError.about(function, "fill_value", value, wanted)
    dtypes.warn_of_lost_imaginary_part(number.dtype, dtype)
    return dtype_predicates.convert_numpy(number, dtype)[()]


@functools.lru_cache(maxsize=4096)
def number_as(kind: type, value: int, dtype: Any) -> Any:
    """Return the Python int or bool `value` as a NumPy scalar, converted as at run time."""
    if dtypes.kind(dtype) in "iu":  # from a wide integer: its low bits
        return np.asarray(value & 0xFFFF_FFFF_FFFF_FFFF, np.uint64).astype(dtype)[()]
    return dtype_predicates.convert_numpy(np.asarray(value), dtype)[()]


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None
) -> Any:
    """Return an array of the shape and dtype of `x`, filled with the scalar `fill_value`.

    `x` may be anything with a shape and a dtype; `dtype` and `shape` override them.

    >>> lax.full_like(np.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    if sharding is None and shape is None:
        if isinstance(x, Array):
            sharding = getattr(x, "_device", None)  # same sharding as an array on many devices
            sharding = sharding if isinstance(sharding, Sharding) else x.aval.explicit_sharding
        else:
            sharding = sharding_of_struct(x)
    if sharding is not None:
        plain = ShapedArray(x.shape, x.dtype, getattr(x, "weak_type", False))
        within = functools.partial(full_like, plain, fill_value, dtype, shape)
        return with_out_sharding("full_like", within, (), sharding)
    like = aval_of(x) if is_operand(x) or not (hasattr(x, "shape") and hasattr(x, "dtype")) else x
    shape = dims.canonical_shape(
        like.shape if shape is None else shape, "full_like: argument shape"
    )
    weak_type = dtype is None and bool(getattr(like, "weak_type", False))
    value = _filling("full_like", fill_value, like.dtype if dtype is None else dtype, weak_type)
    return broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=())


def zeros_like_array(x: Any) -> Any:
    """Return zeros of the shape and dtype of `x`."""
    return full_like(x, 0)


def empty(shape: Sequence[int], dtype: Any, *, out_sharding: Any = None) -> Any:
    """Return an array of `shape` with unspecified content.

    It holds zeros, so that functions that read it by mistake are deterministic.

    >>> lax.empty((2, 3), "float32").shape
    (2, 3)
    """
    return full(shape, 0, dtype, sharding=out_sharding)


# shapes -------------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> tuple:
    """Return the shape that arrays of the given shapes broadcast to, by NumPy's rules.

    Raises a ValueError if they do not broadcast.

    >>> lax.broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    for s in shapes:
        if any(isinstance(size, (int, np.integer)) and size < 0 for size in np.atleast_1d(s)):
            raise ArgumentError.about("broadcast_shapes", "shapes", s, "sizes of at least 0")
    given = [dims.canonical_shape(s, "broadcast_shapes: argument shapes") for s in shapes]
    out: list = []
    for k in range(-max(map(len, given), default=0), 0):
        size: Any = 1
        for s in given:
            if len(s) >= -k:
                size = dims.broadcast_dim(size, s[k])
                if size is None:
                    raise ArgumentValueError(
                        # libraries look for the first words
                        f"Incompatible shapes for broadcasting: the sizes along axis {k} differ",
                        function="broadcast_shapes",
                        got=enumeration(given),
                        expected="equal sizes, or size 1, along each axis counted from the last",
                    )
        out.append(size)
    return tuple(out)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """Add leading dimensions of size 1 to `x`, so that it has at least `rank` dimensions.

    >>> lax.broadcast_to_rank(np.ones(3), 3).shape
    (1, 1, 3)
    """
    shape = aval_of(x).shape
    new = checks.integer("broadcast_to_rank", "rank", rank) - len(shape)
    if new <= 0:
        return x
    return broadcast_in_dim(x, (1,) * new + shape, tuple(range(new, rank)))


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """Broadcast `arr` to the shape of `like_arr`, by NumPy's rules; it keeps its dtype.

    >>> lax.broadcast_like(np.arange(2), np.ones((2, 2)))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    have, target = aval_of(arr).shape, aval_of(like_arr).shape
    if len(have) > len(target):
        raise ArgumentValueError.about(
            "broadcast_like", "arr", f"shape {have}", f"a shape that broadcasts to {target}"
        )
    return broadcast_in_dim(arr, target, tuple(range(len(target) - len(have), len(target))))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Merge the dimensions of `operand` from `start_dimension` up to `stop_dimension` into one.

    Indices work as in a Python slice. An empty range inserts a dimension of size 1.

    >>> lax.collapse(np.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    shape = aval_of(operand).shape
    start_dimension = checks.integer("collapse", "start_dimension", start_dimension)
    if stop_dimension is not None:
        stop_dimension = checks.integer("collapse", "stop_dimension", stop_dimension)
    lo, hi, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if hi < lo:
        raise ArgumentValueError(
            function="collapse",
            got=f"dimensions {start_dimension} to {stop_dimension} of shape {shape}",
            expected="a range that does not end before it starts",
        )
    return reshape(operand, (*shape[:lo], math.prod(shape[lo:hi]), *shape[hi:]))
