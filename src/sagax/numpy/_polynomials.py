"""Compute with polynomials, given by coefficients from the highest power down."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

import sagax.numpy._base as _base
from sagax._src import tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError
from sagax._src.primitives import structural
from sagax._src.primitives.shaping import concatenate, iota_p, unstack
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax.numpy._arguments import concrete_or_raise, static_int, with_aval
from sagax.numpy._arithmetic import absolute, maximum
from sagax.numpy._base import promotes_freely
from sagax.numpy._contraction import matmul, outer
from sagax.numpy._creation import arange
from sagax.numpy._elementary import sqrt
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._grids import vander
from sagax.numpy._joining import stack
from sagax.numpy._linalg.factors import eigvals, epsilon
from sagax.numpy._linalg.systems import inv, lstsq
from sagax.numpy._reductions import argmax
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._repeating import trim_zeros
from sagax.numpy._selection import where
from sagax.numpy._shaping import atleast_1d, broadcast_to, expand_dims, flip, roll
from sagax.numpy._signals import convolve
from sagax.numpy._sorting import argsort


def _coefficients(function: str, p: Any, argument: str, *, stacked: bool = False) -> Array:
    """Convert a polynomial to a vector; a number is a constant one. `stacked`: or to a stack of columns."""
    x, aval = with_aval(function, p)
    if aval.ndim > 1 and not stacked:
        raise ArgumentValueError.about(function, argument, p, "a vector of coefficients")
    return cast(Array, atleast_1d(x))


def _promoted(function: str, a1: Any, a2: Any, *, stacked: bool = False) -> tuple[Array, Array]:
    a, b = (
        _coefficients(function, p, argument, stacked=stacked)
        for p, argument in ((a1, "a1"), (a2, "a2"))
    )
    a, b = _base.promote_dtypes(function, a, b)
    return a, b


# arithmetic ---------------------------------------------------------------------------------------


@fused_function(2)
def polyadd(a1: Any, a2: Any) -> Array:
    """Add two polynomials, or stacks of them whose first dimension counts the coefficients.

    >>> snp.polyadd(snp.array([1, 2, 3]), snp.array([1, 1]))
    Array([1, 3, 4], dtype=int32)
    """
    a, b = _of_one_degree("polyadd", a1, a2)
    return a + b


@fused_function(2)
def polysub(a1: Any, a2: Any) -> Array:
    """Subtract two polynomials, or stacks of them whose first dimension counts the coefficients.

    >>> snp.polysub(snp.array([1, 2, 3]), snp.array([1, 1]))
    Array([1, 1, 2], dtype=int32)
    """
    a, b = _of_one_degree("polysub", a1, a2)
    return a - b


def _of_one_degree(function: str, a1: Any, a2: Any) -> list[Any]:
    """Pad the shorter of two polynomials with zeros as its highest coefficients."""
    found = _promoted(function, a1, a2, stacked=True)
    if found[0].ndim != found[1].ndim:
        raise ArgumentValueError.about(
            function, "a2", found[1], f"as many dimensions as a1 ({found[0].ndim})"
        )
    size = max(p.shape[0] for p in found)

    def padded(p: Any) -> Any:
        missing = size - p.shape[0]
        if not missing:
            return p
        zero = structural.full_of(p.aval.update(shape=()), 0)
        return pad(p, zero, ((missing, 0, 0), *[(0, 0, 0)] * (p.ndim - 1)))

    return [padded(p) for p in found]


@fused_function(2)
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Array:
    """Multiply two polynomials, in floating point.

    With `trim_leading_zeros` leading zeros of both are left out first, as NumPy does; they must be
    known while tracing.

    >>> snp.polymul(snp.array([1, 2]), snp.array([1, 3]))
    Array([1., 5., 6.], dtype=float32)
    """
    a, b = _promoted("polymul", a1, a2)
    if trim_leading_zeros and (a.shape[0] > 1 or b.shape[0] > 1):
        a, b = trim_zeros(a, "f"), trim_zeros(b, "f")
    empty = [structural.full_of(x.aval.update(shape=(1,)), 0) for x in (a, b)]
    a, b = (x if x.shape[0] else zero for x, zero in zip((a, b), empty))
    return convolve(a, b, mode="full")


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """Divide two polynomials, in floating point: quotient and remainder.

    The remainder has as many coefficients as `u`; with `trim_leading_zeros` leading ones that are zero
    are left out, which needs them to be known while tracing. The first coefficient of `v` must not be
    zero.

    >>> quotient, remainder = snp.polydiv(snp.array([1, 5, 6]), snp.array([1, 2]))
    >>> quotient
    Array([1., 3.], dtype=float32)
    """
    a, b = _coefficients("polydiv", u, "u"), _coefficients("polydiv", v, "v")
    a, b = _base.promote_inexact("polydiv", a, b)
    m, n = a.shape[0], b.shape[0]
    steps = m - n + 1
    if steps < 1 or not n:
        quotient = structural.full_of(a.aval.update(shape=(1,), weak_type=False), 0)
        remainder = a
    else:
        quotient, remainder = _long_division(a, b, steps=steps)
    if trim_leading_zeros:
        remainder = trim_zeros(remainder, "f")
        if not remainder.shape[0]:
            remainder = structural.full_of(a.aval.update(shape=(1,)), 0)
    return quotient, remainder


@fused
def _long_division(a: Any, b: Any, *, steps: int) -> tuple:
    n = b.shape[0]
    found = []
    lead = b[0]
    for k in range(steps):
        factor = a[k] / lead
        found.append(factor)
        a = a.at[k : k + n].add(-factor * b)
    return _base.strong(stack(found)), a


# values -------------------------------------------------------------------------------------------


def polyval(p: Any, x: Any, *, unroll: int | None = None) -> Array:
    """Evaluate the polynomial `p` at `x` by Horner's scheme; shape of `x`, common dtype.

    `p` may have more dimensions, which broadcast against `x`; the first counts the coefficients.
    `unroll` is accepted for compatibility.

    >>> snp.polyval(snp.array([1, 2, 3]), snp.array([0, 1, 2]))
    Array([ 3,  6, 11], dtype=int32)
    """
    p, p_aval = with_aval("polyval", p, 0)
    if not p_aval.ndim:
        raise ArgumentValueError.about("polyval", "p", p, "an array of coefficients")
    x, _ = with_aval("polyval", x, 1)
    p, x = (_base.as_array("polyval", v) for v in _base.promote_dtypes("polyval", p, x))
    shape = _base.broadcast_shapes("polyval", [p.shape[1:], x.shape])
    return _horner(p, broadcast_to(x, shape))


@fused
def _horner(p: Any, x: Any) -> Array:
    dtype = x.aval.dtype
    found = structural.full_of(x.aval.strip_weak_type(), 0)
    for i, c in enumerate(unstack(p)):
        c = broadcast_to(structural.convert(c, dtype), x.shape)
        found = c if i == 0 else found * x + c
    return found


# roots --------------------------------------------------------------------------------------------


@fused_function(1)
def poly(seq_of_zeros: Any) -> Array:
    """Compute the coefficients of the monic polynomial with the given zeros.

    For a square matrix its characteristic polynomial. Floating point, complex for complex zeros and
    for matrices.

    >>> snp.poly(snp.array([1, 2]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    zeros, aval = with_aval("poly", seq_of_zeros)
    if aval.ndim == 2:
        zeros = eigvals(zeros)
    elif aval.ndim > 2:
        raise ArgumentValueError.about(
            "poly", "seq_of_zeros", zeros, "a vector of zeros, or a square matrix"
        )
    (zeros,) = _base.promote_inexact("poly", atleast_1d(zeros))
    if not zeros.shape[0]:
        return structural.full_of(zeros.aval.update(shape=()), 1)
    return _base.strong(_from_zeros(zeros))


@fused
def _from_zeros(zeros: Any) -> Array:
    one = structural.full_of(zeros.aval.update(shape=(1,)), 1)
    nothing = structural.full_of(one.aval, 0)
    found = one
    for z in unstack(zeros):  # times (x - z); the first coefficient stays 1 where z is infinite
        found = concatenate([found, nothing], 0) - concatenate([nothing, z * found], 0)
    return found


@promotes_freely
def roots(p: Any, *, strip_zeros: bool = True) -> Array:
    """Compute the zeros of the polynomial `p`, complex, as the eigenvalues of its companion matrix.

    There are as many as its degree, so that leading zeros of `p` must be known while tracing; with
    `strip_zeros=False` they need not be: then there is a NaN for each of them at the end. In no
    particular order.

    >>> snp.sort(snp.roots(snp.array([1.0, -3.0, 2.0]))).real.round(3)
    Array([1., 2.], dtype=float32)
    """
    x, aval = with_aval("roots", p)
    if not aval.ndim:  # a constant has no zeros
        return _no_roots(_base.as_array("roots", _base.promote_inexact("roots", x)[0]))
    if aval.ndim != 1:
        raise ArgumentValueError("Input must be a rank-1 array.", function="roots", got=p)
    (x,) = _base.promote_inexact("roots", x)
    x = _base.as_array("roots", x)
    if x.shape[0] < 2:
        return _no_roots(x)
    if not strip_zeros:
        return _all_roots(x)
    values = concrete_or_raise(
        "roots", x, "pass strip_zeros=False: then the result has a NaN for each leading zero"
    )
    nonzero_indices = np.flatnonzero(values)
    if not len(nonzero_indices):
        return _no_roots(x)
    first, last = int(nonzero_indices[0]), int(nonzero_indices[-1]) + 1
    found = eigvals(_companion(x[first:last])) if last - first > 1 else _no_roots(x)
    zeros = structural.full_of(found.aval.update(shape=(x.shape[0] - last,)), 0)
    return concatenate([found, zeros], 0)


def _no_roots(x: Any) -> Any:
    dtype = dtypes.to_complex(x.dtype)
    return structural.full_of(x.aval.update(shape=(0,), dtype=dtype, weak_type=False), 0)


def _companion(p: Any) -> Any:
    """Create the matrix whose characteristic polynomial is `p`, divided by its first coefficient."""
    n = p.shape[0] - 1
    below = np.eye(n, k=-1, dtype=p.dtype)
    first = np.zeros((n, 1), p.dtype)
    first[0] = 1
    return below - first * (p[1:] / p[0])


@fused
def _all_roots(p: Any) -> Array:
    """Leading zeros are moved to the end, where each adds a root 0; these are taken for the NaN."""
    leading = argmax(p != 0)
    found = eigvals(_companion(roll(p, -leading)))
    found = found[argsort(-absolute(found))]
    n = found.shape[0]
    return where(np.arange(n) < n - leading, found, complex(np.nan, np.nan))


class SampleSizeError(SagaxError, TypeError):
    """Points and values that do not go together."""


@fused_function(2)
@promotes_freely
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Fit a polynomial of degree `deg` to the points (x, y) by least squares; its coefficients.

    Args:
      y: a vector, or a matrix with several sets of values as columns.
      rcond: singular values below `rcond` times the greatest one count as zero; by default the number
        of points times the precision of the dtype.
      full: also return sums of squared residuals, rank, singular values and `rcond`.
      w: weights of the points; a residual is multiplied by its weight before it is squared.
      cov: also return the covariance matrix of the coefficients, scaled by the residuals, or
        "unscaled", for weights that are reciprocal standard deviations.

    >>> snp.polyfit(snp.array([0.0, 1.0, 2.0]), snp.array([1.0, 3.0, 5.0]), 1).round(3)
    Array([2., 1.], dtype=float32)
    """
    deg = static_int("polyfit", "deg", deg)
    if deg < 0:
        raise ArgumentValueError("expected deg >= 0", function="polyfit", got=deg)
    x, x_aval = with_aval("polyfit", x, 0)
    y, y_aval = with_aval("polyfit", y, 1)
    if x_aval.ndim != 1 or dims.same(x_aval.size, 0):
        raise SampleSizeError("expected 1D vector for x", function="polyfit", got=x)
    if y_aval.ndim not in (1, 2):
        raise SampleSizeError("expected 1D or 2D array for y", function="polyfit", got=y)
    if not dims.same(x_aval.shape[0], y_aval.shape[0]):
        raise SampleSizeError(
            "expected x and y to have same length",
            function="polyfit",
            got=f"shapes {x_aval.shape} and {y_aval.shape}",
        )
    x, y = (_base.as_array("polyfit", v) for v in _base.promote_inexact("polyfit", x, y))
    points = x.shape[0]
    if rcond is None:
        rcond = points * float(epsilon(x))
    left, right = vander(x, deg + 1), y
    if w is not None:
        w, w_aval = with_aval("polyfit", w, 5)
        if w_aval.ndim != 1 or not dims.same(w_aval.shape[0], points):
            raise SampleSizeError(
                "expected w and y to have the same length", function="polyfit", got=w
            )
        w = structural.convert(w, x.dtype)
        left = left * expand_dims(w, 1)
        right = right * (expand_dims(w, 1) if right.ndim == 2 else w)
    # columns of norm 1 make the problem as well conditioned as it can be
    scale = sqrt(sum_along(left * left, 0))
    found, residuals, rank, s = lstsq(left / scale, right, rcond)
    found = found / (expand_dims(scale, 1) if right.ndim == 2 else scale)
    if full:
        return found, residuals, rank, s, _base.as_array("polyfit", rcond)
    if not cov:
        return found
    basis = inv(matmul(left.T, left) / outer(scale, scale)) / outer(scale, scale)
    if cov == "unscaled":
        factor: Any = 1
    else:
        if points <= deg + 1:
            raise ArgumentValueError(
                "the number of data points must exceed order to scale the covariance matrix",
                function="polyfit",
                got=f"{points} points and deg={deg}",
            )
        factor = residuals / (points - deg - 1)
    if right.ndim == 2:
        return found, expand_dims(basis, -1) * factor
    return found, basis * factor


# derivatives and integrals ------------------------------------------------------------------------


@fused_function(1)
def polyder(p: Any, m: int = 1) -> Array:
    """Differentiate a polynomial `m` times, in floating point; or a stack of them, along its first axis.

    >>> snp.polyder(snp.array([1, 2, 3]))
    Array([2., 2.], dtype=float32)
    """
    m = static_int("polyder", "m", m)
    if m < 0:
        raise ArgumentValueError("Order of derivative must be positive", function="polyder", got=m)
    (p,) = _base.promote_inexact("polyder", _coefficients("polyder", p, "p", stacked=True))
    size = p.shape[0]
    if not m:
        return p
    if size <= m:
        return slice_in_dim(p, 0, 0)
    powers: Any
    if not dims.is_dim(size) and size - m <= tuning.NUMPY_MAX_ELEMENTS:
        powers = np.arange(size - 1, m - 1, -1.0)
    else:  # many are counted where they are used, rather than read from a constant
        powers = _counted_down(size - 1, size - m, p.dtype)
    factors = powers
    for k in range(1, m):
        factors = factors * (powers - k)
    factors = factors.astype(p.dtype).reshape(-1, *[1] * (p.ndim - 1))
    return slice_in_dim(p, 0, size - m) * factors


def _counted_down(first: Any, count: Any, dtype: Any) -> Array:
    """Create first, first - 1, ... as floating point numbers of at least float32."""
    numbers = first - iota_p.bind(dtype=dtypes.int32, shape=(count,), dimension=0)
    double = dtype in (dtypes.float64, dtypes.complex128)
    return structural.convert(numbers, dtypes.float64 if double else dtypes.float32)


@fused_function(1)
def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """Integrate a polynomial `m` times, in floating point.

    `k` holds the constants of integration, in the order of integration: a number (for all) or `m` of
    them; None is 0.

    >>> snp.polyint(snp.array([2, 2]), k=7)
    Array([1., 2., 7.], dtype=float32)
    """
    m = static_int("polyint", "m", m)
    if m < 0:
        raise ArgumentValueError(
            "Order of integral must be positive (see polyder)", function="polyint", got=m
        )
    k = atleast_1d(0 if k is None else _base.as_operand("polyint", k, 2))
    p, k = _base.promote_inexact("polyint", _coefficients("polyint", p, "p"), k)
    if k.ndim > 1 or k.shape[0] not in (1, m):
        raise ArgumentValueError(
            "k must be a scalar or a rank-1 array of length 1 or m.", function="polyint", got=k
        )
    if not m:
        return p
    extended = concatenate([p, broadcast_to(k, (m,))], 0)
    # the coefficient of x^j was divided by j, j-1, ... for each integration it went through
    size = p.shape[0] + m
    if dims.is_dim(size):
        powers, greater = flip(arange(size, dtype=p.dtype)), maximum
    elif size > tuning.NUMPY_MAX_ELEMENTS:
        powers, greater = _counted_down(size - 1, size, p.dtype), maximum
    else:
        powers, greater = np.arange(size - 1, -1, -1.0), np.maximum
    divisors = greater(powers, 1)
    for i in range(1, m):
        divisors = divisors * greater(powers - i, 1)
    return extended / divisors.astype(p.dtype)
