"""Solve linear systems; compute inverses, determinants and least squares.

A matrix is the last two dimensions of an array; the dimensions before them are a stack. Integers are
computed with as floating point numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.higher_order.custom_derivatives import custom_jvp
from sagax._src.primitives import structural
from sagax._src.primitives.linalg.common import mH, take_rows
from sagax._src.primitives.linalg.lu import lu
from sagax._src.primitives.linalg.triangular import triangular_solve
from sagax._src.primitives.shaping import broadcasted_iota, iota
from sagax.numpy._arguments import check_choice, static_int, with_aval
from sagax.numpy._arithmetic import absolute
from sagax.numpy._contraction import diagonal, matmul, trace
from sagax.numpy._creation import eye
from sagax.numpy._elementary import conj, imag, log, real
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._grids import tril
from sagax.numpy._linalg.factors import eigvalsh, epsilon, matrices, qr, svd, svdvals
from sagax.numpy._reductions import argmin, prod
from sagax.numpy._reductions import max as max_along
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._selection import where
from sagax.numpy._shaping import broadcast_to, expand_dims, moveaxis, reshape, squeeze

# solve, inv ---------------------------------------------------------------------------------------


@fused_function(2)
def solve(a: Any, b: Any) -> Array:
    """Solve a x = b for square matrices `a`; leading dimensions broadcast.

    `b` holds a right side in each column, or is a vector. Where `a` is singular the result is infinite
    or NaN.

    >>> snp.linalg.solve(snp.array([[2.0, 0.0], [1.0, 1.0]]), snp.array([2.0, 3.0]))
    Array([1., 2.], dtype=float32)
    """
    a, x = with_aval("linalg.solve", a, 0)
    b, y = with_aval("linalg.solve", b, 1)
    a, b = _base.promote_inexact("linalg.solve", a, b)
    a = matrices("linalg.solve", a, square=True)
    b = _base.as_array("linalg.solve", b)
    vector = y.ndim == 1
    if not y.ndim or not dims.same(y.shape[0 if vector else -2], x.shape[-1]):
        raise ArgumentValueError(
            f"shapes {x.shape} and {y.shape} do not fit",
            function="linalg.solve",
            expected=f"b with size {x.shape[-1]} along axis {0 if vector else -2}, or as a vector",
            fix="several vectors: solve(a, b[..., None])[..., 0]" if y.ndim > 1 else None,
            a=a,
            b=b,
        )
    if vector:
        b = expand_dims(b, -1)
    stack = _base.broadcast_shapes("linalg.solve", [a.shape[:-2], b.shape[:-2]])
    a, b = broadcast_to(a, (*stack, *a.shape[-2:])), broadcast_to(b, (*stack, *b.shape[-2:]))
    found = _solve(a, b)
    return squeeze(found, -1) if vector else found


def _solved(factors: tuple, b: Any) -> Any:
    """Solve a x = b from the LU factors of a."""
    packed, _, order = factors
    low = triangular_solve(
        packed, take_rows(b, order), left_side=True, lower=True, unit_diagonal=True
    )
    return triangular_solve(packed, low, left_side=True)


@custom_jvp
def _solve(a: Any, b: Any) -> Any:
    return _solved(tuple(lu(a)), b)


@_solve.defjvp
def _(primals: tuple, tangents: tuple) -> tuple:
    # a x = b, so that a dx = db - da x: one factorization serves both
    (a, b), (da, db) = primals, tangents
    factors = tuple(lu(a))
    x = _solved(factors, b)
    return x, _solved(factors, db - matmul(da, x))


@fused_function(1)
def inv(a: Any) -> Array:
    """Invert square matrices; infinite or NaN where they are singular.

    >>> snp.linalg.inv(snp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    a = matrices("linalg.inv", a, square=True)
    return _solve(a, broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape))


@fused_function(1)
def matrix_power(a: Any, n: int) -> Array:
    """Multiply `n` copies of a square matrix; of its inverse where `n` is negative.

    >>> snp.linalg.matrix_power(snp.array([[1, 1], [0, 1]]), 5)
    Array([[1, 5],
           [0, 1]], dtype=int32)
    """
    a, aval = with_aval("linalg.matrix_power", a)
    if aval.ndim < 2 or not dims.same(aval.shape[-1], aval.shape[-2]):
        raise ShapeError(
            "Last 2 dimensions of the array must be square", function="linalg.matrix_power", got=a
        )
    if not isinstance(n, (int, np.integer)):
        raise ArgumentError.about("linalg.matrix_power", "n", n, "an int: the exponent")
    n = int(n)
    if n == 0:
        return broadcast_to(eye(aval.shape[-1], dtype=aval.dtype), aval.shape)
    return _power_by_squaring(inv(a) if n < 0 else a, n=abs(n))


@fused
def _power_by_squaring(a: Any, *, n: int) -> Any:
    square, found = _base.as_array("linalg.matrix_power", a), None
    while n:
        if n & 1:
            found = square if found is None else matmul(found, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    return found


# determinants -------------------------------------------------------------------------------------


@fused_function(1)
def det(a: Any) -> Array:
    """Compute the determinant of square matrices.

    >>> float(snp.linalg.det(snp.array([[2.0, 1.0], [1.0, 3.0]])))
    5.0
    """
    a = matrices("linalg.det", a, square=True)
    n = a.shape[-1]
    if dims.same(n, 0):
        return structural.full_of(a.aval.update(shape=a.shape[:-2]), 1)
    if dims.same(n, 1):
        return a[..., 0, 0]
    if dims.same(n, 2):
        return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
    if dims.same(n, 3):
        return _det3(a)
    return _det(a)


@fused
def _det3(a: Any) -> Array:
    rows = [[a[..., i, j] for j in range(3)] for i in range(3)]
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _parity(pivots: Any) -> Any:
    """Return 1 or -1 for the rows that a factorization swapped."""
    positions = broadcasted_iota(np.int32, pivots.shape, len(pivots.shape) - 1)
    swaps = sum_along(pivots != positions, -1)
    return 1 - 2 * (swaps % 2)


@custom_jvp
def _det(a: Any) -> Any:
    packed, pivots, _ = lu(a)
    return prod(diagonal(packed, 0, -2, -1), -1) * _parity(pivots).astype(a.dtype)


@_det.defjvp
@_base.promotes_freely
def _(primals: tuple, tangents: tuple) -> tuple:
    # d det = tr(adj(a) da) with adj(a) = +-adj(U) L^-1 P. Let u be the least pivot, D the product of
    # the others. Where u is not 0, adj(U) is u D U^-1. Where it is, replace it by 1, which makes V:
    # then adj(U) = D x y^T with the column x of V^-1 and the row y^T in which u stands. So rank n - 1
    # has the right derivative too, as long as one pivot alone is 0; otherwise it is NaN.
    (a,), (da,) = primals, tangents
    packed, pivots, order = lu(a)
    sign = _parity(pivots).astype(a.dtype)
    d = diagonal(packed, 0, -2, -1)
    least = iota(np.int32, a.shape[-1]) == expand_dims(argmin(absolute(d), -1).astype(np.int32), -1)
    others, u = prod(where(least, 1, d), -1) * sign, sum_along(where(least, d, 0), -1)
    here = expand_dims(least, -1) & expand_dims(least, -2)
    v = where(here & (d == 0)[..., None], 1, packed)
    m = triangular_solve(
        packed, take_rows(da, order), left_side=True, lower=True, unit_diagonal=True
    )
    m = triangular_solve(v, m, left_side=True)
    column = triangular_solve(v, expand_dims(least, -1).astype(a.dtype), left_side=True)
    singular = sum_along(where(least, matmul(m, column)[..., 0], 0), -1)
    tangent = others * where(u == 0, singular, u * trace(m, 0, -2, -1))
    return others * u, tangent


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Array
    logabsdet: Array


@fused_function(1)
def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """Compute the sign and the logarithm of the absolute value of determinants.

    The sign of a complex determinant is a number of modulus 1. Sign 0 and minus infinity for
    singular matrices. `method` is 'lu' (also None) or 'qr'.

    >>> sign, logarithm = snp.linalg.slogdet(snp.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> float(sign), float(logarithm)
    (-1.0, 0.0)
    """
    check_choice("linalg.slogdet", "method", method, (None, "lu", "qr"), "'lu' (or None), or 'qr'")
    a = matrices("linalg.slogdet", a, square=True)
    return SlogdetResult(*(_slogdet_qr(a) if method == "qr" else _slogdet(a)))


def _sign_and_log(entries: Any, parity: Any) -> tuple[Any, Any]:
    """Compute sign and log of the product of `entries` along the last axis."""
    sizes = absolute(entries)
    zero = (sizes == 0).any(-1)
    units = entries / where(sizes == 0, 1, sizes).astype(entries.dtype)
    sign = where(zero, 0, prod(units, -1) * parity)
    return sign, where(zero, -np.inf, sum_along(log(sizes), -1))


@custom_jvp
def _slogdet(a: Any) -> tuple:
    packed, pivots, _ = lu(a)
    return _sign_and_log(diagonal(packed, 0, -2, -1), _parity(pivots).astype(a.dtype))


@_slogdet.defjvp
@_base.promotes_freely
def _(primals: tuple, tangents: tuple) -> tuple:
    packed, pivots, order = lu(*primals)
    parity = _parity(pivots).astype(packed.dtype)
    found = _sign_and_log(diagonal(packed, 0, -2, -1), parity)
    return _with_change(found, (packed, pivots, order), *tangents)


def _with_change(found: tuple, factors: tuple, da: Any) -> tuple:
    """Return sign and logarithm of a determinant, and their changes, by the factors that `lu` gives."""
    # d log det = tr(a^-1 da): its real part changes the size, its imaginary part turns the sign
    sign, size = found
    change = trace(_solved(factors, da), 0, -2, -1)
    if dtypes.is_complex(da.dtype):
        return (sign, size), (sign * (1j * imag(change)).astype(da.dtype), real(change))
    return (sign, size), (change * 0, change)


@custom_jvp
def _slogdet_qr(a: Any) -> tuple:
    vectors, factors = qr(a, "raw")
    # each Householder reflection I - t v v^H has the determinant 1 - t v^H v
    lower = structural.transpose(vectors, (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))
    below = tril(lower, -1)
    norms = 1 + real(sum_along(below * conj(below), -2))
    reflections = prod(1 - factors * norms.astype(factors.dtype), -1)
    return _sign_and_log(diagonal(lower, 0, -2, -1), reflections)


@_slogdet_qr.defjvp
@_base.promotes_freely
def _(primals: tuple, tangents: tuple) -> tuple:
    return _with_change(_slogdet_qr(*primals), tuple(lu(*primals)), *tangents)


# least squares ------------------------------------------------------------------------------------


@fused_function(2, floats="operands")
def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False) -> tuple:
    """Solve the least-squares problem min |b - a x| for one matrix `a`: x of least norm, and more.

    Args:
      b: a vector, or a matrix with a right side in each column.
      rcond: singular values below `rcond` times the greatest one count as zero; None: the precision of
        the dtype times the greater dimension of `a`; negative: that precision.
      numpy_resid: leave out residuals where NumPy does: where `a` has too small a rank or is not
        taller than wide. That depends on values, so it cannot be traced.

    Returns (x, sums of squared residuals, rank, singular values).

    >>> a = snp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x, *_ = snp.linalg.lstsq(a, snp.array([1.0, 3.0, 5.0]))
    >>> x.round(3)
    Array([1., 2.], dtype=float32)
    """
    a, x = with_aval("linalg.lstsq", a, 0)
    b, y = with_aval("linalg.lstsq", b, 1)
    if x.ndim != 2 or y.ndim not in (1, 2):
        raise ArgumentError(
            f"{x.ndim}-dimensional and {y.ndim}-dimensional arrays given",
            function="linalg.lstsq",
            expected="a matrix, and a vector or matrix",
        )
    if not dims.same(x.shape[0], y.shape[0]):
        raise ArgumentValueError(
            "Leading dimensions of input arrays must match",
            function="linalg.lstsq",
            got=f"shapes {x.shape} and {y.shape}",
        )
    a, b = (_base.as_array("linalg.lstsq", v) for v in _base.promote_inexact("linalg.lstsq", a, b))
    m, n = a.shape
    if rcond is None:
        rcond = epsilon(a) * dims.max_dim(m, n)
    else:
        rcond = where(_base.as_array("linalg.lstsq", rcond) < 0, epsilon(a), rcond)
    columns = b if b.ndim == 2 else expand_dims(b, 1)
    if dims.same(m, 0) or dims.same(n, 0):
        s = structural.full_of(a.aval.update(shape=(0,), dtype=dtypes.real_part_dtype(a.dtype)), 0)
        found = structural.full_of(a.aval.update(shape=(n, columns.shape[1])), 0)
        rank = sum_along(s != 0)
    else:
        u, s, vh = svd(a, full_matrices=False)
        nonzero = s >= (rcond * s[0]).astype(s.dtype)
        nonzero = nonzero & (s > 0)
        rank = sum_along(nonzero)
        inverse = where(nonzero, 1 / where(nonzero, s, 1), 0).astype(a.dtype)
        found = matmul(
            mH(vh), expand_dims(inverse, 1) * matmul(mH(u), columns, precision="highest")
        )
    differences = columns - matmul(a, found, precision="highest")
    residuals = sum_along(real(differences * conj(differences)), 0)
    if numpy_resid:
        full: Any = rank.concrete() if isinstance(rank, Tracer) else rank
        if full is None:
            raise ArgumentValueError(
                "numpy_resid depends on the rank of a, which is not known while tracing",
                function="linalg.lstsq",
                fix="leave it out",
                a=a,
            )
        if int(full) < n or m <= n:
            residuals = residuals[:0]
    return (found if b.ndim == 2 else squeeze(found, 1)), residuals, rank, s


@fused_function(1, floats="operands")
def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """Compute the Moore-Penrose pseudo-inverse of matrices.

    Singular values up to `rtol` (or `rcond`, the same) times the greatest one count as zero; by
    default ten times the precision of the dtype times the greater dimension. `hermitian` promises
    that `a` is Hermitian.

    >>> snp.linalg.pinv(snp.array([[2.0], [0.0]]))
    Array([[0.5, 0. ]], dtype=float32)
    """
    if rtol is not None and rcond is not None:
        raise ArgumentValueError(
            "rtol and rcond mean the same: give one of them", function="linalg.pinv"
        )
    a = matrices("linalg.pinv", a)
    if rtol is None:
        rtol = rcond if rcond is not None else 10 * dims.max_dim(*a.shape[-2:]) * epsilon(a)
    return _pinv(a, _base.as_array("linalg.pinv", rtol), bool(hermitian))


def _pinv_of(a: Any, rtol: Any, hermitian: bool) -> Any:
    if 0 in a.shape[-2:]:
        shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
        return structural.full_of(a.aval.update(shape=shape), 0)
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    nonzero = s > expand_dims(rtol.astype(s.dtype) * s[..., 0], -1)
    inverse = where(nonzero, 1 / where(nonzero, s, 1), 0).astype(a.dtype)
    return matmul(mH(vh), expand_dims(inverse, -1) * mH(u))


_pinv = custom_jvp(_pinv_of, nondiff_argnums=(2,))


@_pinv.defjvp
@_base.promotes_freely
def _(hermitian: bool, primals: tuple, tangents: tuple) -> tuple:
    # G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
    # problems whose variables separate", SIAM J. Numer. Anal. 10 (1973): for constant rank
    (a, rtol), (da, _) = primals, tangents
    p = _pinv(a, rtol, hermitian)
    m, n = a.shape[-2:]
    left, right = eye(m, dtype=a.dtype) - matmul(a, p), eye(n, dtype=a.dtype) - matmul(p, a)
    dp = matmul(matmul(p, mH(p)), matmul(mH(da), left)) - matmul(p, matmul(da, p))
    return p, dp + matmul(matmul(right, mH(da)), matmul(mH(p), p))


@fused_function(1, floats="operands")
def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Array:
    """Compute the rank of matrices: the count of singular values above `rtol` times the greatest.

    `rtol` (or `tol`, the same) is by default the precision of the dtype times the greater dimension.
    `hermitian` promises that `M` is Hermitian. A vector has rank 1 unless it is zero.

    >>> int(snp.linalg.matrix_rank(snp.ones((3, 3))))
    1
    """
    if rtol is not None and tol is not None:
        raise ArgumentValueError(
            "rtol and tol mean the same: give one of them", function="linalg.matrix_rank"
        )
    x, aval = with_aval("linalg.matrix_rank", M)
    if aval.ndim < 2:
        return (_base.as_array("linalg.matrix_rank", x) != 0).any().astype(np.int32)
    x = matrices("linalg.matrix_rank", x, square=bool(hermitian))
    s = absolute(eigvalsh(x)) if hermitian else svdvals(x)
    if rtol is None:
        rtol = tol if tol is not None else dims.max_dim(*x.shape[-2:]) * epsilon(x)
    rtol = _base.as_array("linalg.matrix_rank", rtol).astype(s.dtype)
    bound = expand_dims(rtol * max_along(s, -1, initial=0), -1)
    return sum_along(s > bound, -1)


# tensors ------------------------------------------------------------------------------------------


@fused_function(1)
def tensorinv(a: Any, ind: int = 2) -> Array:
    """Invert `a` as a map from its last dimensions to its first `ind` ones, for `tensordot`.

    >>> snp.linalg.tensorinv(snp.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)
    """
    a = _base.as_array("linalg.tensorinv", a)
    ind = static_int("linalg.tensorinv", "ind", ind)
    if ind < 1:
        raise ArgumentValueError.about("linalg.tensorinv", "ind", ind, "a positive int")
    first, last = a.shape[:ind], a.shape[ind:]
    if not dims.same(dims.size(first), dims.size(last)):
        raise ArgumentValueError(
            "the first dimensions and the other ones must have as many elements",
            function="linalg.tensorinv",
            got=f"shape {a.shape} with ind={ind}: {dims.size(first)} and {dims.size(last)}",
        )
    return reshape(inv(reshape(a, (dims.size(first), -1))), (*last, *first))


@fused_function(2)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Array:
    """Solve tensordot(a, x, x.ndim) = b for x; `axes` of `a` are moved to its end first.

    >>> snp.linalg.tensorsolve(snp.eye(6).reshape(2, 3, 6), snp.ones((2, 3))).shape
    (6,)
    """
    a = _base.as_array("linalg.tensorsolve", a)
    b = _base.as_array("linalg.tensorsolve", b)
    if axes is not None:
        axes = axes if isinstance(axes, (tuple, list)) else (axes,)
        a = moveaxis(a, axes, range(a.ndim - len(axes), a.ndim))
    shape = a.shape[b.ndim :]
    if not dims.same(dims.size(shape), b.size):
        raise ArgumentValueError(
            "the dimensions of a after those of b must have as many elements as b",
            function="linalg.tensorsolve",
            got=f"shapes {a.shape} and {b.shape}",
        )
    return reshape(solve(reshape(a, (b.size, b.size)), b.ravel()), shape)
