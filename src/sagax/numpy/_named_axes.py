"""Reduce along named axes of vmap, pmap and shard_map, as in sum(x, axis="i") or mean(x, axis=(0, "i")).

Each function reduces along the axes of the array first, and then over the names.
"""

from __future__ import annotations

from typing import Any

import sagax.numpy._arithmetic as _arithmetic
import sagax.numpy._base as _base
import sagax.numpy._reductions as _reductions
from sagax._src.collectives.collectives import axis_size, pmax, pmean, pmin, psum
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.primitives import arithmetic
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import UnsupportedArgumentError, axis_tuple


def split(axis: Any) -> tuple[tuple, tuple[str, ...]]:
    """Split `axis` into axes of the array and names."""
    several = (axis,) if isinstance(axis, str) else tuple(axis)
    names = tuple([a for a in several if isinstance(a, str)])
    return tuple([a for a in several if not isinstance(a, str)]), names


def refusal(function: str) -> UnsupportedArgumentError:
    """Build the error for a reduction that has no form over names."""
    return UnsupportedArgumentError(
        f"Named reductions not implemented for jnp.{function}()",
        fix="gather the values first, with lax.all_gather(x, axis_name), and reduce along axis 0",
    )


def total(
    a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any, promote_integers: bool
) -> Array:
    """Sum as `numpy.sum` does."""
    axes, names = split(axis)
    options = {"dtype": dtype, "keepdims": keepdims, "where": where}
    found = psum(_reductions.sum(a, axes, **options, promote_integers=promote_integers), names)
    return found if initial is None else _arithmetic.add(found, convert(initial, found.dtype))


def extremum(function: str, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Array:
    """Take the maximum or minimum as `numpy.max` and `numpy.min` do."""
    axes, names = split(axis)
    greatest = function.endswith("max")
    one = _reductions.max if greatest else _reductions.min
    found = one(a, axes, keepdims=keepdims, initial=initial, where=where)
    return (pmax if greatest else pmin)(found, names)


def mean(a: Any, axis: Any, working: Any, result: Any, keepdims: bool, where: Any) -> Array:
    """Compute the mean as `numpy.mean` does, in the dtype `working`."""
    axes, names = split(axis)
    a = _reductions.as_dtype(a, working)
    if where is None:
        found = pmean(_reductions.mean(a, axes, working, keepdims=keepdims), names)
    else:
        ones = _base.broadcast_to(_reductions.as_dtype(1, working), aval_of(a).shape)
        sums = [total(x, axis, working, keepdims, None, where, False) for x in (a, ones)]
        found = arithmetic.div(*sums)
    return convert(found, result)


def variance(
    a: Any, axis: Any, working: Any, result: Any, ddof: Any, keepdims: bool, where: Any, known: Any
) -> Array:
    """Compute the variance as `numpy.var` does, around the mean `known` if there is one."""
    axes, names = split(axis)
    parts = dtypes.real_part_dtype(working)
    a = _reductions.as_dtype(a, working)
    around = mean(a, axis, working, working, True, where) if known is None else known
    squares = _reductions.squared_distance(_arithmetic.subtract(a, around))
    sum_of_squares = total(squares, axis, parts, keepdims, None, where, False)
    if where is None:
        shape = aval_of(a).shape
        count = _reductions.counted(shape, axis_tuple("var", axes, len(shape)), parts)
        count = arithmetic.mul(count, _reductions.as_dtype(axis_size(names), parts))
    else:
        ones = _base.broadcast_to(_reductions.as_dtype(1, parts), aval_of(a).shape)
        count = total(ones, axis, parts, keepdims, None, where, False)
    return convert(_reductions.divide_by_count(sum_of_squares, count, ddof), result)
