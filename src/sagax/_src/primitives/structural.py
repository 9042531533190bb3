"""Define the primitives that the rules of all other families use.

Batching needs broadcasting, summation, transposition, reshaping and conversion to align operands; transpose rules
need them to undo a broadcast. Their own rules refer to one another, so they live together.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, Space, intern_aval
from sagax._src.core.families import (
    IDENTITY,
    MOVEMENT,
    REDUCTION,
    CotangentMask,
    Fusion,
    Recompute,
    mask_all,
    mask_filled,
)
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, boolean, c64, f32, i8, i32, u8
from sagax._src.core.tangents import Linear, Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.resharding import in_memory_space, with_out_sharding


def linear_rules(primitive: Primitive) -> None:
    """Derive the jvp of a primitive that is linear in its first operand, for fixed other operands."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        out = primitive.bind(*primals, **params)
        if is_zero(tangents[0]):
            return out, Zero.like(aval_of(out))
        return out, primitive.bind(tangents[0], *primals[1:], **params)

    primitive.jvp_rule = jvp


# broadcast_in_dim -------------------------------------------------------------------------------

broadcast_in_dim_p = Primitive(
    "broadcast_in_dim",
    family=MOVEMENT,
    fusion=Fusion.INLINE,
    recomputes=Recompute.REPEATEDLY,
    mask_rule=mask_all,
    multilinear=True,
    exact=True,
)


def broadcast_in_dim(
    operand: Any,
    shape: Sequence[Any],
    broadcast_dimensions: Sequence[int] = (),
    *,
    out_sharding: Any = None,
) -> Any:
    """Broadcast `operand` to `shape`; its dimension i becomes dimension `broadcast_dimensions[i]`.

    Dimensions of size 1 broadcast; all others keep their size. Same dtype as the operand.

    >>> lax.broadcast_in_dim(np.arange(2), (2, 3), (0,))
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    if out_sharding is not None:
        within = functools.partial(
            broadcast_in_dim, shape=shape, broadcast_dimensions=broadcast_dimensions
        )
        return with_out_sharding("broadcast_in_dim", within, (operand,), out_sharding)
    shape = dims.canonical_shape(shape, "shape")
    mapping = tuple(
        map(
            int,
            checks.several(
                "broadcast_in_dim",
                "broadcast_dimensions",
                broadcast_dimensions,
                "a sequence of ints",
            ),
        )
    )
    aval = aval_of(operand)
    if (
        len(mapping) == aval.ndim == len(shape)
        and dims.same_shape(aval.shape, shape)
        and mapping == tuple(range(aval.ndim))
    ):
        if hasattr(operand, "aval"):
            return operand
    return broadcast_in_dim_p.bind(operand, shape=shape, broadcast_dimensions=mapping)


broadcast_in_dim_p.samples = [
    Sample(f32(), shape=(2, 3), broadcast_dimensions=()),
    Sample(f32(3), shape=(2, 3), broadcast_dimensions=(1,)),
    Sample(f32(2, 1), shape=(2, 4, 3), broadcast_dimensions=(0, 2)),
    Sample(c64(2), shape=(2, 2), broadcast_dimensions=(0,)),
    Sample(i32(1), shape=(0,), broadcast_dimensions=(0,)),
    Sample(boolean(2), shape=(2, 1), broadcast_dimensions=(0,)),
]


@broadcast_in_dim_p.abstract
def _(x: ShapedArray, *, shape: tuple, broadcast_dimensions: tuple) -> ShapedArray:
    if not dims.is_static(shape):
        dims.check_sizes(shape, "broadcast_in_dim: argument shape")
    checks.one_for_each_dimension(
        "broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions, x
    )
    if any(b <= a for a, b in zip(broadcast_dimensions, broadcast_dimensions[1:], strict=False)):
        raise ShapeError(
            function="broadcast_in_dim",
            argument="broadcast_dimensions",
            got=broadcast_dimensions,
            expected="strictly increasing dimensions",
        )
    for axis, d in enumerate(broadcast_dimensions):
        if not 0 <= d < len(shape):
            raise ShapeError(
                function="broadcast_in_dim",
                argument="broadcast_dimensions",
                got=broadcast_dimensions,
                expected=f"dimensions of the result, from 0 to {len(shape) - 1}",
            )
        size = x.shape[axis]
        if not dims.same(size, 1) and not dims.same(size, shape[d]):
            raise ShapeError(
                f"dimension {axis} of the operand has size {size}, which fits neither 1 nor size {shape[d]} of dimension {d} of the result",
                function="broadcast_in_dim",
                got=x.shape,
                expected=f"a shape that broadcasts to {shape}",
            )
    return intern_aval(shape, x.dtype, x.weak_type, None)


@broadcast_in_dim_p.show
def _(*, shape: tuple, broadcast_dimensions: tuple) -> dict:
    return {"broadcast_dimensions": broadcast_dimensions} if broadcast_dimensions else {}


@broadcast_in_dim_p.shard
def _(call: Any) -> list:
    found: list[tuple] = [()] * len(call.params["shape"])
    for i, k in enumerate(call.params["broadcast_dimensions"]):
        found[k] = call.cuts[0][i]
    return [tuple(found)]


@broadcast_in_dim_p.reference
def _(x: np.ndarray, *, shape: tuple, broadcast_dimensions: tuple) -> np.ndarray:
    if x.ndim == 0:
        return np.full(shape, x)
    full = [1] * len(shape)
    for size, d in zip(x.shape, broadcast_dimensions, strict=True):
        full[d] = size
    return np.broadcast_to(x.reshape(full), shape).copy()


linear_rules(broadcast_in_dim_p)


@broadcast_in_dim_p.transpose
def _(ct: Any, x: Any, *, shape: tuple, broadcast_dimensions: tuple) -> tuple:
    stretched = tuple(
        d
        for axis, d in enumerate(broadcast_dimensions)
        if dims.same(x.shape[axis], 1) and not dims.same(shape[d], 1)
    )
    new = tuple(d for d in range(len(shape)) if d not in broadcast_dimensions)
    summed = reduce_sum(ct, tuple(sorted(new + stretched))) if new or stretched else ct
    return (reshape(summed, x.shape) if stretched else summed,)


@broadcast_in_dim_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    shape: tuple,
    broadcast_dimensions: tuple,
) -> tuple:
    (x,), (d,) = args, in_dims
    x = moveaxis(x, d, 0)
    mapping = (0, *(b + 1 for b in broadcast_dimensions))
    return broadcast_in_dim(x, (aval_of(x).shape[0], *shape), mapping), 0


@broadcast_in_dim_p.lower
def _(b: Any, x: Any, *, shape: tuple, broadcast_dimensions: tuple) -> Any:
    return b.broadcast_in_dim(x, shape, broadcast_dimensions)


def broadcast(operand: Any, sizes: Sequence[Any]) -> Any:
    """Add leading dimensions of the given sizes to `operand`, by repeating it.

    >>> lax.broadcast(np.arange(2), (3,)).shape
    (3, 2)
    """
    shape = aval_of(operand).shape
    sizes = checks.several("broadcast", "sizes", sizes, "a sequence of sizes")
    n = len(sizes)
    return broadcast_in_dim(operand, (*sizes, *shape), tuple(range(n, n + len(shape))))


def full_of(aval: Any, value: Any) -> Any:
    """Return an array of the given type filled with the scalar `value`."""
    scalar = np.asarray(value, aval.dtype)[()]
    if aval.weak_type:  # Python numbers are weakly typed
        number = scalar.item()
        if aval_of(number).dtype == aval.dtype:
            scalar = number
    return broadcast_in_dim_p.bind(scalar, shape=aval.shape, broadcast_dimensions=())


def zeros_of(aval: Any) -> Any:
    """Return zeros of the given type; a NumPy array for float0, which has no data."""
    if aval.is_high:
        return aval.vspace_zero()
    if aval.dtype == dtypes.float0:
        return np.zeros(aval.shape, dtypes.float0)
    if aval.memory_space is not Space.Device:
        return in_memory_space(full_of(aval, 0), aval.memory_space)
    return full_of(aval, 0)


def instantiate(x: Any) -> Any:
    """Return `x`, or an array of zeros for a symbolic zero `x`."""
    return zeros_of(x.aval) if is_zero(x) else x


# transpose --------------------------------------------------------------------------------------

transpose_p = Primitive(
    "transpose", family=MOVEMENT, mask_rule=mask_all, multilinear=True, exact=True
)


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Permute the dimensions of `operand`: dimension i of the result is its dimension `permutation[i]`.

    >>> lax.transpose(np.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    permutation = checks.several("transpose", "permutation", permutation, "a sequence of ints")
    permutation = tuple([checks.integer("transpose", "permutation", p) for p in permutation])
    if (
        permutation == tuple(range(len(permutation)))
        and hasattr(operand, "aval")
        and operand.ndim == len(permutation)
    ):
        return operand
    return transpose_p.bind(operand, permutation=permutation)


def moveaxis(x: Any, source: int | None, destination: int) -> Any:
    """Move dimension `source` of `x` to `destination`; the others keep their order."""
    if source == destination or source is None:
        return x
    order = [i for i in range(aval_of(x).ndim) if i != source]
    order.insert(destination, source)
    return transpose_p.bind(x, permutation=tuple(order))


transpose_p.samples = [
    Sample(f32(2, 3), permutation=(1, 0)),
    Sample(f32(2, 3, 4), permutation=(2, 0, 1)),
    Sample(c64(2, 0), permutation=(1, 0)),
    Sample(i8(), permutation=()),
]


@transpose_p.abstract
def _(x: ShapedArray, *, permutation: tuple) -> ShapedArray:
    if sorted(permutation) != list(range(x.ndim)):
        raise ShapeError(
            function="transpose",
            argument="permutation",
            got=permutation,
            expected=f"a permutation of the {x.ndim} dimensions of the operand",
            operand=x,
        )
    return intern_aval(tuple([x.shape[p] for p in permutation]), x.dtype, x.weak_type, None)


@transpose_p.shard
def _(call: Any) -> list:
    return [tuple([call.cuts[0][p] for p in call.params["permutation"]])]


@transpose_p.reference
def _(x: np.ndarray, *, permutation: tuple) -> np.ndarray:
    return np.ascontiguousarray(np.transpose(x, permutation)) if permutation else x


linear_rules(transpose_p)


@transpose_p.transpose
def _(ct: Any, x: Any, *, permutation: tuple) -> tuple:
    return (transpose(ct, tuple(int(i) for i in np.argsort(permutation))),)


@transpose_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, permutation: tuple) -> tuple:
    (x,), (d,) = args, in_dims
    order = (d, *(p if p < d else p + 1 for p in permutation))
    return transpose(x, order), 0


@transpose_p.lower
def _(b: Any, x: Any, *, permutation: tuple) -> Any:
    return b.transpose(x, permutation)


# reshape ----------------------------------------------------------------------------------------

reshape_p = Primitive(
    "reshape", family=MOVEMENT, fusion=Fusion.INLINE, multilinear=True, exact=True
)


def reshape(
    operand: Any,
    new_sizes: Sequence[Any],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Reshape `operand` to `new_sizes`, with the same elements in row-major order.

    With `dimensions` its dimensions are permuted to that order first.

    >>> lax.reshape(np.arange(6), (2, 3))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        within = functools.partial(reshape, new_sizes=new_sizes, dimensions=dimensions)
        return with_out_sharding("reshape", within, (operand,), out_sharding)
    sizes = dims.canonical_shape(new_sizes, "new_sizes")
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    if hasattr(operand, "aval") and dims.same_shape(operand.aval.shape, sizes):
        return operand
    return reshape_p.bind(operand, new_sizes=sizes)


reshape_p.samples = [
    Sample(f32(2, 3), new_sizes=(3, 2)),
    Sample(f32(4), new_sizes=(2, 1, 2)),
    Sample(i32(1, 1), new_sizes=()),
    Sample(bf16(0, 3), new_sizes=(0,)),
]


@reshape_p.abstract
def _(x: ShapedArray, *, new_sizes: tuple) -> ShapedArray:
    if not dims.same(dims.size(x.shape), dims.size(new_sizes)):
        raise ShapeError(
            f"an array of shape {x.shape} has {dims.size(x.shape)} elements, shape {new_sizes} has {dims.size(new_sizes)}",
            function="reshape",
            argument="new_sizes",
            got=new_sizes,
            expected=f"sizes whose product is {dims.size(x.shape)}",
        )
    return intern_aval(new_sizes, x.dtype, x.weak_type, None)


@reshape_p.show
def _(*, new_sizes: tuple) -> dict:
    return {"dimensions": None, "new_sizes": new_sizes, "sharding": None}


@reshape_p.shard
def _(call: Any) -> list:
    """Keep shardings of dimensions that are merged or split in groups of equal size. A sharded dimension must be
    the first of its group, so that the shards stay in order."""
    old, new = call.avals[0].shape, call.outs[0].shape
    cuts = call.cuts[0]
    found: list[tuple] = [()] * len(new)
    for before, after in _groups(old, new):
        cut = [i for i in before if cuts[i]]
        if not cut:
            continue
        small = [k for k in after if new[k] != 1]
        wide = [i for i in before if old[i] != 1]
        if len(wide) == 1 and len(small) == 1:
            found[small[0]] = cuts[wide[0]]
            continue
        axes = tuple([name for i in cut for name in cuts[i]])
        # all dimensions before the last sharded one must be fully sharded: then shards are contiguous
        in_order = all(call.parts(cuts[i]) == old[i] for i in wide[: wide.index(cut[-1])])
        from_first = cut == wide[: len(cut)]  # merged dimensions are sharded without a gap
        dealt = _deal(axes, [new[k] for k in small], call) if in_order else None
        if len(small) == 1 and from_first:
            found[small[0]] = axes
        elif dealt is not None:
            for k, cut_along in zip(small, dealt, strict=False):
                found[k] = cut_along
        else:
            raise call.wrong(
                f"this reshape to {new} is not supported for an operand that is divided along "
                f"{call.axes_text(axes)}: the parts of the result would not be parts of the operand",
                fix="say how the result is divided, with out_sharding=P(...), or reshard the operand "
                f"to {call.required_spec(0, cut[0], ())}",
            )
    return [tuple(found)]


def _deal(axes: tuple, sizes: Sequence[int], call: Any) -> list[tuple] | None:
    """Deal mesh axes, the first outermost, to dimensions that are split from one; None if they do not fit.

    All dimensions but the last of them must be cut down to single elements: then shards are contiguous.
    """
    found: list[tuple] = []
    rest = list(axes)
    for size in sizes:
        taken: list[Any] = []
        while rest and size % call.parts((*taken, rest[0])) == 0:
            taken.append(rest.pop(0))
        found.append(tuple(taken))
        if not rest:
            return found
        if call.parts(tuple(taken)) != size:
            return None
    return None


def _groups(old: tuple, new: tuple) -> list[tuple[list[int], list[int]]]:
    """Return the smallest groups of dimensions, in order, that have equal sizes before and after."""
    groups = []
    i = k = 0
    while i < len(old) or k < len(new):
        before, after = [], []
        p = q = 1
        if i < len(old):
            before.append(i)
            p, i = old[i], i + 1
        if k < len(new):
            after.append(k)
            q, k = new[k], k + 1
        while not dims.same_shape((p,), (q,)):
            if dims.is_dim(p) or dims.is_dim(q):
                before += range(i, len(old))
                after += range(k, len(new))
                return [*groups, (before, after)]
            if p < q:
                if i == len(old):
                    break
                before.append(i)
                p, i = p * old[i], i + 1
            else:
                if k == len(new):
                    break
                after.append(k)
                q, k = q * new[k], k + 1
        groups.append((before, after))
    return groups


@reshape_p.mask
def _(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    """Allow changes of dimensions next to those of views, if their number before and after is equal."""

    def parts(shape: tuple) -> list:
        found: list = [1]
        for size in shape:
            if trace.is_view_size(size):
                found += [size, 1]
            else:
                found[-1] *= size
        return found

    if not dims.same_shape(parts(aval_of(args[0]).shape), parts(out.shape)):
        raise trace.refused(primitive, args)
    return trace.bind(primitive, args, params, out)


@reshape_p.reference
def _(x: np.ndarray, *, new_sizes: tuple) -> np.ndarray:
    return np.reshape(x, new_sizes)


linear_rules(reshape_p)


@reshape_p.transpose
def _(ct: Any, x: Any, *, new_sizes: tuple) -> tuple:
    return (reshape(ct, x.shape),)


@reshape_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, new_sizes: tuple) -> tuple:
    x = moveaxis(args[0], in_dims[0], 0)
    return reshape(x, (aval_of(x).shape[0], *new_sizes)), 0


@reshape_p.lower
def _(b: Any, x: Any, *, new_sizes: tuple) -> Any:
    return b.reshape(x, new_sizes)


# squeeze, expand_dims ---------------------------------------------------------------------------

squeeze_p = Primitive(
    "squeeze",
    family=MOVEMENT,
    fusion=Fusion.INLINE,
    mask_rule=mask_all,
    multilinear=True,
    exact=True,
)


def squeeze(array: Any, dimensions: Sequence[int] | int | None = None) -> Any:
    """Remove the given dimensions of `array`, which must have size 1 (None: all of size 1).

    >>> lax.squeeze(np.ones((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    aval = aval_of(array)
    if dimensions is None:
        given: list[Any] = [i for i, size in enumerate(aval.shape) if size == 1]
    else:
        given = list(dimensions) if isinstance(dimensions, (tuple, list)) else [dimensions]
    axes = tuple(sorted({canonical_axis(d, aval.ndim, "squeeze", "dimensions") for d in given}))
    if not axes and hasattr(array, "aval"):
        return array
    return squeeze_p.bind(array, dimensions=axes)


squeeze_p.samples = [
    Sample(f32(1, 3), dimensions=(0,)),
    Sample(f32(1, 2, 1), dimensions=(0, 2)),
    Sample(c64(1), dimensions=(0,)),
]


@squeeze_p.abstract
def _(x: ShapedArray, *, dimensions: tuple) -> ShapedArray:
    for d in dimensions:
        if not dims.same(x.shape[d], 1):
            raise ArgumentValueError(
                f"dimension {d} has size {x.shape[d]}; only dimensions of size 1 can be removed",
                function="squeeze",
                argument="dimensions",
                got=dimensions,
                expected=f"dimensions of size 1 of shape {x.shape}",
            )
    return intern_aval(
        tuple([s for i, s in enumerate(x.shape) if i not in dimensions]), x.dtype, x.weak_type, None
    )


@squeeze_p.shard
def _(call: Any) -> list:
    gone = call.params["dimensions"]
    return [tuple([c for i, c in enumerate(call.cuts[0]) if i not in gone])]


@squeeze_p.reference
def _(x: np.ndarray, *, dimensions: tuple) -> np.ndarray:
    return np.squeeze(x, dimensions)


linear_rules(squeeze_p)


@squeeze_p.transpose
def _(ct: Any, x: Any, *, dimensions: tuple) -> tuple:
    return (reshape(ct, x.shape),)


@squeeze_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, dimensions: tuple) -> tuple:
    x = moveaxis(args[0], in_dims[0], 0)
    return squeeze_p.bind(x, dimensions=tuple(d + 1 for d in dimensions)), 0


@squeeze_p.lower
def _(b: Any, x: Any, *, dimensions: tuple) -> Any:
    return b.reshape(x, tuple(s for i, s in enumerate(x.aval.shape) if i not in dimensions))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """Insert dimensions of size 1 into `array`, at the given positions of the result.

    >>> lax.expand_dims(np.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    aval = aval_of(array)
    dimensions = checks.several("expand_dims", "dimensions", dimensions, "a sequence of ints")
    ndim = aval.ndim + len(dimensions)
    positions = {canonical_axis(d, ndim, "expand_dims", "dimensions") for d in dimensions}
    if len(positions) != len(dimensions):
        raise ArgumentValueError.about(
            "expand_dims", "dimensions", tuple(dimensions), "dimensions without repetition"
        )
    sizes = iter(aval.shape)
    shape = tuple(1 if i in positions else next(sizes) for i in range(ndim))
    return broadcast_in_dim(array, shape, tuple(i for i in range(ndim) if i not in positions))


# reduce_sum -------------------------------------------------------------------------------------

# XLA sums up to this many numbers sequentially; from 32 of them on it may build a tree.
SUMMED_IN_ORDER = 16


def _summed_in_order(avals: tuple) -> bool:
    """Accept integers, whose sums are independent of the order, and short real sums."""
    (x,) = avals
    if x.dtype in (np.float32, np.float64):
        return x.size <= SUMMED_IN_ORDER
    return not dtypes.is_inexact(x.dtype)


reduce_sum_p = Primitive(
    "reduce_sum",
    family=REDUCTION,
    cotangent_mask=CotangentMask.MOVED,
    mask_rule=mask_filled("axes", lambda dtype: 0),
    wide_rule=lambda x, *, axes: x.sum(axis=axes),
    multilinear=True,
    exact=_summed_in_order,
)


def reduce_sum(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
    """Sum `operand` over the dimensions `axes`, which are removed. Same dtype.

    `out_sharding` is the sharding of the result over Explicit axes; those that divide `axes` may be unreduced.

    >>> int(lax.reduce_sum(np.arange(4), (0,)))
    6
    """
    if out_sharding is not None:
        summed = functools.partial(reduce_sum, axes=axes)
        return with_out_sharding("reduce_sum", summed, (operand,), out_sharding)
    ndim = aval_of(operand).ndim
    axes = checks.several("reduce_sum", "axes", axes, "a sequence of ints")
    return reduce_sum_p.bind(
        operand, axes=tuple(sorted(canonical_axis(a, ndim, "reduce_sum", "axes") for a in axes))
    )


def reduced_shape(shape: tuple, axes: tuple, function: str) -> tuple:
    """Return `shape` without `axes`, which must be distinct dimensions of it."""
    if len(set(axes)) != len(axes):
        raise ArgumentValueError.about(function, "axes", axes, "axes without repetition")
    for a in axes:
        if not 0 <= a < len(shape):
            raise ArgumentValueError.about(
                function, "axes", axes, f"axes of an array of shape {shape}"
            )
    return tuple([s for i, s in enumerate(shape) if i not in axes])


def require_numbers(function: str, *avals: ShapedArray) -> None:
    """Refuse operands, such as PRNG keys, whose elements are not numbers."""
    for x in avals:
        if dtypes.is_extended(x.dtype):
            raise DtypeError(
                f"the operand has dtype {dtypes.name(x.dtype)}",
                function=function,
                got=x,
                expected="numbers or booleans",
                fix="draw numbers with the keys: sagax.random.bits(key), or see sagax.random.key_data",
            )


@reduce_sum_p.abstract
def _(x: ShapedArray, *, axes: tuple) -> ShapedArray:
    require_numbers("reduce_sum", x)
    return intern_aval(reduced_shape(x.shape, axes, "reduce_sum"), x.dtype, x.weak_type, None)


@reduce_sum_p.show
def _(*, axes: tuple) -> dict:
    return {"axes": axes, "out_sharding": None}


@reduce_sum_p.reference
def _(x: np.ndarray, *, axes: tuple) -> np.ndarray:
    dtype = x.dtype
    if dtype.kind == "f" and 0 < x.size <= SUMMED_IN_ORDER:
        if x.ndim != 1 or not axes:
            remaining = tuple([i for i in range(x.ndim) if i not in axes])
            x = np.transpose(x, (*remaining, *axes)).reshape(*[x.shape[i] for i in remaining], -1)
        if x.shape[-1] == 1:
            return x[..., 0]
        return np.add.accumulate(x, -1)[..., -1] + dtype.type(0)  # XLA starts from 0
    if dtype.kind == "b":
        return np.any(x, axis=axes)
    wide = np.float32 if dtype_predicates.is_narrow_float(dtype) else dtype
    return np.sum(x.astype(wide), axis=axes, dtype=wide).astype(x.dtype)


linear_rules(reduce_sum_p)


@reduce_sum_p.transpose
def _(ct: Any, x: Any, *, axes: tuple) -> tuple:
    remaining = tuple(i for i in range(x.ndim) if i not in axes)
    return (broadcast_in_dim(ct, x.shape, remaining),)


@reduce_sum_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple) -> tuple:
    return batch_reduction(reduce_sum_p, args[0], in_dims[0], axes, {})


def batch_reduction(primitive: Primitive, x: Any, d: int, axes: tuple, params: dict) -> tuple:
    """Batch a reduction over `axes` of the operand `x`, which is mapped along dimension `d`."""
    moved = tuple(a if a < d else a + 1 for a in axes)
    out = primitive.bind(x, axes=moved, **params)
    return out, d - sum(a < d for a in moved)


@reduce_sum_p.lower
def _(b: Any, x: Any, *, axes: tuple) -> Any:
    combine = "or" if x.aval.dtype == np.bool_ else "add"
    return b.reduce(combine, x, 0, axes)


# convert_element_type ---------------------------------------------------------------------------

convert_element_type_p = Primitive(
    "convert_element_type", family=IDENTITY, rounds=True, multilinear=True, exact=True
)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """Convert the elements of `operand` to `new_dtype`, as NumPy's astype does.

    A conversion from complex to real, or to boolean, takes the real part, with a ComplexWarning. Floats saturate
    when they become integers. A Python int wraps around where the dtype can't hold it.

    >>> lax.convert_element_type(np.array([1.7, -1.7]), np.int32)
    Array([ 1, -1], dtype=int32)
    """
    dtype = dtype_predicates.requested(new_dtype, "convert_element_type")
    if type(operand) is int and not dtypes.is_extended(dtype):
        operand = _wrapped(operand, dtype)
    elif type(operand) is complex and dtypes.kind(dtype) not in "cb":
        raise ArgumentError.about(
            "convert_element_type",
            "operand",
            operand,
            f"a real number, to become {dtypes.name(dtype)}",
        )
    if dtype == np.bool_ and dtype_predicates.is_complex(aval_of(operand).dtype):
        operand = real_p.bind(operand)
    return convert_given(operand, dtype)


def _wrapped(x: int, dtype: Any) -> Any:
    """Convert a Python int to a dtype that may not hold it: integers wrap around."""
    if dtypes.kind(dtype) in "iu":
        bits = dtypes.itemsize_bits(dtype)
        x %= 1 << bits
        if dtypes.kind(dtype) == "i" and x >> (bits - 1):
            x -= 1 << bits
        return np.asarray(x).astype(dtype)[()]
    return float(x) if -(1 << 31) > x or x >= 1 << 31 else x


def convert_given(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """Convert what a user gave, as `convert` does; warn if that drops an imaginary part."""
    dtypes.warn_of_lost_imaginary_part(aval_of(x).dtype, dtype)
    return convert(x, dtype, weak_type)


def convert(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """Convert `x` to the canonical dtype `dtype`; return `x` itself if it has it."""
    aval = aval_of(x)
    if aval.dtype == dtype and aval.weak_type == weak_type and hasattr(x, "aval"):
        return x
    if (
        dtype_predicates.is_complex(aval.dtype)
        and not dtype_predicates.is_complex(dtype)
        and dtype != np.bool_
    ):
        x = real_p.bind(x)
        if aval_of(x).dtype == dtype and aval_of(x).weak_type == weak_type:
            return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type)


convert_element_type_p.samples = [
    Sample(f32(3), new_dtype=np.dtype(np.int32), weak_type=False),
    Sample(i32(3), new_dtype=np.dtype(np.float32), weak_type=False),
    Sample(f32(3), new_dtype=dtypes.bfloat16, weak_type=False, derivatives=False),
    Sample(f32(3), new_dtype=np.dtype(np.complex64), weak_type=False),
    Sample(u8(4), new_dtype=np.dtype(bool), weak_type=False),
    Sample(boolean(4), new_dtype=np.dtype(np.float16), weak_type=False),
]


@convert_element_type_p.abstract
def _(x: ShapedArray, *, new_dtype: Any, weak_type: bool) -> ShapedArray:
    if dtypes.is_extended(x.dtype) != dtypes.is_extended(new_dtype):
        raise ArgumentError(
            f"cannot convert dtype {dtypes.name(x.dtype)} to dtype {dtypes.name(new_dtype)}",
            function="convert_element_type",
            argument="new_dtype",
            got=dtypes.name(new_dtype),
            expected="a dtype of the same kind",
        )
    return intern_aval(x.shape, new_dtype, weak_type, None)


@convert_element_type_p.reference
def _(x: np.ndarray, *, new_dtype: Any, weak_type: bool) -> np.ndarray:
    return dtypes.convert_quietly(x, new_dtype)


@convert_element_type_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, new_dtype: Any, weak_type: bool) -> tuple:
    out = convert_element_type_p.bind(*primals, new_dtype=new_dtype, weak_type=weak_type)
    target = aval_of(out).to_tangent_aval()
    (t,) = tangents
    if is_zero(t) or target.dtype == dtypes.float0:
        return out, Zero(target)
    return out, convert(t, new_dtype, weak_type)


@convert_element_type_p.transpose
def _(ct: Any, x: Any, *, new_dtype: Any, weak_type: bool) -> tuple:
    return (convert(ct, x.dtype, x.aval.weak_type),)


@convert_element_type_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    return convert_element_type_p.bind(args[0], **params), in_dims[0]


@convert_element_type_p.lower
def _(b: Any, x: Any, *, new_dtype: Any, weak_type: bool) -> Any:
    return b.convert(x, new_dtype)


# real: here because conversions from complex use it -----------------------------------------------

real_p = Primitive(
    "real",
    family=IDENTITY,
    fusion=Fusion.SEPARATE,
    cost=1,
    rounds=True,
    multilinear=True,
    exact=True,
)

real_p.samples = [
    Sample(c64(3)),
    Sample(c64(2, 3)),
]


@real_p.abstract
def _(x: ShapedArray) -> ShapedArray:
    if not dtype_predicates.is_complex(x.dtype):
        raise ArgumentError.about("real", "x", x, "an array of complex numbers")
    return intern_aval(x.shape, dtype_predicates.real_part_dtype(x.dtype), x.weak_type, None)


@real_p.reference
def _(x: np.ndarray) -> np.ndarray:
    return np.real(x).copy()


linear_rules(real_p)


@real_p.transpose
def _(ct: Any, x: Any) -> tuple:
    return (convert(ct, x.dtype),)


@real_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    return real_p.bind(args[0]), in_dims[0]


@real_p.lower
def _(b: Any, x: Any) -> Any:
    return b.op("real", [x], x.aval.with_dtype(dtype_predicates.real_part_dtype(x.aval.dtype)))


# shared by rules of other families ----------------------------------------------------------------


def unbroadcast(ct: Any, aval: Any) -> Any:
    """Sum `ct` down to the shape of `aval`, which was broadcast (scalar, or sizes 1) to that of `ct`."""
    have, target = aval_of(ct).shape, aval.shape
    if dims.same_shape(have, target):  # sums over sizes that turn out to be 1 are right, too
        return ct
    if not target:
        return reduce_sum(ct, range(len(have)))
    axes = [
        i
        for i, (h, w) in enumerate(zip(have, target, strict=True))
        if dims.same(w, 1) and not dims.same(h, 1)
    ]
    return reshape(reduce_sum(ct, axes), target)


__all__ = [
    "Linear",
    "batch_reduction",
    "broadcast",
    "broadcast_in_dim",
    "broadcast_in_dim_p",
    "convert",
    "convert_element_type",
    "convert_element_type_p",
    "expand_dims",
    "full_of",
    "instantiate",
    "is_linear",
    "linear_rules",
    "moveaxis",
    "real_p",
    "reduce_sum",
    "reduce_sum_p",
    "reduced_shape",
    "reshape",
    "reshape_p",
    "squeeze",
    "squeeze_p",
    "transpose",
    "transpose_p",
    "unbroadcast",
    "zeros_of",
]
