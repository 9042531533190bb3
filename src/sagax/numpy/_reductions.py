"""Reduce arrays: sums, products, extrema, any, all, means, variances, argmax.

Sums and means of narrow floats are accumulated in float32. `where` chooses the elements that take
part, `initial` takes part as one more element.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config, tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives import arithmetic, comparison, structural
from sagax._src.primitives.bitwise import bitwise_and, bitwise_or
from sagax._src.primitives.complex_numbers import complex as complex_of_parts
from sagax._src.primitives.complex_numbers import imag, real
from sagax._src.primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_sum_p,
)
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.shaping import size_as_value
from sagax._src.primitives.structural import broadcast_in_dim_p, convert, convert_given
from sagax.numpy._arguments import axis_tuple, has_names, one_axis, refuse_out, with_aval
from sagax.numpy._arithmetic import least_and_greatest
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._shaping import ravel

if TYPE_CHECKING or lazy_imports():
    import sagax.numpy._named_axes as _named_axes  # for reductions over names of axes only

Axis = int | Sequence[int] | None

_thread = config.thread
_BOOL = np.dtype(bool)


# what the reductions share ------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def sum_dtypes(given: Any, promote_integers: bool, x64: bool) -> tuple[Any, Any]:
    """Return the dtypes to sum numbers of dtype `given` in, and of the result.

    Narrow floats are summed as float32; integers narrower than the default one become as wide.
    """
    kind, default = dtypes.kind(given), dtypes.default_int(x64)
    if kind == "b":
        given = default
    elif promote_integers and kind in "iu" and given.itemsize < default.itemsize:
        given = default if kind == "i" else np.dtype(f"uint{8 * default.itemsize}")
    return (dtypes.float32 if dtypes.is_narrow_float(given) else given), given


@functools.lru_cache(maxsize=1024)
def mean_dtypes(given: Any, x64: bool) -> tuple[Any, Any]:
    """Return the dtypes to compute a mean of numbers of dtype `given` in, and of the result."""
    result = dtypes.canonicalize(dtypes.to_inexact(given), x64)
    return (dtypes.float32 if dtypes.is_narrow_float(result) else result), result


def as_dtype(x: Any, dtype: Any) -> Any:
    """Convert `x` to a strongly typed array of `dtype`; a number without any operation.

    Raises if a Python int does not fit the default integer dtype.
    """
    if type(x) is int and dtypes.kind(dtype) in "iu":
        x = _base.number(x, int, dtypes.default_int(_base.x64()))
    if isinstance(x, (bool, int, float, complex, np.generic)):
        dtypes.warn_of_lost_imaginary_part(np.asarray(x).dtype, dtype)
        return _base.scalar_operand(dtypes.convert_numpy(np.asarray(x), dtype)[()])
    return convert_given(x, dtype)


def checked_where(function: str, where: Any, shape: tuple) -> Any:
    """Convert the mask of a reduction to booleans of the shape of its operand."""
    where = _base.as_operand(function, where)
    aval = aval_of(where)
    if aval.dtype != _BOOL:
        raise ArgumentValueError(
            f"numpy.{function}: where must be None or a boolean array; got"
            f" where.dtype={dtypes.name(aval.dtype)}",
            fix="compare first, as in where=x > 0",
            where=where,
        )
    if dims.same_shape(aval.shape, shape):
        return where
    new = len(shape) - aval.ndim
    if new < 0 or not _fits(aval.shape, shape[new:]):
        raise ArgumentValueError.about(
            function, "where", where, f"a mask that broadcasts to the shape of the array, {shape}"
        )
    return broadcast_in_dim_p.bind(
        where, shape=shape, broadcast_dimensions=tuple(range(new, len(shape)))
    )


def masked(x: Any, mask: Any, fill: Any) -> Array:
    """Select `x` where `mask` (booleans of the same shape) is true, the scalar `fill` elsewhere."""
    aval = aval_of(x)
    filled = broadcast_in_dim_p.bind(
        as_dtype(fill, aval.dtype), shape=aval.shape, broadcast_dimensions=()
    )
    return select_n_p.bind(mask, filled, x)


def checked_initial(function: str, initial: Any, dtype: Any) -> Any:
    """Convert the initial value of a reduction to a scalar of `dtype`."""
    aval = aval_of(initial)
    if aval.ndim:
        raise ArgumentValueError(
            f"initial value must be a scalar. Got array of shape {aval.shape}", function=function
        )
    if type(initial) is int:
        if dtypes.kind(dtype) in "iu":
            dtypes.check_python_int(initial, dtype)
    return as_dtype(initial, dtype)


def restore_dims(out: Any, aval: Any, axes: tuple) -> Array:
    """Restore the reduced `axes` of `out` with size 1; `aval` is the type of the operand."""
    if not axes:
        return out
    shape = tuple([1 if i in axes else d for i, d in enumerate(aval.shape)])
    remaining = tuple([i for i in range(aval.ndim) if i not in axes])
    return broadcast_in_dim_p.bind(out, shape=shape, broadcast_dimensions=remaining)


def reduced(
    kind: str,
    a: Any,
    axes: tuple,
    working: Any,
    result: Any,
    keepdims: bool,
    mask: Any = None,
    initial: Any = None,
) -> Array:
    """Reduce `a` over `axes` by the reduction `kind`, in one dtype, and convert to another."""
    aval = aval_of(a)
    given = tuple([n for n, x in (("mask", mask), ("initial", initial)) if x is not None])
    plain = not given and not keepdims and working is result
    if plain and aval.dtype is working and not aval.weak_type:
        return _KINDS[kind][0].bind(a, axes=axes)
    return _reduced(
        a, *[x for x in (mask, initial) if x is not None],
        given=given, kind=kind, axes=axes, working=working, result=result, keepdims=bool(keepdims),
    )  # fmt: skip


@fused
def _reduced(
    a: Any,
    *arrays: Any,
    given: tuple[str, ...],
    kind: str,
    axes: tuple,
    working: Any,
    result: Any,
    keepdims: bool,
) -> Array:
    """Reduce as `reduced` does; `given` names the `arrays`."""
    more = dict(zip(given, arrays))
    primitive, combine, neutral = _KINDS[kind]
    aval = aval_of(a)
    a, initial = as_dtype(a, working), more.get("initial")
    if "mask" in more:
        a = masked(a, more["mask"], initial if neutral is None else neutral)
    found = primitive.bind(a, axes=axes)
    if initial is not None:
        found = combine(initial, found)
    found = convert(found, result)
    return restore_dims(found, aval, axes) if keepdims else found


# kind -> primitive, how to combine two results, and what changes nothing (None: only an initial value)
_KINDS: dict[str, tuple] = {
    "sum": (reduce_sum_p, arithmetic.add, 0),
    "prod": (reduce_prod_p, arithmetic.mul, 1),
    "max": (reduce_max_p, arithmetic.max, None),
    "min": (reduce_min_p, arithmetic.min, None),
    "any": (reduce_or_p, bitwise_or, False),
    "all": (reduce_and_p, bitwise_and, True),
}


# sums and products --------------------------------------------------------------------------------


def _total(
    function: str,
    a: Any,
    axis: Axis,
    dtype: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
    promote_integers: bool,
) -> Array:
    if out is not None:
        refuse_out(function, out)
    if not isinstance(a, Array):
        a = _base.as_operand(function, a)
    if axis is not None and type(axis) is not int and has_names(axis):
        if function != "sum":
            raise _named_axes.refusal(function)
        return _named_axes.total(a, axis, dtype, keepdims, initial, where, promote_integers)
    aval = aval_of(a)
    if dtype is None:
        working, result = sum_dtypes(aval.dtype, promote_integers, _thread.settings.x64)
    else:
        result = dtypes.requested_dtype(dtype, function)
        working = result
        if result == _BOOL:  # ask what is nonzero before counting, since 0.1 is no 0
            a, working = as_dtype(a, _BOOL), dtypes.default_int(_thread.settings.x64)
            aval = aval_of(a)
            if initial is not None:
                initial = as_dtype(initial, _BOOL)
    axes = axis_tuple(function, axis, aval.ndim)
    if where is not None:
        where = checked_where(function, where, aval.shape)
    if initial is not None:
        initial = checked_initial(function, initial, working)
    return reduced(function, a, axes, working, result, keepdims, where, initial)


@fused_function(1)
def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """Sum the elements of `a` along `axis` (one, several, or None: all).

    Args:
      dtype: of the result, and to add in. By default that of `a`, where booleans are added as
        integers, integers narrower than 32 bits become that wide (unless `promote_integers` is
        False) and narrow floats are added in float32.
      keepdims: whether the axes stay, with size 1.
      initial: a scalar to add.
      where: booleans that broadcast to the shape of `a`; only elements where they are true count.

    The sum of nothing is zero.

    >>> snp.sum(snp.array([[1, 2], [3, 4]]), axis=0)
    Array([4, 6], dtype=int32)
    """
    return _total("sum", a, axis, dtype, out, keepdims, initial, where, promote_integers)


@fused_function(1)
def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """Multiply the elements of `a` along `axis` (one, several, or None: all).

    Dtypes, `keepdims`, `initial` (a factor) and `where` as in `sum`. The product of nothing is one.

    >>> snp.prod(snp.array([[1, 2], [3, 4]]), axis=0)
    Array([3, 8], dtype=int32)
    """
    return _total("prod", a, axis, dtype, out, keepdims, initial, where, promote_integers)


# extrema ------------------------------------------------------------------------------------------


@fused_function(1)
def max(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Compute the maximum of `a` along `axis` (one, several, or None: all); NaN if there is one.

    Complex numbers are ordered by their real parts, equal ones by their imaginary parts. `initial`
    is one more element, needed where there may be none and with `where`, which chooses elements.
    Same dtype. Raises a ValueError for the greatest of nothing.

    >>> snp.max(snp.array([[1, 5], [3, 4]]), axis=1)
    Array([5, 4], dtype=int32)
    """
    return _extremum("max", a, axis, out, keepdims, initial, where)


@fused_function(1)
def min(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Compute the minimum of `a` along `axis` (one, several, or None: all); NaN if there is one.

    Everything else as in `max`.

    >>> snp.min(snp.array([[1, 5], [3, 4]]), axis=1)
    Array([1, 3], dtype=int32)
    """
    return _extremum("min", a, axis, out, keepdims, initial, where)


def amax(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Compute the maximum of `a` along `axis`: another name of `max`.

    >>> int(snp.amax(snp.array([1, 5, 3])))
    5
    """
    return _extremum("amax", a, axis, out, keepdims, initial, where)


def amin(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Compute the minimum of `a` along `axis`: another name of `min`.

    >>> int(snp.amin(snp.array([1, 5, 3])))
    1
    """
    return _extremum("amin", a, axis, out, keepdims, initial, where)


def _extremum(
    function: str, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    if out is not None:
        refuse_out(function, out)
    a, aval = with_aval(function, a)
    if axis is not None and type(axis) is not int and has_names(axis):
        return _named_axes.extremum(function, a, axis, keepdims, initial, where)
    axes = axis_tuple(function, axis, aval.ndim)
    if initial is not None:
        initial = checked_initial(function, initial, aval.dtype)
    else:
        check_not_empty(function, aval, axes)
        if where is not None:
            raise ArgumentValueError(
                f"reduction operation {function} does not have an identity, so to use a where mask"
                " one has to specify 'initial'",
                function=function,
            )
    if where is not None:
        where = checked_where(function, where, aval.shape)
    return reduced(function[-3:], a, axes, aval.dtype, aval.dtype, keepdims, where, initial)


def check_not_empty(function: str, aval: Any, axes: tuple) -> None:
    """Raise if there is nothing to choose from: one of the reduced axes has size 0."""
    for d in axes:
        if aval.shape[d] == 0:  # a symbolic size is recorded, and checked at run time
            raise ArgumentValueError(
                f"zero-size array to reduction operation {function} which has no identity",
                function=function,
                got=f"shape {aval.shape}, where axis {d} has size 0",
                fix="give a value for this case: initial=...",
            )


# logical ------------------------------------------------------------------------------------------


@fused_function(1)
def any(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Return whether any element of `a` along `axis` (one, several, or None: all) is not zero.

    Boolean; False for nothing. `where` (booleans) chooses the elements to look at.

    >>> snp.any(snp.array([[0, 1], [0, 0]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    return _logical("any", a, axis, out, keepdims, where)


@fused_function(1)
def all(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Return whether all elements of `a` along `axis` (one, several, or None: all) are not zero.

    Boolean; True for nothing. `where` (booleans) chooses the elements to look at.

    >>> snp.all(snp.array([[1, 1], [0, 1]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    return _logical("all", a, axis, out, keepdims, where)


def _logical(function: str, a: Any, axis: Axis, out: Any, keepdims: bool, where: Any) -> Array:
    if out is not None:
        refuse_out(function, out)
    if axis is not None and type(axis) is not int and has_names(axis):
        raise _named_axes.refusal(function)
    a, aval = with_aval(function, a)
    axes = axis_tuple(function, axis, aval.ndim)
    if where is not None:
        where = checked_where(function, where, aval.shape)
    return reduced(function, a, axes, _BOOL, _BOOL, keepdims, where)


# mean and variance --------------------------------------------------------------------------------


@fused_function(1)
def mean(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """Compute the arithmetic mean of `a` along `axis` (one, several, or None: all).

    Floating point (or complex) unless `dtype` says otherwise; narrow floats are added in float32.
    `where` (booleans) chooses the elements that count. The mean of nothing is NaN.

    >>> snp.mean(snp.array([[1, 2], [3, 4]]), axis=0)
    Array([2., 3.], dtype=float32)
    """
    if out is not None:
        refuse_out("mean", out)
    if not isinstance(a, Array):
        a = _base.as_operand("mean", a)
    aval = aval_of(a)
    working, result = _mean_dtypes("mean", aval.dtype, dtype)
    if axis is not None and type(axis) is not int and has_names(axis):
        return _named_axes.mean(a, axis, working, result, keepdims, where)
    axes = axis_tuple("mean", axis, aval.ndim)
    if where is None:
        return _mean(a, axes=axes, working=working, result=result, keepdims=bool(keepdims))
    mask = checked_where("mean", where, aval.shape)
    return _mean(a, mask, axes=axes, working=working, result=result, keepdims=bool(keepdims))


@fused
def _mean(
    a: Any, mask: Any = None, *, axes: tuple, working: Any, result: Any, keepdims: bool
) -> Array:
    aval = aval_of(a)
    a = as_dtype(a, working)
    if mask is None:
        count = counted(aval.shape, axes, working)
    else:
        count = reduce_sum_p.bind(convert(mask, working), axes=axes)
        a = masked(a, mask, 0)
    total = reduce_sum_p.bind(a, axes=axes)
    if isinstance(count, np.integer) and not count:
        # the engine's quotient of integers by 0, which older engines cannot evaluate while compiling
        found = structural.full_of(aval_of(total), -1)
    else:
        found = arithmetic.div_p.bind(total, count)
    found = convert(found, result)
    return restore_dims(found, aval, axes) if keepdims else found


def _mean_dtypes(function: str, given: Any, requested: Any) -> tuple[Any, Any]:
    if requested is None:
        return mean_dtypes(given, _thread.settings.x64)
    result = dtypes.requested_dtype(requested, function)
    return (dtypes.float32 if result == _BOOL else result), result


def counted(shape: tuple, axes: tuple, dtype: Any) -> Any:
    """Count the elements along `axes`, as a scalar of `dtype`."""
    size = dims.size([shape[i] for i in axes])
    return convert(size_as_value(size), dtype) if dims.is_dim(size) else _scalar(size, dtype)


@functools.lru_cache(maxsize=1024)
def _scalar(value: int, dtype: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(dtype)[()]


@fused_function(1)
def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """Compute the variance of `a` along `axis` (one, several, or None: all).

    That is the mean squared distance from the mean, with the number of elements less `ddof` (or
    `correction`, which is the same) as divisor; NaN where that is not positive. For complex numbers
    it is real. Computed in two passes; narrow floats in float32.

    Args:
      dtype: of the result, floating point.
      where: booleans that choose the elements that count.
      mean: the mean, if it is known, with the axes kept as dimensions of size 1.

    >>> snp.var(snp.array([[1.0, 3.0], [2.0, 6.0]]), axis=1)
    Array([1., 4.], dtype=float32)
    """
    return _variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@fused_function(1)
def std(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """Compute the standard deviation of `a` along `axis`: the root of the variance.

    All arguments as in `var`.

    >>> snp.std(snp.array([[1.0, 3.0], [2.0, 6.0]]), axis=1)
    Array([1., 2.], dtype=float32)
    """
    return _variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _variance(
    function: str,
    a: Any,
    axis: Axis,
    dtype: Any,
    out: Any,
    ddof: Any,
    keepdims: bool,
    where: Any,
    mean: Any,
    correction: Any,
) -> Array:
    if out is not None:
        refuse_out(function, out)
    if correction is not None:
        if not isinstance(ddof, int) or ddof != 0:
            raise ArgumentValueError(
                "ddof and correction can't be provided simultaneously.", function=function
            )
        ddof = correction
    a, aval = with_aval(function, a)
    working, result = variance_dtypes(function, aval.dtype, dtype)
    if axis is not None and type(axis) is not int and has_names(axis):
        found = _named_axes.variance(a, axis, working, result, ddof, keepdims, where, mean)
        return arithmetic.sqrt(found) if function == "std" else found
    axes = axis_tuple(function, axis, aval.ndim)
    mask = None if where is None else checked_where(function, where, aval.shape)
    if mean is not None:
        mean = _checked_mean(function, mean, working, aval, axes)
    if type(ddof) not in (int, float):
        ddof = as_dtype(_base.as_operand(function, ddof), dtypes.real_part_dtype(working))
        static_ddof = None
    else:
        ddof, static_ddof = None, ddof
    given = {"mask": mask, "mean": mean, "ddof": ddof}
    given = {name: x for name, x in given.items() if x is not None}
    return _spread(
        a, *given.values(), given=tuple(given), ddof=static_ddof, root=function == "std", axes=axes,
        working=working, result=result, keepdims=bool(keepdims),
    )  # fmt: skip


@fused
def _spread(
    a: Any,
    *arrays: Any,
    given: tuple[str, ...],
    ddof: Any,
    root: bool,
    axes: tuple,
    working: Any,
    result: Any,
    keepdims: bool,
) -> Array:
    """Compute the variance, or its root; `given` names the `arrays`."""
    more = dict(zip(given, arrays))
    mask, mean = more.get("mask"), more.get("mean")
    aval = aval_of(a)
    a = as_dtype(a, working)
    parts = dtypes.real_part_dtype(working)
    if mask is None:
        count = counted(aval.shape, axes, parts)
    else:
        count = reduce_sum_p.bind(convert(mask, parts), axes=axes)
        a = masked(a, mask, 0)  # before anything else, so that NaN there has no derivative either
    if mean is None:
        total = reduce_sum_p.bind(a, axes=axes)
        mean = restore_dims(arithmetic.div(total, convert_scalar(count, working)), aval, axes)
    squares = squared_distance(arithmetic.sub(a, mean))
    if mask is not None:
        squares = masked(squares, mask, 0)
    total = reduce_sum_p.bind(squares, axes=axes)
    found = divide_by_count(total, count, more.get("ddof", ddof))
    found = convert(arithmetic.sqrt(found) if root else found, result)
    return restore_dims(found, aval, axes) if keepdims else found


def variance_dtypes(function: str, given: Any, requested: Any) -> tuple[Any, Any]:
    """Return the dtypes to compute a variance in, and of the result."""
    if requested is None:
        working, result = mean_dtypes(given, _thread.settings.x64)
        return working, dtypes.real_part_dtype(result)
    result = dtypes.requested_dtype(requested, function)
    if dtypes.is_complex(given) and not dtypes.is_complex(result):
        raise ArgumentValueError(
            f"the variance of complex numbers cannot be computed in the real dtype {result}",
            function=function,
            argument="dtype",
            fix="leave it out (the result is real), or take the variance of x.real and of x.imag",
            a=given,
        )
    working, _ = mean_dtypes(result, _thread.settings.x64)
    if not dtypes.is_inexact(result):
        result = working
    return (working if dtypes.is_narrow_float(result) else result), result


def _checked_mean(function: str, mean: Any, dtype: Any, aval: Any, axes: tuple) -> Any:
    mean, given = with_aval(function, mean)
    remaining = tuple([1 if i in axes else d for i, d in enumerate(aval.shape)])
    if given.ndim not in (0, aval.ndim) or (given.ndim and not _fits(given.shape, remaining)):
        raise ArgumentValueError(
            function=function,
            argument="mean",
            got=mean,
            expected=f"shape {remaining}: the reduced axes with size 1 (as keepdims=True gives)",
        )
    return as_dtype(mean, dtype)


def _fits(shape: tuple, remaining: tuple) -> bool:
    for d, k in zip(shape, remaining):
        if not (dims.same(d, k) or dims.same(d, 1)):
            return False
    return True


def squared_distance(x: Any) -> Any:
    """Compute |x| squared elementwise; real."""
    if dtypes.is_complex(aval_of(x).dtype):
        return arithmetic.add(arithmetic.square(real(x)), arithmetic.square(imag(x)))
    return arithmetic.square(x)


def convert_scalar(count: Any, dtype: Any) -> Any:
    """Convert a count to `dtype`."""
    return count.astype(dtype) if isinstance(count, np.generic) else convert(count, dtype)


def divide_by_count(total: Any, count: Any, ddof: Any) -> Any:
    """Divide `total` by `count - ddof`; NaN where that is not positive."""
    aval = aval_of(total)
    is_static = type(ddof) in (int, float)
    if isinstance(count, np.generic) and is_static:
        freedom = count - np.asarray(ddof, aval.dtype)
        if freedom > 0:
            return arithmetic.div(total, freedom)
        return structural.full_of(aval, np.nan)
    freedom = arithmetic.sub(count, as_dtype(ddof, aval.dtype)) if not is_static or ddof else count
    quotient = arithmetic.div(*_base.align_ranks("var", (total, freedom)))
    aval = aval_of(quotient)
    positive = comparison.gt(freedom, as_dtype(0, aval.dtype))
    if aval_of(positive).shape not in ((), aval.shape):
        positive = _base.broadcast_to(positive, aval.shape)
    return select_n_p.bind(positive, structural.full_of(aval, np.nan), quotient)


# positions of extrema -----------------------------------------------------------------------------


@fused_function(1)
def argmax(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Find the index of the maximum of `a` along `axis`, without one in the flattened array.

    The first of several; that of a NaN before all others. An integer array. Raises a ValueError for
    an empty axis.

    >>> snp.argmax(snp.array([[1, 5], [4, 3]]), axis=1)
    Array([1, 0], dtype=int32)
    """
    return _position("argmax", argmax_p, a, axis, out, keepdims)


@fused_function(1)
def argmin(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Find the index of the minimum of `a` along `axis`, without one in the flattened array.

    The first of several; that of a NaN before all others. An integer array. Raises a ValueError for
    an empty axis.

    >>> snp.argmin(snp.array([[1, 5], [4, 3]]), axis=1)
    Array([0, 1], dtype=int32)
    """
    return _position("argmin", argmin_p, a, axis, out, keepdims)


def _position(
    function: str, primitive: Any, a: Any, axis: int | None, out: Any, keepdims: bool | None
) -> Array:
    if out is not None:
        refuse_out(function, out)
    a, aval = with_aval(function, a)
    flat = ravel(a) if axis is None or not aval.ndim else a
    if axis is None:
        d = 0
    else:
        d = one_axis(function, axis, aval.ndim or 1)
    size = aval_of(flat).shape[d]
    if size == 0:
        raise ArgumentValueError(
            f"attempt to get {function} of an empty sequence",
            function=function,
            got=f"shape {aval.shape}",
        )
    if dtypes.is_complex(aval.dtype):
        flat, primitive = _standing_out(flat, d, function == "argmax"), argmax_p
    found = primitive.bind(flat, axes=(d,), index_dtype=dtypes.default_int(_thread.settings.x64))
    if not keepdims:
        return found
    axes = tuple(range(aval.ndim)) if axis is None else (d,) if aval.ndim else ()
    return restore_dims(found, aval, axes)


def _standing_out(x: Any, axis: int, greatest: bool) -> Array:
    """Mask the complex elements that are the extremum along `axis`, or NaN."""
    best = restore_dims(
        (reduce_max_p if greatest else reduce_min_p).bind(x, axes=(axis,)), aval_of(x), (axis,)
    )
    return bitwise_or(comparison.eq(x, best), comparison.ne(x, x))


@fused_function(1)
def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """Count the nonzero elements of `a` along `axis` (one, several, or None: all).

    >>> snp.count_nonzero(snp.array([[0, 1], [2, 3]]), axis=1)
    Array([1, 2], dtype=int32)
    """
    a, aval = with_aval("count_nonzero", a)
    if has_names(axis):
        return sum(as_dtype(a, _BOOL), axis, keepdims=keepdims)
    axes = axis_tuple("count_nonzero", axis, aval.ndim)
    integer = dtypes.default_int(_thread.settings.x64)
    return _counts(a, axes=axes, dtype=integer, keepdims=bool(keepdims))


@fused
def _counts(a: Any, *, axes: tuple, dtype: Any, keepdims: bool) -> Array:
    counts = convert(as_dtype(a, _BOOL), dtype)
    found = reduce_sum_p.bind(counts, axes=axes)
    return restore_dims(found, aval_of(a), axes) if keepdims else found


def _are_many_integers(a: Any) -> bool:
    """Return whether one pass over `a` finds both extrema faster than two, and without derivatives."""
    a, aval = with_aval("minmax", a)
    many = dims.is_static(aval.shape) and aval.size > tuning.NUMPY_MAX_ELEMENTS
    strong = not aval.weak_type and aval.explicit_sharding is None
    return many and strong and dtypes.kind(aval.dtype) == "i"


@fused_function(1)
def minmax(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> tuple[Array, Array]:
    """Compute the minimum and the maximum of `a` along `axis`, as a pair.

    `initial` is a number for both, or a pair: the largest minimum, and the smallest maximum. `where` marks the
    elements that count.

    >>> snp.minmax(snp.array([[1, 5], [4, 3]]), axis=1)
    (Array([1, 3], dtype=int32), Array([5, 4], dtype=int32))
    """
    if out is not None:
        refuse_out("minmax", out)
    if (
        axis is None
        and initial is None
        and where is None
        and not keepdims
        and _are_many_integers(a)
    ):
        return least_and_greatest(a)
    low, high = initial if isinstance(initial, tuple) else (initial, initial)
    options = {"axis": axis, "keepdims": keepdims, "where": where}
    return min(a, initial=low, **options), max(a, initial=high, **options)


@fused_function(1)
def ptp(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """Compute the range of `a` along `axis`: its maximum less its minimum. Same dtype.

    >>> snp.ptp(snp.array([[1, 5], [4, 3]]), axis=1)
    Array([4, 1], dtype=int32)
    """
    if out is not None:
        refuse_out("ptp", out)
    a, aval = with_aval("ptp", a)
    if aval.dtype is _BOOL:
        raise ArgumentError.about("ptp", "a", a, "numbers", fix="convert it: a.astype(int)")
    if not has_names(axis):
        check_not_empty("ptp", aval, axis_tuple("ptp", axis, aval.ndim))
    return arithmetic.sub(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))
