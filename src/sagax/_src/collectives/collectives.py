"""Define collectives along a named axis of `vmap` or of a mesh: sums, exchanges, indices.

Under `vmap(..., axis_name=...)` they become reductions and rearrangements of the mapped dimension. Inside
`shard_map` and `pmap` they become communication between devices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval, no_axes
from sagax._src.core.families import OPAQUE, Fusion, operand_size
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero, is_zero, set_zero_derivative
from sagax._src.core.trace import axis_size as size_of_axis
from sagax._src.core.trace import named_axis
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives import arithmetic as ar
from sagax._src.primitives import reductions
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.mesh_axes import (
    axis_state,
    can_cast,
    cast,
    device_reduction,
    psum_p,
    vary,
)
from sagax._src.primitives.shaping import broadcasted_iota, concatenate
from sagax._src.primitives.slicing import dynamic_index_in_dim, dynamic_slice_in_dim, slice_in_dim
from sagax._src.primitives.structural import broadcast, convert, moveaxis, reduce_sum, reshape
from sagax._src.primitives.unsupported import UnsupportedError


def _names(axis_name: Any) -> tuple:
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _product_of_sizes(axes: tuple) -> Any:
    total = 1
    for name in axes:
        total *= size_of_axis(name)
    return total


Groups = tuple[tuple[int, ...], ...] | None


def _check_groups(groups: Any, axes: tuple, function: str) -> Groups:
    """Check the groups that partition the indices along the axes."""
    if groups is None:
        return None
    found = tuple([tuple([int(i) for i in g]) for g in groups])
    n = _product_of_sizes(axes)
    if sorted([i for g in found for i in g]) != list(range(n)):
        raise ArgumentValueError(
            "axis_index_groups must cover all indices exactly once",
            function=function,
            argument="axis_index_groups",
            got=groups,
            expected=f"groups that have each place from 0 to {n - 1} once",
        )
    if not all(named_axis(a).manual for a in axes):
        raise UnsupportedError(
            "axis_index_groups are not supported among the examples of a vmap",
            function=function,
            argument="axis_index_groups",
            got=groups,
            expected="None",
            fix="reshape the mapped dimension into two, with a vmap and a name for each",
        )
    if len({len(g) for g in found}) > 1:
        raise ArgumentValueError(
            "axis_index_groups must all be the same size",
            function=function,
            argument="axis_index_groups",
            got=groups,
        )
    return found


def _group_params(groups: Groups) -> dict:
    return {} if groups is None else {"groups": groups}


def _define_batch_rule(p: Primitive) -> None:
    """Define the batching rule for other axes: the operand gets a leading dimension."""

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        d = in_dims[0]
        shifted = dict(params)
        for name in _DIMENSION_PARAMS:
            if name in shifted:
                shifted[name] = shifted[name] + 1
        return p.bind(moveaxis(args[0], d, 0), **shifted), 0


_DIMENSION_PARAMS = ("all_gather_dimension", "split_axis", "concat_axis", "scatter_dimension")


# --- reductions ----------------------------------------------------------------------------------------


pmax_p = device_reduction(
    "pmax",
    "maximum",
    lambda x, d: reductions.reduce_max(x, (d,)),
    lambda x, n: x,
    creates_nan=False,
)
pmin_p = device_reduction(
    "pmin",
    "minimum",
    lambda x, d: reductions.reduce_min(x, (d,)),
    lambda x, n: x,
    creates_nan=False,
)


for _p in (pmax_p, pmin_p):

    def _extremum_jvp(
        primals: Sequence[Any], tangents: Sequence[Any], *, p: Primitive = _p, **params: Any
    ) -> tuple:
        (x,), (t,) = primals, tangents
        out = p.bind(x, **params)
        if is_zero(t):
            return out, Zero.like(aval_of(out))
        raise UnsupportedError(
            f"{p.name} has no derivative",
            function=p.name,
            fix="gather the values with all_gather and reduce them",
        )

    _p.jvp_rule = _extremum_jvp


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Sum `x` (a pytree) over the named axis, or axes; the result is the same for all examples.

    Args:
      axis_name: a name, or a tuple of names; ints among them are dimensions of the arrays to sum over.
      axis_index_groups: lists of indices along the axis (inside `shard_map` and `pmap`); each group has its own sum.

    >>> sagax.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(snp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    axes, dimensions = _split_axes(axis_name)
    total = _product_of_sizes(axes)
    groups = _check_groups(axis_index_groups, axes, "psum")

    def one(leaf: Any) -> Any:
        if isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool):
            # a multiple of the size of the axis, known statically
            return leaf * (total if groups is None else len(groups[0]))
        if aval_of(leaf).dtype == np.bool_:
            leaf = convert(leaf, dtypes.int32)
        if dimensions:
            leaf = reduce_sum(leaf, _dimensions(leaf, dimensions, "psum"))
        if not axes:
            return leaf
        aval = aval_of(leaf)
        shared = [a for a in axes if axis_state(aval, a) != "unreduced"]
        return psum_p.bind(vary(leaf, shared), axes=axes, **_group_params(groups))

    return trees.map(one, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Average `x` (a pytree) over the named axis.

    >>> sagax.vmap(lambda x: lax.pmean(x, "i"), axis_name="i", out_axes=None)(snp.array([1.0, 3.0]))
    Array(2., dtype=float32)
    """
    axes, dimensions = _split_axes(axis_name)
    groups = _check_groups(axis_index_groups, axes, "pmean")
    count = _product_of_sizes(axes) if groups is None else len(groups[0])

    def one(leaf: Any) -> Any:
        n = count
        for d in dimensions:
            n *= aval_of(leaf).shape[d]
        total = psum(leaf, axis_name, axis_index_groups=axis_index_groups)
        if not hasattr(total, "aval"):
            return total / n
        if not dtypes.is_inexact(aval_of(total).dtype):
            total = convert(total, dtypes.to_inexact(aval_of(total).dtype))
        if aval_of(total).weak_type:
            return ar.div(total, n)
        return ar.div(total, scalar_like(n, aval_of(total).dtype))

    return trees.map(one, x)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Take the maximum of `x` (a pytree) over the named axis.

    >>> int(sagax.vmap(lambda x: lax.pmax(x, "i"), axis_name="i", out_axes=None)(snp.arange(3)))
    2
    """
    return _extremum(pmax_p, x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Take the minimum of `x` (a pytree) over the named axis.

    >>> int(sagax.vmap(lambda x: lax.pmin(x, "i"), axis_name="i", out_axes=None)(snp.arange(3)))
    0
    """
    return _extremum(pmin_p, x, axis_name, axis_index_groups)


def _extremum(p: Primitive, x: Any, axis_name: Any, axis_index_groups: Any) -> Any:
    axes, dimensions = _split_axes(axis_name)
    more = _group_params(_check_groups(axis_index_groups, axes, p.name))
    reduce = reductions.reduce_max if p is pmax_p else reductions.reduce_min

    def one(leaf: Any) -> Any:
        if dimensions:
            leaf = reduce(leaf, _dimensions(leaf, dimensions, p.name))
        if not axes:
            return leaf
        leaf = vary(leaf, axes)
        if not dtypes.is_complex(aval_of(leaf).dtype):
            return p.bind(leaf, axes=axes, **more)
        return reductions.complex_extremum(
            leaf, lambda v: p.bind(v, axes=axes, **more), lambda v: v, largest=p is pmax_p
        )

    return trees.map(one, x)


def _split_axes(axis_name: Any) -> tuple[tuple, tuple[int, ...]]:
    """Split the axes of a reduction into names and dimensions."""
    names = _names(axis_name)
    dimensions = tuple([a for a in names if isinstance(a, int)])
    return tuple([a for a in names if not isinstance(a, int)]), dimensions


def _dimensions(x: Any, dimensions: tuple[int, ...], function: str) -> tuple[int, ...]:
    return tuple([canonical_axis(d, aval_of(x).ndim, function) for d in dimensions])


# --- indices -------------------------------------------------------------------------------------------

axis_index_p = Primitive("axis_index", family=OPAQUE, is_higher_order=True)
axis_index_p.sets_vma = True


@axis_index_p.abstract
def _(*, axis_name: Any, varying: bool) -> Any:
    vma = frozenset((axis_name,)) if varying else no_axes
    return intern_aval((), dtypes.int32, False, None, vma)


@axis_index_p.show
def _(*, axis_name: Any, varying: bool) -> dict:
    return {"axis_name": axis_name}


@axis_index_p.lower
def _(b: Any, *, axis_name: Any, varying: bool) -> Any:
    return b.module.manual.index(b, axis_name)


def _axis_index_collective(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis_name: Any, varying: bool
) -> Any:
    if axis.name != axis_name:
        return NotImplemented
    return broadcasted_iota(np.int32, (axis.size,), 0), 0


axis_index_p.batch_collective = _axis_index_collective


set_zero_derivative(axis_index_p)


def _bind_axis_index(name: Any) -> Any:
    return axis_index_p.bind(axis_name=name, varying=named_axis(name).checked)


def axis_index(axis_name: Any) -> Any:
    """Return the index of the example along the named axis, as an int32 scalar.

    Over several axes, the index is row-major.

    >>> sagax.vmap(lambda x: x + lax.axis_index("i"), axis_name="i")(snp.zeros(3, int))
    Array([0, 1, 2], dtype=int32)
    """
    names = _names(axis_name)
    result = _bind_axis_index(names[0])
    for name in names[1:]:
        result = ar.add(ar.mul(result, size_of_axis(name)), _bind_axis_index(name))
    return result


def axis_size(axis_name: Any) -> Any:
    """Return the number of examples along the named axis (or the product, for several) as an int.

    >>> sagax.vmap(lambda x: x * lax.axis_size("i"), axis_name="i")(snp.ones(3))
    Array([3., 3., 3.], dtype=float32)
    """
    return _product_of_sizes(_names(axis_name))


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Cast `x` (a pytree), inside `shard_map`, to a type that varies along axes of the mesh.

    Results and carries of control flow are cast implicitly where needed. Cast `x` first to get the derivative on each
    device rather than the sum over devices.

    Args:
      axis_name: an axis of the mesh, or a tuple of them.
      to: "varying", from a value that is the same on all devices; "unreduced", from one that varies: the values are
        summands, which psum adds up; "reduced", from one that is the same: its cotangents are such summands.

    >>> from sagax.sharding import PartitionSpec as P
    >>> mesh = sagax.make_mesh((1,), ("x",))
    >>> f = lambda x: lax.pcast(x, "x", to="varying")[None]
    >>> sagax.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P("x"))(snp.ones(()))
    Array([1.], dtype=float32)
    """
    if to not in ("varying", "unreduced", "reduced"):
        raise ArgumentValueError(
            function="pcast",
            argument="to",
            got=repr(to),
            expected="'varying', 'unreduced' or 'reduced'",
            fix="to make values the same on all devices use psum, pmax or all_gather(..., to='invarying')",
        )
    if isinstance(axis_name, (set, frozenset)):
        raise ArgumentError.about("pcast", "axis_name", axis_name, "a name, or a tuple of names")
    axes = _names(axis_name)
    for name in axes:
        if not named_axis(name).manual:
            raise ArgumentValueError(
                f"{name!r} is no axis of a mesh",
                function="pcast",
                argument="axis_name",
                got=axis_name,
                expected="axes of the mesh of a shard_map",
            )

    def one(leaf: Any) -> Any:
        for a in axes:
            source = axis_state(aval_of(leaf), a)
            if not can_cast(source, to) and (named_axis(a).checked or to != "varying"):
                raise ArgumentValueError(
                    f"Unsupported pcast from={source}, to={to!r}: along {a!r} the value is {source} already"
                    if source == to
                    else f"Unsupported pcast from={source}, to={to!r}",
                    function="pcast",
                    argument="x",
                    got=leaf,
                    expected="a value that is "
                    + ("varying" if to == "unreduced" else "the same on all devices")
                    + f" along {a!r}",
                )
        return cast(leaf, axes, to)

    return trees.map(one, x)


def pvary(x: Any, axis_name: Any) -> Any:
    """Apply `pcast(x, axis_name, to="varying")` along the axes that `x` does not vary along yet.

    >>> from sagax.sharding import PartitionSpec as P
    >>> mesh = sagax.make_mesh((1,), ("x",))
    >>> f = lambda x: lax.pvary(x, "x")[None]
    >>> sagax.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P("x"))(snp.ones(()))
    Array([1.], dtype=float32)
    """
    return trees.map(lambda leaf: vary(leaf, _names(axis_name)), x)


# --- exchanges -----------------------------------------------------------------------------------------


def _exchange_axis(axis_name: Any) -> Any:
    """Return the axis of an exchange: a name, or a tuple of several names of axes of a mesh."""
    names = _names(axis_name)
    if len(names) == 1:
        return names[0]
    mapped = [n for n in names if not named_axis(n).manual]
    if mapped:
        raise ArgumentValueError(
            "an exchange along several axes is not supported where one of them is mapped by vmap",
            argument="axis_name",
            got=axis_name,
            expected="one axis, or axes of a mesh",
        )
    return names


def _define_exchange(
    name: str,
    abstract: Callable,
    collective: Callable,
    transpose: Callable,
    lower: Callable,
    **properties: Any,
) -> Primitive:
    """Define the primitive of a linear rearrangement along one named axis, or several of a mesh."""
    properties = {"creates_nan": False, **properties}
    p = Primitive(name, multilinear=True, is_higher_order=True, family=OPAQUE, **properties)
    p.abstract_rule = abstract
    p.lower_rule = lower
    p.sets_vma = True

    def on_axis(
        axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis_name: Any, **params: Any
    ) -> Any:
        if axis.name != axis_name:
            return NotImplemented
        (x,), (d,) = args, in_dims
        x = moveaxis(x, d, 0) if d is not None else broadcast(x, (axis.size,))
        return collective(x, axis.size, **params)

    p.batch_collective = on_axis
    _define_batch_rule(p)

    @p.jvp
    def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        out = p.bind(*primals, **params)
        (t,) = tangents
        if is_zero(t):
            return out, Zero.like(aval_of(out))
        return out, p.bind(vary(t, _names(params["axis_name"])), **params)

    @p.transpose
    def _(ct: Any, x: Any, **params: Any) -> tuple:
        return (transpose(vary(ct, _names(params["axis_name"])), **params),)

    return p


def _same_type(x: Any, *, axis_name: Any, **_: Any) -> Any:
    return x


def _take_rows(x: Any, order: np.ndarray) -> Any:
    """Take slices of `x` along its leading dimension, in a static order."""
    return concatenate([slice_in_dim(x, int(i), int(i) + 1) for i in order], 0)


def _permute(x: Any, n: int, *, perm: tuple) -> tuple:
    source = np.full(n, -1)
    for src, dst in perm:
        source[dst] = src
    if (source >= 0).all():
        return _take_rows(x, source), 0
    taken = _take_rows(x, np.maximum(source, 0))
    mask = (source >= 0).astype(np.int32).reshape(n, *([1] * (aval_of(x).ndim - 1)))
    return ar.mul(taken, convert(mask, aval_of(x).dtype)), 0


ppermute_p = _define_exchange(
    "ppermute",
    _same_type,
    _permute,
    lambda ct, *, axis_name, perm: ppermute_p.bind(
        ct, axis_name=axis_name, perm=tuple((d, s) for s, d in perm)
    ),
    lambda b, x, *, axis_name, perm: b.op(
        "collective_permute", [x], b.out, **b.module.manual.pairs(b, _names(axis_name), perm)
    ),
)


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Permute `x` (a pytree) along the named axis: for each pair, send it from `src` to `dst`.

    An example that receives nothing gets zeros.

    >>> sagax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]), axis_name="i")(snp.array([5, 6]))
    Array([6, 5], dtype=int32)
    """
    pairs = tuple((int(s), int(d)) for s, d in perm)
    for side, ends in (
        ("sources", [s for s, _ in pairs]),
        ("destinations", [d for _, d in pairs]),
    ):
        if len(set(ends)) != len(ends):
            raise ArgumentValueError(
                f"ppermute {side} must be unique",
                function="ppermute",
                argument="perm",
                got=pairs,
                expected="pairs (source, destination) in which no device sends or receives twice: "
                f"{max(ends, key=ends.count)} stands there {ends.count(max(ends, key=ends.count))} times",
                fix="use lax.all_gather or lax.all_to_all where several devices need the same value",
            )
    axis = _exchange_axis(axis_name)
    n = _product_of_sizes(_names(axis))
    for s, d in pairs:
        if not (0 <= s < n and 0 <= d < n):
            raise ArgumentValueError(
                f"the pair {(s, d)} is out of range",
                function="ppermute",
                argument="perm",
                got=pairs,
                expected=f"positions from 0 to {n - 1}",
            )
    return trees.map(
        lambda leaf: ppermute_p.bind(vary(leaf, _names(axis)), axis_name=axis, perm=pairs), x
    )


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Permute `x` (a pytree) along the named axis: example i receives from example `perm[i]`.

    >>> sagax.vmap(lambda x: lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(snp.array([5, 6, 7]))
    Array([7, 5, 6], dtype=int32)
    """
    n = _product_of_sizes(_names(axis_name))
    if sorted(perm) != list(range(n)):
        raise ArgumentValueError(
            "`perm` does not represent a permutation",
            function="pshuffle",
            argument="perm",
            got=tuple(perm),
            expected=f"a permutation of {n} positions",
        )
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def _all_gather_type(
    x: Any,
    *,
    axis_name: Any,
    all_gather_dimension: int,
    tiled: bool,
    axis_size: Any,
    groups: Groups = None,
) -> Any:
    shape = list(x.shape)
    if tiled:
        shape[all_gather_dimension] *= axis_size
    else:
        shape.insert(all_gather_dimension, axis_size)
    return x.update(shape=tuple(shape), weak_type=False)


def _all_gather_batched(
    x: Any, n: int, *, all_gather_dimension: int, tiled: bool, axis_size: Any
) -> tuple:
    whole = moveaxis(x, 0, all_gather_dimension)
    if tiled:
        shape = aval_of(whole).shape
        d = all_gather_dimension
        whole = reshape(whole, (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]))
    return whole, None


def _lower_all_gather(
    b: Any,
    x: Any,
    *,
    axis_name: Any,
    all_gather_dimension: int,
    tiled: bool,
    axis_size: Any,
    groups: Groups = None,
) -> Any:
    d = all_gather_dimension
    if not tiled:
        x = b.reshape(x, (*x.shape[:d], 1, *x.shape[d:]))
    attributes = b.module.manual.attributes(b, _names(axis_name), groups)
    return b.op("all_gather", [x], b.out, all_gather_dim=f"{d} : i64", **_GLOBAL_IDS, **attributes)


_GLOBAL_IDS = {"use_global_device_ids": ""}

all_gather_p = _define_exchange(
    "all_gather",
    _all_gather_type,
    _all_gather_batched,
    lambda ct, *, all_gather_dimension, **params: psum_scatter_p.bind(
        ct, scatter_dimension=all_gather_dimension, **params
    ),
    _lower_all_gather,
)

# The same with a result type that does not vary along the axis.
all_gather_invariant_p = _define_exchange(
    "all_gather_invariant",
    lambda x, *, axis_name, **params: _all_gather_type(
        x.with_vma(x.vma - frozenset(_names(axis_name))), axis_name=axis_name, **params
    ),
    _all_gather_batched,
    lambda ct, **params: _own_slice(ct, **params),
    _lower_all_gather,
)


def _own_slice(
    x: Any, *, axis_name: Any, all_gather_dimension: int, tiled: bool, axis_size: Any
) -> Any:
    """Slice out of a gathered array what came from this device."""
    index = axis_index(axis_name)
    if not tiled:
        return dynamic_index_in_dim(x, index, all_gather_dimension, keepdims=False)
    size = aval_of(x).shape[all_gather_dimension] // axis_size
    return dynamic_slice_in_dim(x, ar.mul(index, size), size, all_gather_dimension)


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """Gather `x` (a pytree) from all examples along the named axis, stacked along `axis`.

    Args:
      axis: the dimension of the result that indexes the examples; a new one unless `tiled`.
      tiled: concatenate along `axis`, which exists already.
      to: inside `shard_map`: "varying", or "invarying" for a result type that does not vary along the axis, or
        "reduced" for one whose cotangents are summands.

    >>> sagax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i", out_axes=None)(snp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    checks.one_of(
        "all_gather",
        "to",
        to,
        ("varying", "invarying", "reduced"),
        "'varying', 'invarying' or 'reduced'",
        show=repr,
    )
    name = _exchange_axis(axis_name)
    groups = _check_groups(axis_index_groups, _names(name), "all_gather")
    n = _product_of_sizes(_names(name)) if groups is None else len(groups[0])
    checked = all(named_axis(a).checked for a in _names(name))
    p = all_gather_invariant_p if to != "varying" and checked and not groups else all_gather_p

    def one(leaf: Any) -> Any:
        d = canonical_axis(axis, aval_of(leaf).ndim + (not tiled), "all_gather")
        found = p.bind(
            vary(leaf, _names(name)),
            axis_name=name,
            all_gather_dimension=d,
            tiled=tiled,
            axis_size=n,
            **_group_params(groups),
        )
        return (
            cast(found, _names(name), to) if to == "reduced" and checked and not groups else found
        )

    return trees.map(one, x)


def _psum_scatter_type(
    x: Any,
    *,
    axis_name: Any,
    scatter_dimension: int,
    tiled: bool,
    axis_size: Any,
    groups: Groups = None,
) -> Any:
    shape = list(x.shape)
    size = shape[scatter_dimension]
    if tiled:
        if size % axis_size:
            raise ArgumentValueError(
                f"size {size} of dimension {scatter_dimension} is not divisible by the size {axis_size} of axis {axis_name!r}",
                function="psum_scatter",
                argument="x",
                got=x,
                expected=f"a multiple of {axis_size}",
            )
        shape[scatter_dimension] = size // axis_size
    else:
        if size != axis_size:
            raise ArgumentValueError(
                f"dimension {scatter_dimension} must have the size of axis {axis_name!r}",
                function="psum_scatter",
                argument="x",
                got=x,
                expected=f"size {axis_size}, or tiled=True",
            )
        del shape[scatter_dimension]
    return x.update(shape=tuple(shape), weak_type=False)


def _psum_scatter_batched(
    x: Any, n: int, *, scatter_dimension: int, tiled: bool, axis_size: Any
) -> tuple:
    total = reduce_sum(x, (0,))
    if tiled:
        shape = aval_of(total).shape
        d = scatter_dimension
        total = reshape(total, (*shape[:d], n, shape[d] // n, *shape[d + 1 :]))
    return total, scatter_dimension


def _lower_psum_scatter(
    b: Any,
    x: Any,
    *,
    axis_name: Any,
    scatter_dimension: int,
    tiled: bool,
    axis_size: Any,
    groups: Groups = None,
) -> Any:
    scalar = intern_aval((), x.aval.dtype)
    body = b.region([scalar, scalar], lambda u, v: [b.op("add", [u, v], scalar)])
    out, d = b.out, scatter_dimension
    shape = out.shape if tiled else (*out.shape[:d], 1, *out.shape[d:])
    found = b.op(
        "reduce_scatter",
        [x],
        out.update(shape=shape),
        regions=[body],
        scatter_dimension=f"{d} : i64",
        **_GLOBAL_IDS,
        **b.module.manual.attributes(b, _names(axis_name), groups),
    )
    return b.reshape(found, out.shape)


psum_scatter_p = _define_exchange(
    "reduce_scatter",
    _psum_scatter_type,
    _psum_scatter_batched,
    lambda ct, *, scatter_dimension, **params: all_gather_p.bind(
        ct, all_gather_dimension=scatter_dimension, **params
    ),
    _lower_psum_scatter,
    creates_nan=True,
    fusion=Fusion.REDUCES,
    cost=operand_size,
)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Sum over the named axis, and scatter the result along `scatter_dimension`.

    >>> sagax.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(snp.ones((2, 2)))
    Array([2., 2.], dtype=float32)
    """
    name = _exchange_axis(axis_name)
    groups = _check_groups(axis_index_groups, _names(name), "psum_scatter")
    n = _product_of_sizes(_names(name)) if groups is None else len(groups[0])

    def one(leaf: Any) -> Any:
        d = canonical_axis(
            scatter_dimension, aval_of(leaf).ndim, "psum_scatter", "scatter_dimension"
        )
        return psum_scatter_p.bind(
            cast(leaf, [a for a in _names(name) if named_axis(a).checked], "varying"),
            axis_name=name,
            scatter_dimension=d,
            tiled=tiled,
            axis_size=n,
            **_group_params(groups),
        )

    return trees.map(one, x)


def _all_to_all_type(
    x: Any,
    *,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    axis_size: Any,
    groups: Groups = None,
) -> Any:
    shape = list(x.shape)
    if shape[split_axis] % axis_size:
        raise ArgumentValueError(
            f"size {shape[split_axis]} of split_axis {split_axis} is not divisible by the size {axis_size} of axis {axis_name!r}",
            function="all_to_all",
            argument="x",
            got=x,
            expected=f"a multiple of {axis_size}",
        )
    shape[split_axis] //= axis_size
    shape[concat_axis] *= axis_size
    return x.update(shape=tuple(shape), weak_type=False)


def _all_to_all_batched(
    x: Any, n: int, *, split_axis: int, concat_axis: int, axis_size: Any
) -> tuple:
    # dimension 0 is the source; each splits its slice into n pieces, one for each destination
    shape = aval_of(x).shape
    s, c = split_axis + 1, concat_axis + 1
    cut = reshape(x, (*shape[:s], n, shape[s] // n, *shape[s + 1 :]))  # destination at s
    cut = moveaxis(cut, s, 0)  # destination, source, rest
    joined = moveaxis(cut, 1, c)  # destination, ..., source before concat_axis
    full = aval_of(joined).shape
    return reshape(joined, (*full[:c], full[c] * full[c + 1], *full[c + 2 :])), 0


def _lower_all_to_all(
    b: Any,
    x: Any,
    *,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    axis_size: Any,
    groups: Groups = None,
) -> Any:
    return b.op(
        "all_to_all",
        [x],
        b.out,
        split_dimension=f"{split_axis} : i64",
        concat_dimension=f"{concat_axis} : i64",
        split_count=f"{axis_size} : i64",
        **b.module.manual.attributes(b, _names(axis_name), groups),
    )


all_to_all_p = _define_exchange(
    "all_to_all",
    _all_to_all_type,
    _all_to_all_batched,
    lambda ct, *, split_axis, concat_axis, **params: all_to_all_p.bind(
        ct, split_axis=concat_axis, concat_axis=split_axis, **params
    ),
    _lower_all_to_all,
)


def _merged(x: Any, count: int, axis: int, tiled: bool) -> Any:
    """Merge the first `count` dimensions of `x`, and move them to `axis`: apart, or into the one that is there."""
    shape = aval_of(x).shape
    merged = moveaxis(reshape(x, (math.prod(shape[:count]), *shape[count:])), 0, axis)
    if not tiled:
        return merged
    shape = aval_of(merged).shape
    return reshape(merged, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def _split(x: Any, names: tuple, axis: int, tiled: bool) -> Any:
    """Open a dimension of `x` into one for each of the axes, which come first; a rest stays, if `tiled`."""
    shape = aval_of(x).shape
    sizes = [_product_of_sizes((n,)) for n in names]
    if shape[axis] % math.prod(sizes) or not tiled and shape[axis] != math.prod(sizes):
        raise ArgumentValueError(
            f"dimension {axis} must have the size of the axes {names!r}{', or a multiple' if tiled else ''}",
            argument="x",
            got=x,
            expected=f"size {math.prod(sizes)}",
        )
    rest = [shape[axis] // math.prod(sizes)] if tiled else []
    opened = reshape(x, (*shape[:axis], *sizes, *rest, *shape[axis + 1 :]))
    for i in range(len(sizes)):
        opened = moveaxis(opened, axis + i, i)
    return opened


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Split `x` along `split_axis`, send piece i to example i, and concatenate along `concat_axis`.

    Without `tiled`, `split_axis` has the size of the named axis and disappears, and a new dimension is
    inserted at `concat_axis`.

    >>> f = lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True)
    >>> sagax.vmap(f, axis_name="i")(snp.arange(4).reshape(2, 2))
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    several = _names(axis_name)
    if (
        axis_index_groups is None
        and len(several) > 1
        and not all(named_axis(n).manual for n in several)
    ):

        def exchanged(leaf: Any) -> Any:
            ndim = aval_of(leaf).ndim
            s = canonical_axis(split_axis, ndim, "all_to_all", "split_axis")
            c = canonical_axis(concat_axis, ndim, "all_to_all", "concat_axis")
            leaf = _split(leaf, several, s, tiled)
            for i, each in enumerate(several):
                leaf = all_to_all(leaf, each, i, i)
            return _merged(leaf, len(several), c, tiled)

        return trees.map(exchanged, x)
    name = _exchange_axis(axis_name)
    groups = _check_groups(axis_index_groups, _names(name), "all_to_all")
    n = _product_of_sizes(_names(name)) if groups is None else len(groups[0])

    def exchange(x: Any, split: int, concat: int) -> Any:
        return all_to_all_p.bind(
            vary(x, _names(name)),
            axis_name=name,
            split_axis=split,
            concat_axis=concat,
            axis_size=n,
            **_group_params(groups),
        )

    def one(leaf: Any) -> Any:
        ndim = aval_of(leaf).ndim
        s = canonical_axis(split_axis, ndim, "all_to_all", "split_axis")
        c = canonical_axis(concat_axis, ndim, "all_to_all", "concat_axis")
        if not tiled:
            if aval_of(leaf).shape[s] != n:
                raise ArgumentValueError(
                    f"split_axis {s} must have the size of axis {axis_name!r}",
                    function="all_to_all",
                    argument="x",
                    got=leaf,
                    expected=f"size {n}, or tiled=True",
                )
            shape = aval_of(leaf).shape
            rest = [d for i, d in enumerate(shape) if i != s]
            opened = reshape(moveaxis(leaf, s, 0), (n, *rest[:c], 1, *rest[c:]))
            return reshape(exchange(opened, 0, c + 1), (*rest[:c], n, *rest[c:]))
        return exchange(leaf, s, c)

    return trees.map(one, x)


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Swap the named axis with dimension `axis` of `x`; both have the same size.

    >>> sagax.vmap(lambda x: lax.pswapaxes(x, "i", 0), axis_name="i")(snp.arange(4).reshape(2, 2))
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """Broadcast `x` from example `source` of the named axis to all examples.

    >>> sagax.vmap(lambda x: lax.pbroadcast(x, "i", 1), axis_name="i")(snp.array([5, 6]))
    Array([6, 6], dtype=int32)
    """
    gathered = all_gather(x, axis_name)
    return trees.map(lambda leaf: dynamic_index_in_dim(leaf, source, 0, keepdims=False), gathered)
