"""Operations among the examples of a named axis: sums over it, and exchanges along it.

Under `vmap(..., axis_name=...)` they become reductions and rearrangements of the mapped dimension. A value
that is the same for all examples is treated as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.trace import axis_size as size_of_axis
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.primitives import arithmetic as ar
from sagax._src.primitives import reductions
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.shaping import broadcasted_iota, concatenate
from sagax._src.primitives.slicing import dynamic_index_in_dim, slice_in_dim
from sagax._src.primitives.structural import (
    broadcast,
    canonical_axis,
    convert,
    moveaxis,
    reduce_sum,
    reshape,
)


def _names(axis_name: Any) -> tuple:
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _whole_size(axes: tuple) -> Any:
    total = 1
    for name in axes:
        total *= size_of_axis(name)
    return total


def _only_groupless(groups: Any, function: str) -> None:
    if groups is not None:
        raise ArgumentValueError(
            "axis_index_groups are not supported",
            function=function,
            argument="axis_index_groups",
            got=groups,
            expected="None",
        )


def _unmapped_rule(p: Primitive) -> None:
    """Under a vmap over another axis a collective just gets one more dimension."""

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        d = in_dims[0]
        shifted = dict(params)
        for name in _DIMENSIONS:
            if name in shifted:
                shifted[name] = shifted[name] + 1
        return p.bind(moveaxis(args[0], d, 0), **shifted), 0


_DIMENSIONS = ("all_gather_dimension", "split_axis", "concat_axis", "scatter_dimension")


# reductions over the axis ------------------------------------------------------------------------------


def _reduction(name: str, reduce: Callable, repeated: Callable) -> Primitive:
    p = Primitive(name, holds_program=True)

    @p.abstract
    def _(x: Any, *, axes: tuple) -> Any:
        for a in axes:
            size_of_axis(a)
        return x.strip_weak_type()

    def collective(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple) -> Any:
        if axis.name not in axes:
            return NotImplemented
        (x,), (d,) = args, in_dims
        x = repeated(x, axis.size) if d is None else reduce(x, d)
        rest = tuple(a for a in axes if a != axis.name)
        return (p.bind(x, axes=rest) if rest else x), None

    p.batch_collective = collective
    _unmapped_rule(p)
    return p


psum_p = _reduction(
    "psum",
    lambda x, d: reduce_sum(x, (d,)),
    lambda x, n: ar.mul(x, scalar_like(n, aval_of(x).dtype)),
)
pmax_p = _reduction("pmax", lambda x, d: reductions.reduce_max(x, (d,)), lambda x, n: x)
pmin_p = _reduction("pmin", lambda x, d: reductions.reduce_min(x, (d,)), lambda x, n: x)


@psum_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple) -> tuple:
    out = psum_p.bind(*primals, axes=axes)
    (t,) = tangents
    return out, Zero.like(aval_of(out)) if is_zero(t) else psum_p.bind(t, axes=axes)


@psum_p.transpose
def _(ct: Any, x: Any, *, axes: tuple) -> tuple:
    return (psum_p.bind(ct, axes=axes),)


for _p in (pmax_p, pmin_p):

    def _extremum_jvp(
        primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple, p: Primitive = _p
    ) -> tuple:
        (x,), (t,) = primals, tangents
        out = p.bind(x, axes=axes)
        if is_zero(t):
            return out, Zero.like(aval_of(out))
        raise ArgumentError(
            f"{p.name} has no derivative",
            function=p.name,
            fix="gather the values with all_gather and reduce them",
        )

    _p.jvp_rule = _extremum_jvp


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The sum of `x` (a pytree) over the named axis, or axes; the same for all examples.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: x / sagax.lax.psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    _only_groupless(axis_index_groups, "psum")
    axes = _names(axis_name)

    def one(leaf: Any) -> Any:
        if not hasattr(leaf, "aval") and isinstance(
            leaf, (int, float)
        ):  # the size of the axis, without computing
            return leaf * _whole_size(axes)
        if aval_of(leaf).dtype == np.bool_:
            leaf = convert(leaf, dtypes.int32)
        return psum_p.bind(leaf, axes=axes)

    return trees.map(one, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The mean of `x` (a pytree) over the named axis.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.pmean(x, "i"), axis_name="i", out_axes=None)(np.array([1.0, 3.0]))
    Array(2., dtype=float32)
    """
    n = _whole_size(_names(axis_name))

    def one(leaf: Any) -> Any:
        total = psum(leaf, axis_name, axis_index_groups=axis_index_groups)
        if not hasattr(total, "aval"):
            return total / n
        if not dtypes.is_inexact(aval_of(total).dtype):
            total = convert(total, dtypes.float32)
        return ar.div(total, scalar_like(n, aval_of(total).dtype))

    return trees.map(one, x)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The maximum of `x` (a pytree) over the named axis.

    >>> import sagax, sagax.numpy as np
    >>> int(sagax.vmap(lambda x: sagax.lax.pmax(x, "i"), axis_name="i", out_axes=None)(np.arange(3)))
    2
    """
    _only_groupless(axis_index_groups, "pmax")
    return trees.map(lambda leaf: pmax_p.bind(leaf, axes=_names(axis_name)), x)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The minimum of `x` (a pytree) over the named axis.

    >>> import sagax, sagax.numpy as np
    >>> int(sagax.vmap(lambda x: sagax.lax.pmin(x, "i"), axis_name="i", out_axes=None)(np.arange(3)))
    0
    """
    _only_groupless(axis_index_groups, "pmin")
    return trees.map(lambda leaf: pmin_p.bind(leaf, axes=_names(axis_name)), x)


# positions ---------------------------------------------------------------------------------------------

axis_index_p = Primitive("axis_index", holds_program=True)


@axis_index_p.abstract
def _(*, axis_name: Any) -> Any:
    size_of_axis(axis_name)
    return intern_aval((), dtypes.int32, False, None)


def _axis_index_collective(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis_name: Any
) -> Any:
    if axis.name != axis_name:
        return NotImplemented
    return broadcasted_iota(np.int32, (axis.size,), 0), 0


axis_index_p.batch_collective = _axis_index_collective


@axis_index_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, axis_name: Any) -> tuple:
    out = axis_index_p.bind(axis_name=axis_name)
    return out, Zero.like(aval_of(out))


def axis_index(axis_name: Any) -> Any:
    """The position of the example along the named axis: an int32 scalar (row-major over several axes).

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: x + sagax.lax.axis_index("i"), axis_name="i")(np.zeros(3, int))
    Array([0, 1, 2], dtype=int32)
    """
    names = _names(axis_name)
    result = axis_index_p.bind(axis_name=names[0])
    for name in names[1:]:
        result = ar.add(ar.mul(result, size_of_axis(name)), axis_index_p.bind(axis_name=name))
    return result


def axis_size(axis_name: Any) -> Any:
    """The number of examples along the named axis (the product, for several): a Python int.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: x * sagax.lax.axis_size("i"), axis_name="i")(np.ones(3))
    Array([3., 3., 3.], dtype=float32)
    """
    return _whole_size(_names(axis_name))


# exchanges ---------------------------------------------------------------------------------------------


def _exchange(
    name: str, abstract: Callable, collective: Callable, transpose: Callable
) -> Primitive:
    """A linear rearrangement along one named axis."""
    p = Primitive(name, multilinear=True, holds_program=True)
    p.abstract_rule = abstract

    def on_axis(
        axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis_name: Any, **params: Any
    ) -> Any:
        if axis.name != axis_name:
            return NotImplemented
        (x,), (d,) = args, in_dims
        x = moveaxis(x, d, 0) if d is not None else broadcast(x, (axis.size,))
        return collective(x, axis.size, **params)

    p.batch_collective = on_axis
    _unmapped_rule(p)

    @p.jvp
    def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        out = p.bind(*primals, **params)
        (t,) = tangents
        return out, Zero.like(aval_of(out)) if is_zero(t) else p.bind(t, **params)

    @p.transpose
    def _(ct: Any, x: Any, **params: Any) -> tuple:
        return (transpose(ct, **params),)

    return p


def _same_type(x: Any, *, axis_name: Any, **_: Any) -> Any:
    size_of_axis(axis_name)
    return x


def _rows(x: Any, order: np.ndarray) -> Any:
    """The slices of `x` along its leading dimension, in a fixed order."""
    return concatenate([slice_in_dim(x, int(i), int(i) + 1) for i in order], 0)


def _permuted(x: Any, n: int, *, perm: tuple) -> tuple:
    source = np.full(n, -1)
    for src, dst in perm:
        source[dst] = src
    if (source >= 0).all():
        return _rows(x, source), 0
    taken = _rows(x, np.maximum(source, 0))
    mask = (source >= 0).astype(np.int32).reshape(n, *([1] * (aval_of(x).ndim - 1)))
    return ar.mul(taken, convert(mask, aval_of(x).dtype)), 0


ppermute_p = _exchange(
    "ppermute",
    _same_type,
    _permuted,
    lambda ct, *, axis_name, perm: ppermute_p.bind(
        ct, axis_name=axis_name, perm=tuple((d, s) for s, d in perm)
    ),
)


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """`x` (a pytree) moved along the named axis: what example `src` holds goes to `dst`, for each pair.

    An example that nothing is sent to gets zeros.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.ppermute(x, "i", [(0, 1), (1, 0)]), axis_name="i")(np.array([5, 6]))
    Array([6, 5], dtype=int32)
    """
    pairs = tuple((int(s), int(d)) for s, d in perm)
    for which, ends in (
        ("sources", [s for s, _ in pairs]),
        ("destinations", [d for _, d in pairs]),
    ):
        if len(set(ends)) != len(ends):
            raise ArgumentValueError(
                f"ppermute {which} must be unique", function="ppermute", argument="perm", got=pairs
            )
    n = size_of_axis(axis_name)
    for s, d in pairs:
        if not (0 <= s < n and 0 <= d < n):
            raise ArgumentValueError(
                f"the pair {(s, d)} is out of range",
                function="ppermute",
                argument="perm",
                got=pairs,
                expected=f"positions from 0 to {n - 1}",
            )
    return trees.map(lambda leaf: ppermute_p.bind(leaf, axis_name=axis_name, perm=pairs), x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """`x` (a pytree) moved along the named axis: example i gets what example `perm[i]` holds.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(np.array([5, 6, 7]))
    Array([7, 5, 6], dtype=int32)
    """
    if sorted(perm) != list(range(size_of_axis(axis_name))):
        raise ArgumentValueError(
            "`perm` does not represent a permutation",
            function="pshuffle",
            argument="perm",
            got=tuple(perm),
            expected=f"a permutation of {size_of_axis(axis_name)} positions",
        )
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def _gathered_type(
    x: Any, *, axis_name: Any, all_gather_dimension: int, tiled: bool, axis_size: Any
) -> Any:
    size_of_axis(axis_name)
    shape = list(x.shape)
    if tiled:
        shape[all_gather_dimension] *= axis_size
    else:
        shape.insert(all_gather_dimension, axis_size)
    return x.update(shape=tuple(shape), weak_type=False)


def _gathered(x: Any, n: int, *, all_gather_dimension: int, tiled: bool, axis_size: Any) -> tuple:
    whole = moveaxis(x, 0, all_gather_dimension)
    if tiled:
        shape = aval_of(whole).shape
        d = all_gather_dimension
        whole = reshape(whole, (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]))
    return whole, None


all_gather_p = _exchange(
    "all_gather",
    _gathered_type,
    _gathered,
    lambda ct, *, axis_name, all_gather_dimension, tiled, axis_size: psum_scatter_p.bind(
        ct,
        axis_name=axis_name,
        scatter_dimension=all_gather_dimension,
        tiled=tiled,
        axis_size=axis_size,
    ),
)


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: Any = None,
) -> Any:
    """The values of all examples along the named axis, stacked (with `tiled` concatenated) along `axis`.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.all_gather(x, "i"), axis_name="i", out_axes=None)(np.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    _only_groupless(axis_index_groups, "all_gather")
    n = size_of_axis(axis_name)

    def one(leaf: Any) -> Any:
        d = canonical_axis(axis, aval_of(leaf).ndim + (not tiled), "all_gather")
        return all_gather_p.bind(
            leaf, axis_name=axis_name, all_gather_dimension=d, tiled=tiled, axis_size=n
        )

    return trees.map(one, x)


def _scattered_type(
    x: Any, *, axis_name: Any, scatter_dimension: int, tiled: bool, axis_size: Any
) -> Any:
    size_of_axis(axis_name)
    shape = list(x.shape)
    size = shape[scatter_dimension]
    if tiled:
        if size % axis_size:
            raise ShapeError(
                f"size {size} of dimension {scatter_dimension} is not divisible by the size {axis_size} of axis {axis_name!r}",
                function="psum_scatter",
                argument="x",
                got=x,
                expected=f"a multiple of {axis_size}",
            )
        shape[scatter_dimension] = size // axis_size
    else:
        if size != axis_size:
            raise ShapeError(
                f"dimension {scatter_dimension} must have the size of axis {axis_name!r}",
                function="psum_scatter",
                argument="x",
                got=x,
                expected=f"size {axis_size}, or tiled=True",
            )
        del shape[scatter_dimension]
    return x.update(shape=tuple(shape), weak_type=False)


def _scattered(x: Any, n: int, *, scatter_dimension: int, tiled: bool, axis_size: Any) -> tuple:
    total = reduce_sum(x, (0,))
    if tiled:
        shape = aval_of(total).shape
        d = scatter_dimension
        total = reshape(total, (*shape[:d], n, shape[d] // n, *shape[d + 1 :]))
    return total, scatter_dimension


psum_scatter_p = _exchange(
    "reduce_scatter",
    _scattered_type,
    _scattered,
    lambda ct, *, axis_name, scatter_dimension, tiled, axis_size: all_gather_p.bind(
        ct,
        axis_name=axis_name,
        all_gather_dimension=scatter_dimension,
        tiled=tiled,
        axis_size=axis_size,
    ),
)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """The sum over the named axis, of which each example keeps its own part along `scatter_dimension`.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.psum_scatter(x, "i"), axis_name="i")(np.ones((2, 2)))
    Array([2., 2.], dtype=float32)
    """
    _only_groupless(axis_index_groups, "psum_scatter")
    n = size_of_axis(axis_name)

    def one(leaf: Any) -> Any:
        d = canonical_axis(
            scatter_dimension, aval_of(leaf).ndim, "psum_scatter", "scatter_dimension"
        )
        return psum_scatter_p.bind(
            leaf, axis_name=axis_name, scatter_dimension=d, tiled=tiled, axis_size=n
        )

    return trees.map(one, x)


def _exchanged_type(
    x: Any, *, axis_name: Any, split_axis: int, concat_axis: int, axis_size: Any
) -> Any:
    size_of_axis(axis_name)
    shape = list(x.shape)
    if shape[split_axis] % axis_size:
        raise ShapeError(
            f"size {shape[split_axis]} of split_axis {split_axis} is not divisible by the size {axis_size} of axis {axis_name!r}",
            function="all_to_all",
            argument="x",
            got=x,
            expected=f"a multiple of {axis_size}",
        )
    shape[split_axis] //= axis_size
    shape[concat_axis] *= axis_size
    return x.update(shape=tuple(shape), weak_type=False)


def _exchanged(x: Any, n: int, *, split_axis: int, concat_axis: int, axis_size: Any) -> tuple:
    # dimension 0 is the source; each splits its part into n pieces, one for each destination
    shape = aval_of(x).shape
    s, c = split_axis + 1, concat_axis + 1
    cut = reshape(x, (*shape[:s], n, shape[s] // n, *shape[s + 1 :]))  # destination at s
    cut = moveaxis(cut, s, 0)  # destination, source, rest
    joined = moveaxis(cut, 1, c)  # destination, ..., source before concat_axis
    full = aval_of(joined).shape
    return reshape(joined, (*full[:c], full[c] * full[c + 1], *full[c + 2 :])), 0


all_to_all_p = _exchange(
    "all_to_all",
    _exchanged_type,
    _exchanged,
    lambda ct, *, axis_name, split_axis, concat_axis, axis_size: all_to_all_p.bind(
        ct, axis_name=axis_name, split_axis=concat_axis, concat_axis=split_axis, axis_size=axis_size
    ),
)


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """`x` cut along `split_axis`, piece i sent to example i, and what arrives joined along `concat_axis`.

    Without `tiled`, `split_axis` has the size of the named axis and disappears, and a new dimension is
    made at `concat_axis`.

    >>> import sagax, sagax.numpy as np
    >>> f = lambda x: sagax.lax.all_to_all(x, "i", 0, 0, tiled=True)
    >>> sagax.vmap(f, axis_name="i")(np.arange(4).reshape(2, 2))
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    _only_groupless(axis_index_groups, "all_to_all")
    n = size_of_axis(axis_name)

    def one(leaf: Any) -> Any:
        ndim = aval_of(leaf).ndim
        s = canonical_axis(split_axis, ndim, "all_to_all", "split_axis")
        c = canonical_axis(concat_axis, ndim, "all_to_all", "concat_axis")
        if not tiled:
            if aval_of(leaf).shape[s] != n:
                raise ShapeError(
                    f"split_axis {s} must have the size of axis {axis_name!r}",
                    function="all_to_all",
                    argument="x",
                    got=leaf,
                    expected=f"size {n}, or tiled=True",
                )
            shape = aval_of(leaf).shape
            rest = [d for i, d in enumerate(shape) if i != s]
            opened = reshape(moveaxis(leaf, s, 0), (n, *rest[:c], 1, *rest[c:]))
            out = all_to_all_p.bind(
                opened, axis_name=axis_name, split_axis=0, concat_axis=c + 1, axis_size=n
            )
            return reshape(out, (*rest[:c], n, *rest[c:]))
        return all_to_all_p.bind(
            leaf, axis_name=axis_name, split_axis=s, concat_axis=c, axis_size=n
        )

    return trees.map(one, x)


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """`x` with the named axis and its dimension `axis` exchanged; both have the same size.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.pswapaxes(x, "i", 0), axis_name="i")(np.arange(4).reshape(2, 2))
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """What example `source` of the named axis holds, for all examples.

    >>> import sagax, sagax.numpy as np
    >>> sagax.vmap(lambda x: sagax.lax.pbroadcast(x, "i", 1), axis_name="i")(np.array([5, 6]))
    Array([6, 6], dtype=int32)
    """
    gathered = all_gather(x, axis_name)
    return trees.map(lambda leaf: dynamic_index_in_dim(leaf, source, 0, keepdims=False), gathered)
