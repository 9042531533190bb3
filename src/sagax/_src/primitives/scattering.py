"""Define scatters, which combine updates with an array at computed indices; and gather's transpose.

A scatter is the inverse of a gather, and has the same dimension numbers under other names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE
from sagax._src.core.jaxpr import Jaxpr, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f32, i32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, SagaxError, ShapeError
from sagax._src.primitives import arithmetic as ar
from sagax._src.primitives.bitwise import bitwise_or
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.gathering import (
    GatherDimensionNumbers,
    GatherScatterMode,
    gather_p,
    last_starts,
    signed_indices,
    wide_indices,
)
from sagax._src.primitives.index_rules import scatter_indices, shard_scatter
from sagax._src.primitives.makers import exact_unless_complex, scalar_like
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import full, iota, same_dtypes
from sagax._src.primitives.structural import (
    broadcast,
    convert,
    full_of,
    instantiate,
    moveaxis,
    reshape,
    zeros_of,
)


class _Fields(NamedTuple):
    update_window_dims: Sequence[int]
    inserted_window_dims: Sequence[int]
    scatter_dims_to_operand_dims: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    scatter_indices_batching_dims: Sequence[int] = ()


class ScatterDimensionNumbers(_Fields):
    """Describe the dimensions of operand, indices and updates of a scatter.

    The last dimension of the indices holds index vectors; its entry k indexes dimension
    `scatter_dims_to_operand_dims[k]` of the operand. A window of the operand starts at each vector, and is
    combined with a window of the updates. Its dimensions are `update_window_dims`, in order, and those of the
    operand's window without `inserted_window_dims` (of size 1). The other dimensions of the updates are those of
    the indices without the last. Dimension `operand_batching_dims[i]` of the operand is a batch dimension with
    `scatter_indices_batching_dims[i]` of the indices.

    >>> rows = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    >>> rows.update_window_dims
    (1,)
    """

    __slots__ = ()

    def __new__(
        cls,
        update_window_dims: Iterable[int],
        inserted_window_dims: Iterable[int],
        scatter_dims_to_operand_dims: Iterable[int],
        operand_batching_dims: Iterable[int] = (),
        scatter_indices_batching_dims: Iterable[int] = (),
    ) -> ScatterDimensionNumbers:
        fields = (
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            operand_batching_dims,
            scatter_indices_batching_dims,
        )
        return super().__new__(cls, *[tuple(map(int, f)) for f in fields])

    @property
    def gather(self) -> GatherDimensionNumbers:
        """Return the numbers of the gather that reads what this scatter writes."""
        return GatherDimensionNumbers(*self)

    def window(self, ndim: int, updates: tuple) -> tuple:
        """Return the sizes of a window in an operand with `ndim` dimensions, given the updates' shape."""
        sizes: list[Any] = [1] * ndim
        for d, dim in zip(self.gather.window_dims(ndim), self.update_window_dims):
            sizes[d] = updates[dim]
        return tuple(sizes)

    def batched(self, indices: bool) -> ScatterDimensionNumbers:
        """Return the numbers with a new leading dimension of operand and updates, maybe of the indices."""
        return ScatterDimensionNumbers(*self.gather.batched(True, indices))

    def text(self, vector_dim: int, first_extra: int, extra: int) -> str:
        """Format the attribute of a StableHLO scatter.

        `vector_dim` is the last dimension of the indices; the updates have `extra` more dimensions
        from `first_extra` on, those of an extended dtype.
        """
        window = [*self.update_window_dims, *range(first_extra, first_extra + extra)]
        return (
            f"#stablehlo.scatter<update_window_dims = {window}, "
            f"inserted_window_dims = {list(self.inserted_window_dims)}, "
            f"input_batching_dims = {list(self.operand_batching_dims)}, "
            f"scatter_indices_batching_dims = {list(self.scatter_indices_batching_dims)}, "
            f"scatter_dims_to_operand_dims = {list(self.scatter_dims_to_operand_dims)}, "
            f"index_vector_dim = {vector_dim}>"
        )


def _numbers_of(numbers: Any) -> ScatterDimensionNumbers:
    """Return the dimension numbers, converted from an object with the same fields if necessary."""
    if type(numbers) is ScatterDimensionNumbers:
        return numbers
    return ScatterDimensionNumbers(*numbers)


# The transpose of gather --------------------------------------------------------------------------


@gather_p.transpose
def _(
    ct: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    unique_indices: bool,
    indices_are_sorted: bool,
    mode: GatherScatterMode,
    **_: Any,
) -> tuple:
    ct_x = scatter_add_p.bind(
        zeros_of(x.aval),
        indices,
        ct,
        dimension_numbers=_numbers_of(dimension_numbers),
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        update_jaxpr=combination("add", x.dtype),
        update_consts=(),
    )
    return ct_x, None


# Shared rules of scatters ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def combination(name: str, dtype: Any) -> Jaxpr:
    """Return the jaxpr of a primitive of arithmetic on two scalars of `dtype`."""
    scalar = intern_aval((), dtype, False, None)
    primitive = getattr(ar, name + "_p")
    jaxpr, _ = stage(lambda x, y: [primitive.bind(x, y)], [scalar, scalar])
    return jaxpr


def _scatter_primitive(
    name: str, combine: Callable | None, *, linear: bool = False, exact: Any = False, **answers: Any
) -> Primitive:
    """Define a scatter that combines by the NumPy ufunc `combine` (None: the update replaces)."""
    p = Primitive(
        name,
        multilinear=linear,
        exact=exact,
        family=WHOLE,
        shard_rule=shard_scatter,
        **{"index_rule": scatter_indices, **answers},
    )
    p.keeps_memory_space = True
    function = name.replace("-", "_")

    @p.abstract
    def _(
        x: ShapedArray,
        indices: ShapedArray,
        updates: ShapedArray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        **_: Any,
    ) -> ShapedArray:
        same_dtypes(function, [x, updates])
        _check(function, x, indices, updates, dimension_numbers)
        return x.strip_weak_type() if x.weak_type and not updates.weak_type else x

    @p.show
    def _(*, dimension_numbers: ScatterDimensionNumbers, **params: Any) -> dict:
        return {"dimension_numbers": str(dimension_numbers), **params}

    @p.reference
    def _(
        x: np.ndarray,
        indices: np.ndarray,
        updates: np.ndarray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        mode: GatherScatterMode,
        **_: Any,
    ) -> np.ndarray:
        index = _index_along_axis(x.shape, indices, updates.shape, dimension_numbers, mode)
        out = x.copy()
        if index is None:
            out = out.reshape(-1)
            index, updates = _flat_updates(x.shape, indices, updates, dimension_numbers, mode)
        if combine is None:
            out[index] = updates
        else:
            combine.at(out, index, updates)
        return out.reshape(x.shape)

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        return _batch(p, axis, args, in_dims, params)

    @p.lower
    def _(b: Any, *operands: Any, **params: Any) -> Any:
        return _lower(b, *operands, **params)

    return p


def _check(
    function: str, x: Any, indices: Any, updates: Any, numbers: ScatterDimensionNumbers
) -> None:
    """Raise unless the updates fit the operand, the indices and the dimension numbers."""
    if updates.ndim != len(numbers.update_window_dims) + max(indices.ndim - 1, 0):
        raise ShapeError(
            f"the updates have {updates.ndim} dimensions",
            function=function,
            argument="updates",
            got=updates,
            expected=f"{len(numbers.update_window_dims)} dimensions of windows, and one for each "
            f"dimension of the indices (shape {indices.shape}) but the last",
        )
    gather = numbers.gather
    gather.check(function, x, indices)
    for size, dim in zip(indices.shape[:-1], gather.batch_dims(updates.ndim)):
        if not dims.same(size, updates.shape[dim]):
            raise ShapeError(
                f"dimension {dim} of the updates has size {updates.shape[dim]}, the dimension "
                f"of the indices that it goes along with has size {size}",
                function=function,
                got=f"updates of shape {updates.shape} and indices of shape {indices.shape}",
                expected="equal sizes",
            )
    windowed = gather.window_dims(x.ndim)
    for d, (size, whole) in enumerate(zip(numbers.window(x.ndim, updates.shape), x.shape)):
        if not dims.same(size, whole) and size > whole and d in windowed:
            raise ShapeError(
                f"a window of size {size} does not fit into dimension {d} of the operand, of size "
                f"{whole}",
                function=function,
                got=f"updates of shape {updates.shape} and an operand of shape {x.shape}",
                expected="windows no larger than the operand",
            )


def _index_along_axis(
    shape: tuple, indices: np.ndarray, updates: tuple, numbers: Any, mode: Any
) -> tuple | None:
    """Return the NumPy index of a scatter that replaces whole slices along one axis, all in bounds."""
    axis = numbers.gather.taken_axis(shape, indices.ndim, numbers.window(len(shape), updates))
    if axis is None:
        return None
    starts = signed_indices(indices[..., 0])
    if mode is GatherScatterMode.CLIP:
        starts = np.clip(starts, 0, shape[axis] - 1)
    elif ((starts < 0) | (starts >= shape[axis])).any():
        return None
    return (*(slice(None),) * axis, starts)


def _flat_updates(
    shape: tuple, indices: np.ndarray, updates: np.ndarray, numbers: Any, mode: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return flat indices into the operand, and their updates, in the order of the index vectors.

    Windows out of bounds are dropped.
    """
    gather = numbers.gather
    window = numbers.window(len(shape), updates.shape)
    starts = gather.starts(indices, len(shape))
    clipped = np.clip(starts, 0, np.subtract(shape, window))
    inside = np.all((starts == clipped) | (mode is GatherScatterMode.CLIP), axis=-1)
    # index vectors first, window dimensions after them
    batch = gather.batch_dims(updates.ndim)
    updates = np.transpose(updates, (*batch, *gather.offset_dims))
    behind = gather._replace(offset_dims=tuple(range(len(batch), updates.ndim)))
    where = np.zeros(updates.shape, np.int64)
    for d, position in enumerate(behind.positions(clipped, window)):
        where = where * shape[d] + position
    return where[inside].reshape(-1), updates[inside].reshape(-1)


def _batch(
    p: Primitive, axis: Any, args: Sequence[Any], in_dims: Sequence[Any], params: dict
) -> tuple:
    """Batch a scatter: by a window over all examples, or by a batching dimension."""
    x, indices, updates = args
    d, e, u = in_dims
    x = broadcast(x, (axis.size,)) if d is None else moveaxis(x, d, 0)
    updates = broadcast(updates, (axis.size,)) if u is None else moveaxis(updates, u, 0)
    params["dimension_numbers"] = params["dimension_numbers"].batched(e is not None)
    return p.bind(x, moveaxis(indices, e, 0), updates, **params), 0


def _lower(
    b: Any,
    x: Any,
    indices: Any,
    updates: Any,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    update_jaxpr: Jaxpr | None,
    update_consts: tuple,
) -> Any:
    index_map = dimension_numbers.scatter_dims_to_operand_dims
    if not index_map:
        # XLA confuses several updates without indices with one of the operand's shape
        return _lower_without_index(b, x, indices, updates, dimension_numbers, update_jaxpr)
    indices = wide_indices(b, indices)
    if mode is GatherScatterMode.CLIP and index_map:
        window = dimension_numbers.window(x.ndim, updates.shape)
        last = last_starts(b, indices, tuple([x.shape[d] - window[d] for d in index_map]))
        indices = b.op("clamp", [b.full_like(indices, 0), indices, last], indices.aval)
    return _lower_scatter(
        b,
        [x, indices, updates],
        dimension_numbers,
        update_jaxpr,
        indices_are_sorted="true" if indices_are_sorted else "false",
        unique_indices="true" if unique_indices else "false",
    )


def _lower_without_index(
    b: Any, x: Any, indices: Any, updates: Any, numbers: Any, update: Any
) -> Any:
    """Lower a scatter whose windows all start at 0 to one into an operand with a new first dimension."""
    gather = numbers.gather.batched(True, False)
    indices = b.full(0, intern_aval((*indices.shape[:-1], 1), np.dtype(np.int32), False, None))
    out = _lower_scatter(
        b,
        [b.reshape(x, (1, *x.shape)), indices, updates],
        ScatterDimensionNumbers(
            numbers.update_window_dims,
            (0, *gather.collapsed_slice_dims),
            (0,),
            gather.operand_batching_dims,
            numbers.scatter_indices_batching_dims,
        ),
        update,
        indices_are_sorted="true",
        unique_indices="false",
    )
    return b.reshape(out, x.shape)


def _lower_scatter(
    b: Any, operands: Sequence[Any], numbers: Any, update_jaxpr: Jaxpr | None, **promises: str
) -> Any:
    x, indices, updates = operands
    stored = b.physical(x.aval)
    scalar = intern_aval((), stored.dtype, False, None)
    if update_jaxpr is None:
        body = b.region([scalar, scalar], lambda old, new: [new])
    else:
        body = b.region_of(update_jaxpr)
    return b.op(
        "scatter",
        operands,
        x.aval,
        regions=[body],
        scatter_dimension_numbers=numbers.text(
            indices.ndim - 1, updates.ndim, stored.ndim - x.ndim
        ),
        **promises,
    )


def _apply(
    p: Primitive,
    combine: str | None,
    operands: tuple,
    numbers: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
) -> Any:
    dtype = aval_of(operands[0]).dtype
    return p.bind(
        *operands,
        dimension_numbers=numbers
        if type(numbers) is ScatterDimensionNumbers
        else ScatterDimensionNumbers(
            *checks.several(p.name, "dimension_numbers", numbers, "ScatterDimensionNumbers")
        ),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
        update_jaxpr=None if combine is None else combination(combine, dtype),
        update_consts=(),
    )


def _public(p: Primitive, combine: str | None, summary: str, notes: str, example: str, result: str):
    """Make the public function of a primitive: `example` gives `result` for windows of one element."""

    def function(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Any:
        operands = (operand, scatter_indices, updates)
        promises = indices_are_sorted, unique_indices
        return _apply(p, combine, operands, dimension_numbers, *promises, mode)

    function.__name__ = function.__qualname__ = p.name.replace("-", "_")
    function.__doc__ = f"""{summary}

    {notes}

    >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.{function.__name__}({example}, places)
    {result}
    """
    return function


def _gather_back(x: Any, indices: Any, updates_shape: tuple, params: dict, fill: Any = 0) -> Any:
    """Gather the elements of `x` at the indices of a scatter, in the shape of its updates."""
    numbers, mode = params["dimension_numbers"], params["mode"]
    if mode is GatherScatterMode.ONE_HOT:
        mode = GatherScatterMode.PROMISE_IN_BOUNDS
    return gather_p.bind(
        x,
        indices,
        dimension_numbers=numbers.gather,
        slice_sizes=numbers.window(aval_of(x).ndim, updates_shape),
        unique_indices=params["unique_indices"],
        indices_are_sorted=params["indices_are_sorted"],
        mode=mode,
        fill_value=fill if mode is GatherScatterMode.FILL_OR_DROP else None,
    )


def _add_at(x: Any, indices: Any, updates: Any, params: dict) -> Any:
    """Apply scatter-add with the parameters of another scatter."""
    params = {**params, "update_jaxpr": combination("add", aval_of(x).dtype), "update_consts": ()}
    return scatter_add_p.bind(x, indices, updates, **params)


# scatter_add, scatter_sub: linear in operand and updates ------------------------------------------

scatter_add_p = _scatter_primitive("scatter-add", np.add, linear=True, exact=True)
scatter_sub_p = _scatter_primitive("scatter-sub", np.subtract, linear=True, exact=True)


def _without_wrapping(p: Primitive) -> Callable:
    """Return the rule that gives the sums in float64, in which integers do not wrap around."""
    compute = p.reference_rule
    assert compute is not None

    def wide(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, **params: Any) -> np.ndarray:
        return compute(x, indices.astype(np.int64), updates, **params)

    return wide


scatter_add_p.wide_rule = _without_wrapping(scatter_add_p)
scatter_sub_p.wide_rule = _without_wrapping(scatter_sub_p)


def _linear_jvp(p: Primitive) -> Callable:
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        out = p.bind(*primals, **params)
        t, _, t_updates = tangents
        zero = Zero.like(aval_of(out))
        if (is_zero(t) and is_zero(t_updates)) or zero.aval.dtype == dtypes.float0:
            return out, zero
        return out, p.bind(instantiate(t), primals[1], instantiate(t_updates), **params)

    return jvp


scatter_add_p.jvp_rule = _linear_jvp(scatter_add_p)
scatter_sub_p.jvp_rule = _linear_jvp(scatter_sub_p)


@scatter_add_p.transpose
def _(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> tuple:
    ct_updates = None
    if is_linear(updates):
        ct_updates = _gather_back(ct, indices, updates.shape, params)
    return ct if is_linear(x) else None, None, ct_updates


@scatter_sub_p.transpose
def _(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> tuple:
    ct_updates = None
    if is_linear(updates):
        ct_updates = ar.neg(_gather_back(ct, indices, updates.shape, params))
    return ct if is_linear(x) else None, None, ct_updates


scatter_add = _public(
    scatter_add_p,
    "add",
    "Add `updates` to a copy of `operand` at `scatter_indices`.",
    "Repeated indices add all their updates. `mode` handles windows out of bounds: they are dropped\n"
    "    by default. `indices_are_sorted` and `unique_indices` are promises.",
    "np.full(3, 9), np.array([[0], [2], [2]]), np.array([5, 6, 7])",
    "Array([14,  9, 22], dtype=int32)",
)


scatter_sub = _public(
    scatter_sub_p,
    "sub",
    "Subtract `updates` from a copy of `operand` at `scatter_indices`.",
    "See `scatter_add`.",
    "np.full(3, 9), np.array([[0], [2]]), np.array([5, 6])",
    "Array([4, 9, 3], dtype=int32)",
)


# scatter_mul --------------------------------------------------------------------------------------

scatter_mul_p = _scatter_primitive(
    "scatter-mul", np.multiply, linear=True, exact=exact_unless_complex
)


class NotUniqueError(SagaxError, NotImplementedError):
    """A derivative requires unique indices."""

    code = "SX0122"


@scatter_mul_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    x, indices, updates = primals
    t, _, t_updates = tangents
    out = scatter_mul_p.bind(x, indices, updates, **params)
    total = Zero.like(aval_of(out))
    if total.aval.dtype == dtypes.float0:
        return out, total
    if not is_zero(t):
        total = scatter_mul_p.bind(t, indices, updates, **params)
    if not is_zero(t_updates):
        if not params["unique_indices"]:
            raise NotUniqueError(
                "scatter_mul gradients are only implemented if `unique_indices=True`",
                function="scatter_mul",
                fix="pass unique_indices=True if no two index vectors name the same place",
            )
        added = _add_at(zeros_of(aval_of(x)), indices, t_updates, params)
        part = ar.mul(x, added)
        total = part if is_zero(total) else ar.add(total, part)
    return out, total


@scatter_mul_p.transpose
def _(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> tuple:
    return scatter_mul_p.bind(ct, indices, updates, **params), None, None


scatter_mul = _public(
    scatter_mul_p,
    "mul",
    "Multiply a copy of `operand` by `updates` at `scatter_indices`.",
    "See `scatter_add`. The derivative with respect to the updates needs `unique_indices`.",
    "np.full(3, 2), np.array([[0], [2], [2]]), np.array([5, 6, 7])",
    "Array([10,  2, 84], dtype=int32)",
)


# scatter_min, scatter_max -------------------------------------------------------------------------


def _integers(avals: tuple) -> bool:
    return dtype_predicates.is_integer(avals[0].dtype)


scatter_min_p = _scatter_primitive("scatter-min", np.minimum, exact=_integers)
scatter_max_p = _scatter_primitive("scatter-max", np.maximum, exact=_integers)


def _extremal_jvp(p: Primitive) -> Callable:
    """Return as the tangent of an extremum the mean of the tangents of all that are equal to it."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        x, indices, updates = primals
        t, _, t_updates = tangents
        out = p.bind(x, indices, updates, **params)
        aval = aval_of(out)
        zero = Zero.like(aval)
        if (is_zero(t) and is_zero(t_updates)) or zero.aval.dtype == dtypes.float0:
            return out, zero
        shape = aval_of(updates).shape
        found = _gather_back(out, indices, shape, params)
        wins = convert(eq(updates, found), aval.dtype)
        nothing = zeros_of(aval.strip_weak_type())
        hits = _add_at(nothing, indices, full_of(aval_of(wins), 1), params)
        # without an update the operand is unchanged, even if it is NaN
        stays = convert(bitwise_or(eq(x, out), eq(hits, nothing)), aval.dtype)
        ties = _add_at(stays, indices, wins, params)
        none = eq(ties, nothing)
        share = select_n(none, ar.div(full_of(aval_of(ties), 1), ties), nothing)
        passed = ar.mul(instantiate(t), ar.mul(stays, share))
        if is_zero(t_updates):
            return out, passed
        won = ar.mul(t_updates, ar.mul(wins, _gather_back(share, indices, shape, params)))
        return out, _add_at(passed, indices, won, params)

    return jvp


scatter_min_p.jvp_rule = _extremal_jvp(scatter_min_p)
scatter_max_p.jvp_rule = _extremal_jvp(scatter_max_p)


scatter_min = _public(
    scatter_min_p,
    "min",
    "Take the minimum of `operand` and `updates` at `scatter_indices`.",
    "Elsewhere the operand is unchanged. NaN wins. See `scatter_add`.",
    "np.full(3, 6), np.array([[0], [2]]), np.array([5, 7])",
    "Array([5, 6, 6], dtype=int32)",
)


scatter_max = _public(
    scatter_max_p,
    "max",
    "Take the maximum of `operand` and `updates` at `scatter_indices`.",
    "Elsewhere the operand is unchanged. NaN wins. See `scatter_add`.",
    "np.full(3, 6), np.array([[0], [2]]), np.array([5, 7])",
    "Array([6, 6, 7], dtype=int32)",
)


# scatter ------------------------------------------------------------------------------------------

scatter_p = _scatter_primitive(
    "scatter", None, exact=True, rounds=False, creates_nan=False, host_cost=6, moves_keys=True
)


@scatter_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    x, indices, updates = primals
    t, _, t_updates = tangents
    zero = Zero.like(aval_of(x))
    if (is_zero(t) and is_zero(t_updates)) or zero.aval.dtype == dtypes.float0:
        return scatter_p.bind(*primals, **params), zero
    t, t_updates = instantiate(t), instantiate(t_updates)
    out = scatter_p.bind(*primals, **params)
    if params["unique_indices"]:
        return out, scatter_p.bind(t, indices, t_updates, **params)
    # One of several updates of an index wins, and which one is undefined. Scattering numbers in place of the
    # updates finds out: each element holds the number of its winner, or 0.
    aval = aval_of(updates)
    ids = reshape(ar.add(iota(np.uint32, aval.size), np.uint32(1)), aval.shape)
    winners = scatter_p.bind(full(aval_of(x).shape, np.uint32(0)), indices, ids, **params)
    untouched = eq(winners, np.uint32(0))
    wins = eq(ids, _gather_back(winners, indices, aval.shape, params))
    passed = _where(untouched, t)
    return out, _add_at(passed, indices, _where(wins, t_updates), params)


def _where(condition: Any, t: Any) -> Any:
    """Select `t` where the condition holds, else 0; linear in `t`."""
    return select_n(condition, zeros_of(aval_of(t).strip_weak_type()), t)


@scatter_p.transpose
def _(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> tuple:
    if not params["unique_indices"]:
        raise NotUniqueError(
            "scatter transpose is only implemented where unique_indices=True",
            function="scatter",
            fix="pass unique_indices=True if no two index vectors name the same place",
        )
    shape = updates.shape if is_linear(updates) else aval_of(updates).shape
    ct_x = ct_updates = None
    if is_linear(x):
        hole = zeros_of(intern_aval(shape, x.dtype, False, None))
        ct_x = scatter_p.bind(ct, indices, hole, **params)
    if is_linear(updates):
        ct_updates = _gather_back(ct, indices, shape, params)
    return ct_x, None, ct_updates


scatter = _public(
    scatter_p,
    None,
    "Write `updates` into a copy of `operand` at `scatter_indices`.",
    "For repeated indices it is undefined which update wins. `mode` handles windows out of bounds:\n"
    "    they are dropped by default. `indices_are_sorted` and `unique_indices` are promises.",
    "np.zeros(3, np.int32), np.array([[0], [2]]), np.array([5, 6])",
    "Array([5, 0, 6], dtype=int32)",
)


# scatter_apply ------------------------------------------------------------------------------------

scatter_apply_p = _scatter_primitive("scatter-apply", None, index_rule=WHOLE.answers["index_rule"])


@scatter_apply_p.reference
def _(
    x: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    update_jaxpr: Jaxpr,
    **_: Any,
) -> np.ndarray:
    where, updates = _flat_updates(x.shape, indices, updates, dimension_numbers, mode)
    out = x.reshape(-1).copy()
    for i, update in zip(where, updates):
        out[i] = eval_jaxpr(update_jaxpr, (), out[i], update)[0]
    return out.reshape(x.shape)


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Apply `func` to a copy of `operand` at `scatter_indices`.

    `func` maps a scalar to a scalar of the same dtype, and is applied once for each occurrence of an index.
    `update_shape` is the shape that an array of updates would have. There is no derivative.

    >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> where = np.array([[0], [2]])
    >>> lax.scatter_apply(np.array([1, 2, 3]), where, lax.neg, places, update_shape=(2,))
    Array([-1,  2, -3], dtype=int32)
    """
    dtype = aval_of(operand).dtype
    scalar = intern_aval((), dtype, False, None)
    checks.callable("scatter_apply", "func", func, "a function of a scalar")
    jaxpr, consts = stage(lambda x, _: [func(x)], [scalar, scalar])
    if consts:
        raise ArgumentError(
            function="scatter_apply",
            argument="func",
            got=f"a function that uses {len(consts)} other arrays: "
            + ", ".join(aval_of(c).str_short(short_dtypes=True) for c in consts),
            expected="a function of its argument and of Python or NumPy scalars only",
        )
    (out,) = jaxpr.out_avals
    if out.shape or out.dtype != dtype:
        raise ArgumentError(
            function="scatter_apply",
            argument="func",
            got=f"a function that maps {scalar.str_short(short_dtypes=True)} to {out.str_short(short_dtypes=True)}",
            expected=f"one that returns {scalar.str_short(short_dtypes=True)}",
        )
    return scatter_apply_p.bind(
        operand,
        scatter_indices,
        full(update_shape, scalar_like(0, dtype)),
        dimension_numbers=_numbers_of(dimension_numbers),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
        update_jaxpr=jaxpr,
        update_consts=(),
    )


# samples ------------------------------------------------------------------------------------------


def _samples(combine: str | None, *, unique: bool = False) -> list[Sample]:
    rows, scalars = ((1,), (0,), (0,)), ((), (0,), (0,))
    batching = ((), (2,), (2,), (0, 1), (1, 0))
    cases: list[tuple] = [
        (f32(4, 2, unique=True), np.array([[2], [0]]), f32(2, 2, unique=True), rows, 2),
        (f32(3, 2, unique=True), np.array([[1], [-1], [9]]), f32(3, 1, unique=True), rows, 2),
        (
            f32(2, 3, 4, unique=True),
            np.array([[[0], [2]], [[1], [9]], [[3], [-1]]]),
            f32(3, 2, unique=True),
            batching,
            2,
        ),
        (i32(5), np.array([[1], [3]], np.int8), i32(2), scalars, 1),
        (f32(5, unique=True), np.array([[2], [0]]), f32(2, 2, unique=True), ((0,), (), (0,)), 1),
        (f32(3), np.zeros((0, 1)), f32(0), scalars, 2),
    ]
    if not unique:
        cases += [
            (f32(4, unique=True), np.array([[1], [1], [0], [7]]), f32(4, unique=True), scalars, 1),
            (
                f32(4, unique=True),
                np.array([[1], [2]]),
                f32(2, 2, unique=True),
                ((1,), (), (0,)),
                2,
            ),
        ]
    if combine in (None, "add", "sub", "mul"):
        cases.append((c64(3), np.array([[2], [0]]), c64(2), scalars, 2))
    if combine is None:
        cases.append((boolean(3), np.array([[2], [0]]), boolean(2), scalars, 2))
    return [
        Sample(
            x,
            indices if indices.dtype == np.int8 else indices.astype(np.int32),
            updates,
            dimension_numbers=ScatterDimensionNumbers(*numbers),
            indices_are_sorted=False,
            unique_indices=unique,
            mode=GatherScatterMode(mode),
            update_jaxpr=None if combine is None else combination(combine, x.dtype),
            update_consts=(),
        )
        for x, indices, updates, numbers, mode in cases
    ]


def _apply_samples() -> list[Sample]:
    negated = stage(lambda x, _: [ar.neg(x)], [intern_aval((), np.dtype(np.float32))] * 2)[0]
    return [
        Sample(
            f32(3, 2),
            np.array([[1], [-1], [1], [2]], np.int32),
            f32(4, 2),
            derivatives=False,
            dimension_numbers=ScatterDimensionNumbers((1,), (0,), (0,)),
            indices_are_sorted=False,
            unique_indices=False,
            mode=GatherScatterMode(mode),
            update_jaxpr=negated,
            update_consts=(),
        )
        for mode in (1, 2)
    ]


# Created on first use: they contain jaxprs, and importing a module must not trace.
scatter_apply_p.samples = _apply_samples
scatter_p.samples = lambda: _samples(None) + _samples(None, unique=True)
scatter_add_p.samples = lambda: _samples("add")
scatter_sub_p.samples = lambda: _samples("sub")
scatter_mul_p.samples = lambda: _samples("mul", unique=True)
scatter_min_p.samples = lambda: _samples("min")
scatter_max_p.samples = lambda: _samples("max")
