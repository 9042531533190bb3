"""Define sorting and top-k selection."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE, Pass
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, f32, i32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives import gathering, packed_sort
from sagax._src.primitives import structural as s
from sagax._src.primitives.arithmetic import neg
from sagax._src.primitives.shaping import broadcasted_iota, rev
from sagax._src.primitives.slicing import slice_in_dim

sort_p = Primitive(
    "sort", family=WHOLE, rounds=False, creates_nan=False, host_cost=4, rewritten_by=Pass.SORTS, multiple_results=True, exact=True,
    samples=[
        Sample(f32(5, unique=True), dimension=0, is_stable=True, num_keys=1),
        Sample(f32(3, 4, unique=True), i32(3, 4), dimension=1, is_stable=True, num_keys=1),
        Sample(i32(6), f32(6), dimension=0, is_stable=True, num_keys=2, derivatives=False),
        Sample(boolean(5), dimension=0, is_stable=True, num_keys=1),
    ],
)  # fmt: skip


@sort_p.abstract
def _(*avals: ShapedArray, dimension: int, is_stable: bool, num_keys: int) -> list:
    for i, a in enumerate(avals):
        if not dims.same_shape(a.shape, avals[0].shape):
            raise ShapeError.about(
                "sort", f"operands[{i}]", a, f"the shape of operands[0], {avals[0].shape}"
            )
        if dtypes.is_extended(a.dtype):
            raise DtypeError(
                function="sort",
                argument=f"operands[{i}]",
                got=a,
                expected="numbers or booleans",
                fix="sort the numbers of PRNG keys, random.key_data(keys), or positions, and index with these",
            )
    return list(avals)


def _key(x: np.ndarray) -> list[np.ndarray]:
    """Return keys for NumPy's sort, most significant first, with equal signed zeros and NaN last."""
    if x.dtype.kind == "c":
        return [*_key(np.real(x)), *_key(np.imag(x))]
    if dtype_predicates.is_floating(x.dtype):
        wide = x.astype(np.float64) if x.dtype.itemsize < 8 else x
        return [wide + 0.0]
    return [x.astype(np.int16) if x.dtype.type.__module__ == "ml_dtypes" else x]


def _comparisons(operands: Any, results: Any, params: dict) -> float:
    size = results[0].size
    return size * max(math.log2(max(size, 2)), 1)


sort_p.cost = _comparisons


@sort_p.shard
def _(call: Any) -> list:
    return call.along("dimension", what="sorted")


@sort_p.reference
def _(*xs: np.ndarray, dimension: int, is_stable: bool, num_keys: int) -> list:
    if xs[0].ndim == 0:
        return list(xs)
    keys = [k for x in xs[:num_keys] for k in _key(x)]
    order = np.lexsort(keys[::-1], axis=dimension)
    return [np.take_along_axis(x, order, dimension) for x in xs]


def _is_empty(x: Any) -> bool:
    return any(dims.same(size, 0) for size in aval_of(x).shape)


def take_along(x: Any, order: Any, axis: int) -> Any:
    """Take `x` along `axis` in the given order (indices within `axis`)."""
    ndim = aval_of(x).ndim
    batch = tuple(i for i in range(ndim) if i != axis)
    numbers = gathering.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
    )
    return gathering.gather(
        x,
        s.expand_dims(order, (ndim,)),
        numbers,
        (1,) * ndim,
        mode=gathering.GatherScatterMode.PROMISE_IN_BOUNDS,
    )


@sort_p.jvp
def _(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> tuple:
    params = {"dimension": dimension, "is_stable": is_stable, "num_keys": num_keys}
    if all(is_zero(t) for t in tangents):
        outs = sort_p.bind(*primals, **params)
        return outs, [Zero.like(aval_of(o)) for o in outs]
    # sort indices too: they give the source of each element of the result
    positions = broadcasted_iota(np.int32, aval_of(primals[0]).shape, dimension)
    *outs, order = sort_p.bind(*primals, positions, **params)
    moved = [
        Zero.like(aval_of(o)) if is_zero(t) or _is_empty(o) else take_along(t, order, dimension)
        for o, t in zip(outs, tangents, strict=True)
    ]  # fmt: skip
    return outs, moved


@sort_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, dimension: int, **params: Any
) -> tuple:
    xs = [
        s.moveaxis(x, d, 0) if d is not None else s.broadcast(x, (axis.size,))
        for x, d in zip(args, in_dims, strict=True)
    ]
    return sort_p.bind(*xs, dimension=dimension + 1, **params), [0] * len(xs)


@sort_p.lower
def _(b: Any, *xs: Any, dimension: int, is_stable: bool, num_keys: int) -> list:
    avals = [x.aval for x in xs]
    if b.may_rewrite and packed_sort.is_packable(
        avals, dimension, num_keys, tuning.PACKED_SORT_MIN_ELEMENTS
    ):
        jaxpr, consts = stage(functools.partial(_packed, dimension=dimension), avals)
        return b.inline(jaxpr, list(xs), [b.constant(c) for c in consts])
    if len(xs) == 1 and is_sorted_by_numpy(avals[0], b.module.least_host_sort):
        return b.callback(_numpy_sort(dimension), xs, b.outs, has_side_effect=False)
    scalars = [x.aval.update(shape=(), weak_type=False) for x in xs for _ in range(2)]

    def before(*pairs: Any) -> list:
        keys = [
            (p, q)
            for i in range(num_keys)
            for p, q in _comparable(b, pairs[2 * i], pairs[2 * i + 1])
        ]
        result = None
        for p, q in reversed(keys):
            less = b.compare("LT", p, q, total_order=True)
            if result is None:
                result = less
            else:
                equal = b.op("and", [b.compare("EQ", p, q, total_order=True), result], less.aval)
                result = b.op("or", [less, equal], less.aval)
        return [result]

    body = b.region(scalars, before)
    return b.op(
        "sort",
        list(xs),
        list(b.outs),
        regions=[body],
        dimension=f"{dimension} : i64",
        is_stable="true" if is_stable else "false",
    )


def is_sorted_by_numpy(x: ShapedArray, least: int | None) -> bool:
    """Return whether NumPy sorts these integers, if it sorts arrays of at least so many elements.

    Equal integers are alike, so that its order is that of a stable sort.
    """
    return (
        least is not None
        and dims.is_static(x.shape)
        and x.size >= least
        and dtype_predicates.is_integer(x.dtype)
        and dtypes.itemsize_bits(x.dtype) >= 16
    )


def _numpy_sort(dimension: int) -> Callable[..., tuple]:
    """Return the function that XLA calls to sort along a dimension."""

    def sort(x: np.ndarray) -> tuple:
        return (np.sort(x, axis=dimension),)

    return sort


def _packed(*xs: Any, dimension: int) -> list:
    """Sort by packed keys, and bring all arrays into their order."""
    order = packed_order(xs[0], dimension)
    return [take_along(x, order, dimension) for x in xs]


def packed_order(key: Any, dimension: int) -> Any:
    """Return the stable order of `key` along a dimension, as int32, by one sort of integers."""
    words = packed_sort.with_positions(key, dimension)
    (found,) = sort_p.bind(words, dimension=dimension, is_stable=True, num_keys=1)
    return packed_sort.positions(found)


def _comparable(b: Any, p: Any, q: Any) -> list:
    """Return pairs of scalars in a total order for sorting: one zero, one NaN, after all numbers."""
    dtype = p.aval.dtype
    if dtype_predicates.is_complex(dtype):
        part = p.aval.with_dtype(dtype_predicates.real_part_dtype(dtype))
        return [
            pair
            for how in ("real", "imag")
            for pair in _comparable(b, b.op(how, [p], part), b.op(how, [q], part))
        ]
    if not dtype_predicates.is_floating(dtype):
        return [(p, q)]
    zero, nan = b.constant(0, dtype), b.constant(np.nan, dtype)
    fixed = []
    for v in (p, q):
        v = b.select(b.compare("EQ", v, zero), zero, v)
        fixed.append(b.select(b.compare("NE", v, v), nan, v))
    return [tuple(fixed)]


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort `operand` along `dimension`; of several arrays the first `num_keys` determine the order of all.

    NaN comes last, zeros of both signs are equal, complex numbers are ordered by real part first.

    >>> lax.sort(np.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    if isinstance(operand, (tuple, list)):
        if not operand:
            raise ArgumentError(
                "Sort requires at least one operand",
                function="sort",
                argument="operand",
                got=operand,
            )
        num_keys = checks.integer("sort", "num_keys", num_keys)
        if not 1 <= num_keys <= len(operand):
            raise ArgumentValueError(
                function="sort",
                argument="num_keys",
                got=num_keys,
                expected=f"a number from 1 to {len(operand)}, the number of operands",
            )
        dimension = canonical_axis(dimension, aval_of(operand[0]).ndim, "sort", "dimension")
        return tuple(
            sort_p.bind(*operand, dimension=dimension, is_stable=bool(is_stable), num_keys=num_keys)
        )
    dimension = canonical_axis(dimension, aval_of(operand).ndim, "sort", "dimension")
    return sort_p.bind(operand, dimension=dimension, is_stable=bool(is_stable), num_keys=1)[0]


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """Sort `keys` along `dimension`, and permute `values` likewise.

    >>> lax.sort_key_val(np.array([2, 1]), np.array([5, 6]))[1]
    Array([6, 5], dtype=int32)
    """
    return sort((keys, values), dimension, is_stable, 1)


top_k_p = Primitive(
    "top_k", family=WHOLE, creates_nan=False, multiple_results=True,
    samples=[Sample(f32(5, unique=True), k=2, axis=0, is_stable=True), Sample(f32(2, 6, unique=True), k=3, axis=1, is_stable=True),
             Sample(i32(4), k=4, axis=0, is_stable=True)],
)  # fmt: skip


@top_k_p.abstract
def _(x: ShapedArray, *, k: Any, axis: int, is_stable: bool) -> list:
    if not (
        dtype_predicates.is_floating(x.dtype)
        or dtype_predicates.is_integer(x.dtype)
        or x.dtype == np.bool_
    ):
        raise DtypeError.about("top_k", "operand", x, "real numbers")
    size = x.shape[axis]
    if not dims.is_dim(size) and not dims.is_dim(k) and k > size:
        raise ArgumentValueError(
            f"k argument to top_k must be no larger than size along axis; got k={k} with shape={x.shape} and axis={axis}", function="top_k",
            argument="k", got=k, expected=f"at most {size}, the size of axis {axis}",
        )  # fmt: skip
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [
        intern_aval(shape, x.dtype, x.weak_type, None),
        intern_aval(shape, dtypes.int32, x.weak_type, None),
    ]


@top_k_p.shard
def _(call: Any) -> list:
    return call.along("axis", what="searched")


@top_k_p.reference
def _(x: np.ndarray, *, k: int, axis: int, is_stable: bool) -> list:
    keys = _key(x)[0]
    flipped = (
        np.where(np.isnan(keys), -np.inf, -keys) if dtype_predicates.is_floating(x.dtype) else ~keys
    )
    order = np.argsort(flipped, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis)
    return [np.take_along_axis(x, order, axis), order.astype(np.int32)]


@top_k_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, **params: Any) -> tuple:
    (x,), (t,) = primals, tangents
    values, order = top_k_p.bind(x, axis=axis, **params)
    still = is_zero(t) or _is_empty(values)
    tangent = Zero.like(aval_of(values)) if still else take_along(t, order, axis)
    return [values, order], [tangent, Zero.like(aval_of(order))]


@top_k_p.batch
def _(
    axis_: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis: int, **params: Any
) -> tuple:
    d = in_dims[0]
    return top_k_p.bind(args[0], axis=axis + (axis >= d), **params), [d, d]


@top_k_p.lower
def _(b: Any, x: Any, *, k: int, axis: int, is_stable: bool) -> list:
    if dims.is_dim(k):
        jaxpr, _consts = stage(functools.partial(_sorted_top, k=k, axis=axis), [x.aval])
        return b.inline(jaxpr, [x])
    last = x.aval.ndim - 1
    if axis != last:
        order = [i for i in range(x.aval.ndim) if i != axis] + [axis]
        x = b.transpose(x, order)
    shape = (*x.aval.shape[:-1], k)
    outs = b.op(
        "chlo.top_k",
        [x],
        [x.aval.update(shape=shape), intern_aval(shape, dtypes.int32, False, None)],
        k=f"{k} : i64",
    )
    if axis != last:
        back = list(range(last))
        back.insert(axis, last)
        outs = [b.transpose(o, back) for o in outs]
    return outs


def _sorted_top(x: Any, *, k: Any, axis: int) -> list:
    """Sort all elements, for a symbolic `k`. Reversed before and after, equal elements keep their order and
    NaN comes first."""
    indices = broadcasted_iota(dtypes.int32, x.aval.shape, axis)
    turned = [rev(v, (axis,)) for v in (x, indices)]
    found = sort_p.bind(*turned, dimension=axis, is_stable=True, num_keys=1)
    return [slice_in_dim(rev(v, (axis,)), 0, k, axis=axis) for v in found]


def top_k(operand: Any, k: int, *, axis: int = -1, is_stable: bool = True) -> list[Any]:
    """Return the `k` greatest elements along `axis`, in descending order, and their indices (int32), in a list.

    The first of equal elements counts as greater; NaN counts as greatest.

    >>> lax.top_k(np.array([1, 3, 2]), 2)
    [Array([3, 2], dtype=int32), Array([1, 2], dtype=int32)]
    """
    aval = aval_of(operand)
    if aval.ndim == 0:
        raise ShapeError(
            "top_k operand must have >= 1 dimension",
            function="top_k",
            argument="operand",
            got=operand,
        )
    if not dims.is_dim(k):
        k = checks.integer("top_k", "k", k)
        if k < 0:
            raise ArgumentValueError(
                f"k argument to top_k must be nonnegative, got {k}",
                function="top_k",
                argument="k",
                got=k,
                expected="an int of at least 0",
            )
    axis = canonical_axis(axis, aval.ndim, "top_k")
    if not dims.is_dim(aval.shape[axis]) and aval.shape[axis] > 1 << 31:
        raise ArgumentValueError.about(
            "top_k", "operand", operand, "at most 2**31 elements along the axis: indices are int32"
        )
    return top_k_p.bind(operand, k=k, axis=axis, is_stable=bool(is_stable))


# approx_top_k -------------------------------------------------------------------------------------

_APPROXIMATELY: dict[str, Any] = {"recall_target": 0.95, "reduction_input_size_override": -1}

approx_top_k_p = Primitive(
    "approx_top_k", family=WHOLE, creates_nan=False, multiple_results=True,
    samples=[
        Sample(f32(7, unique=True), k=3, reduction_dimension=0, is_max_k=True, aggregate_to_topk=True, **_APPROXIMATELY),
        Sample(f32(2, 5, unique=True), k=2, reduction_dimension=-1, is_max_k=False, aggregate_to_topk=True, **_APPROXIMATELY),
        Sample(f32(4, 2, unique=True), k=2, reduction_dimension=0, is_max_k=False, aggregate_to_topk=False, **_APPROXIMATELY),
    ],
)  # fmt: skip


@approx_top_k_p.shard
def _(call: Any) -> list:
    return call.along("reduction_dimension", what="searched")


@approx_top_k_p.composite
def _(
    x: Any,
    *,
    k: int,
    reduction_dimension: int,
    recall_target: float,
    is_max_k: bool,
    reduction_input_size_override: int,
    aggregate_to_topk: bool,
) -> list:
    # The supported devices have no faster approximation: this is exact. Without aggregation the result has the
    # elements of all blocks, and here each element is a block.
    axis = reduction_dimension % aval_of(x).ndim
    count = k if aggregate_to_topk else aval_of(x).shape[axis]
    values, indices = top_k_p.bind(x if is_max_k else neg(x), k=count, axis=axis, is_stable=True)
    return [values if is_max_k else neg(values), indices]


@approx_top_k_p.shard
def _(call: Any) -> list:
    return call.along("reduction_dimension", what="searched")


@approx_top_k_p.reference
def _(
    x: np.ndarray,
    *,
    k: int,
    reduction_dimension: int,
    is_max_k: bool,
    aggregate_to_topk: bool,
    **_: Any,
) -> list:
    axis = reduction_dimension % x.ndim
    count = k if aggregate_to_topk else x.shape[axis]
    rule = top_k_p.rule("reference")
    values, indices = rule(x if is_max_k else -x, k=count, axis=axis, is_stable=True)
    return [values if is_max_k else -values, indices]


@approx_top_k_p.shard
def _(call: Any) -> list:
    return call.along("reduction_dimension", what="searched")


@approx_top_k_p.abstract
def _(
    x: ShapedArray,
    *,
    k: int,
    reduction_dimension: int,
    aggregate_to_topk: bool,
    **_: Any,
) -> list:
    axis = reduction_dimension % x.ndim
    count = k if aggregate_to_topk else x.shape[axis]
    return top_k_p.abstract_eval((x,), {"k": count, "axis": axis, "is_stable": True})


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Any]:
    """Return about the `k` greatest elements along a dimension, and their indices (int32), in a list.

    On CPU and GPU the result is exact, regardless of `recall_target` (a fraction from 0 to 1) and
    `reduction_input_size_override`. With `aggregate_to_topk=False` there are more than `k` results: here all
    elements, in descending order.

    Raises ArgumentValueError for operands that are not floating point, and for a `k` that is not from 1 to the
    size of the dimension.

    >>> lax.approx_max_k(np.array([1.0, 3.0, 2.0], np.float32), 2)[1]
    Array([1, 2], dtype=int32)
    """
    return _approx_k("approx_max_k", operand, k, reduction_dimension, recall_target, True, reduction_input_size_override, aggregate_to_topk)  # fmt: skip


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Any]:
    """Return about the `k` least elements along a dimension, and their indices (int32), in a list.

    Arguments and errors are those of `approx_max_k`; the elements come in ascending order.

    >>> lax.approx_min_k(np.array([1.0, 3.0, 2.0], np.float32), 2)[1]
    Array([0, 2], dtype=int32)
    """
    return _approx_k("approx_min_k", operand, k, reduction_dimension, recall_target, False, reduction_input_size_override, aggregate_to_topk)  # fmt: skip


def _approx_k(
    function: str,
    operand: Any,
    k: int,
    dimension: int,
    recall: float,
    is_max: bool,
    override: int,
    aggregate: bool,
) -> list[Any]:
    aval = aval_of(operand)
    if aval.ndim == 0:
        raise ShapeError(
            f"{function} operand must have >= 1 dimension, got ()",
            function=function,
            argument="operand",
            got=operand,
        )
    if not dtype_predicates.is_floating(aval.dtype):
        raise ArgumentValueError(
            "operand must be a floating type",
            function=function,
            argument="operand",
            got=aval,
            expected="floating point numbers",
            fix="top_k takes integers too",
        )
    size = aval.shape[canonical_axis(dimension, aval.ndim, function, "reduction_dimension")]
    k = checks.integer(function, "k", k)
    if not dims.is_dim(size) and not 1 <= k <= size:
        raise ArgumentValueError(
            f"k must be positive, got {k}"
            if k < 1
            else f"k must be smaller than the size of reduction_dim {size}, got {k}",
            function=function,
            argument="k",
            got=k,
            expected=f"an int from 1 to {size}",
        )
    if not 0 < recall <= 1:
        raise ArgumentValueError.about(
            function, "recall_target", recall, "a fraction above 0, up to 1"
        )
    return approx_top_k_p.bind(
        operand,
        k=k,
        reduction_dimension=dimension,
        recall_target=recall,
        is_max_k=is_max,
        reduction_input_size_override=override,
        aggregate_to_topk=bool(aggregate),
    )
