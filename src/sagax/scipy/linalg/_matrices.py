"""Construct special matrices; those that depend on a size alone come from SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy as snp
import sagax.numpy._base as _base
import sagax.scipy.linalg._common as _common
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.lazy_import import lazy_imports
from sagax.numpy._arguments import check_choice
from sagax.numpy._fused import fused_function

if TYPE_CHECKING or lazy_imports():
    import scipy.linalg as _scipy  # it loads slowly, and few functions need it


def _vectors(function: str, argument: str, x: Any) -> Any:
    x = snp.asarray(x)
    if x.ndim == 0:
        x = x[None]
    if x.shape[-1] == 0 and function not in _OF_NOTHING:
        raise ArgumentValueError.about(function, argument, x, "at least one number")
    return x


_OF_NOTHING = ("scipy.linalg.hankel", "scipy.linalg.toeplitz")


def _positions(rows: Any, columns: Any) -> tuple[Any, Any]:
    """Return the row and the column of each element of a matrix, as arrays that broadcast."""
    return _counted(rows)[:, None], _counted(columns)[None, :]


def _counted(size: Any) -> Any:
    """Return 0, 1, ... below a size, which may be symbolic."""
    return snp.arange(size) if dims.is_dim(size) else np.arange(size)


def _from_diagonals(values: Any, rows: Any, columns: Any, step: int) -> Any:
    """Create matrices whose element (i, j) is `values[i * step + j]`, counted from the least index."""
    if dims.same(rows, 0) or dims.same(columns, 0):
        return snp.zeros((*values.shape[:-1], rows, columns), values.dtype)
    i, j = _positions(rows, columns)
    return values[..., i + j if step > 0 else (rows - 1 - i) + j]


def toeplitz(c: Any, r: Any = None) -> Array:
    """Create the matrices with first column `c` and first row `r`, constant along diagonals.

    `r` is by default the conjugate of `c`. Leading dimensions are a stack. The first element of `r`
    is not used.

    >>> linalg.toeplitz(snp.array([1, 2, 3]))
    Array([[1, 2, 3],
           [2, 1, 2],
           [3, 2, 1]], dtype=int32)
    """
    c, r = _column_and_row("toeplitz", c, r, snp.conj)
    return _base.strong(_toeplitz(c, r))


def _toeplitz(c: Any, r: Any) -> Array:
    values = snp.concatenate([snp.flip(c, -1), r[..., 1:]], axis=-1)
    return _from_diagonals(values, c.shape[-1], r.shape[-1], -1)


def hankel(c: Any, r: Any = None) -> Array:
    """Create the matrix with first column `c` and last row `r`, constant along antidiagonals.

    `r` is by default zero. The first element of `r` is not used.

    >>> linalg.hankel(snp.array([1, 2, 3]))
    Array([[1, 2, 3],
           [2, 3, 0],
           [3, 0, 0]], dtype=int32)
    """
    c, r = _column_and_row("hankel", c, r, snp.zeros_like)
    values = snp.concatenate([c, r[..., 1:]], axis=-1)
    return _base.strong(_from_diagonals(values, c.shape[-1], r.shape[-1], 1))


def _column_and_row(function: str, c: Any, r: Any, default: Callable[[Any], Any]) -> tuple:
    """Broadcast the stacks of a column and a row (by default `default(column)`)."""
    c = _vectors(f"scipy.linalg.{function}", "c", c)
    r = default(c) if r is None else _vectors(f"scipy.linalg.{function}", "r", r)
    stack = snp.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    return tuple([snp.broadcast_to(v, (*stack, v.shape[-1])) for v in (c, r)])


def circulant(c: Any) -> Array:
    """Create the matrices with first column `c`, each further column rotated by one.

    >>> linalg.circulant(snp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    c = _vectors("scipy.linalg.circulant", "c", c)
    return _toeplitz(c, snp.concatenate([c[..., :1], snp.flip(c[..., 1:], -1)], axis=-1))


@fused_function(1)
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """Create the matrix A with A @ v = convolve(a, v, mode), for vectors v of size `n`.

    >>> linalg.convolution_matrix(snp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    function = "scipy.linalg.convolution_matrix"
    check_choice(function, "mode", mode, ("full", "valid", "same"))
    a = _vectors(function, "a", a)
    n = checks.integer(function, "n", n)
    if n <= 0:
        raise ArgumentValueError.about(function, "n", n, "at least 1")
    m = a.shape[-1]
    column = snp.concatenate([a, snp.zeros_like(a, shape=(*a.shape[:-1], n - 1))], axis=-1)
    row = snp.zeros_like(a, shape=(*a.shape[:-1], n))
    row = row.at[..., 0].set(a[..., 0])
    full = toeplitz(column, row)
    if mode == "full":
        return full
    longest = dims.max_dim(m, n)
    size = longest if mode == "same" else longest - dims.min_dim(m, n) + 1
    start = (m + n - 1 - size) // 2
    return full[..., start : start + size, :]


def companion(a: Any) -> Array:
    """Create the matrices whose characteristic polynomials are `a`, highest power first.

    >>> linalg.companion(snp.array([1.0, -10.0, 31.0]))
    Array([[ 10., -31.],
           [  1.,   0.]], dtype=float32)
    """
    (a,) = _common.arrays("scipy.linalg.companion", a)
    n = a.shape[-1] if a.ndim else 0
    if n < 2:
        raise ArgumentValueError.about(
            "scipy.linalg.companion", "a", a, "at least two coefficients"
        )
    below = snp.broadcast_to(snp.eye(n - 1, k=-1, dtype=a.dtype), (*a.shape[:-1], n - 1, n - 1))
    return below.at[..., 0, :].set(-a[..., 1:] / a[..., :1])


def fiedler(a: Any) -> Array:
    """Create the matrices of the distances |a[i] - a[j]|.

    >>> linalg.fiedler(snp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    a = snp.asarray(a)
    if a.ndim == 0:
        a = a[None]
    return snp.abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a: Any) -> Array:
    """Create the matrices of five diagonals with the eigenvalues of `companion(a)`.

    Source: Fiedler, "A note on companion matrices", Linear Algebra and its Applications 372, 2003.

    >>> linalg.fiedler_companion(snp.array([1.0, -10.0, 31.0]))
    Array([[ 10., -31.],
           [  1.,   0.]], dtype=float32)
    """
    (a,) = _common.arrays("scipy.linalg.fiedler_companion", a)
    n = a.shape[-1] - 1 if a.ndim else 0
    if not dims.is_dim(n) and n < 1:
        raise ArgumentValueError.about(
            "scipy.linalg.fiedler_companion", "a", a, "at least two coefficients"
        )
    a = a / a[..., :1]
    here = -a[..., 1:]
    ahead = snp.concatenate([here[..., 1:], snp.zeros_like(here[..., :1])], axis=-1)
    i, j = _positions(n, n)
    even = i % 2 == 0
    below = (i > 0) & (j == i - 1) | (i == 0) & (j == 0)
    ones = even & (j == i + 2) | ~even & (j == snp.maximum(i - 2, 0))
    found = snp.where(even & below, here[..., :, None], ones.astype(a.dtype))
    return snp.where(even & (j == i + 1), ahead[..., :, None], found)


def leslie(f: Any, s: Any) -> Array:
    """Create the matrices with `f` as first row and `s` below the diagonal: how a population ages.

    >>> linalg.leslie(snp.array([0.0, 2.0]), snp.array([0.5]))
    Array([[0. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = snp.asarray(f), snp.asarray(s)
    if f.ndim == 0 or s.ndim == 0 or s.shape[-1] != f.shape[-1] - 1 or s.shape[-1] == 0:
        raise ArgumentValueError(
            f"shapes {f.shape} and {s.shape} do not fit",
            function="scipy.linalg.leslie",
            expected="f of n numbers and s of n - 1, n at least 2",
        )
    n = f.shape[-1]
    stack = snp.broadcast_shapes(f.shape[:-1], s.shape[:-1])
    matrix = snp.zeros((*stack, n, n), snp.result_type(f, s))
    matrix = matrix.at[..., 0, :].set(f)
    return matrix.at[..., np.arange(1, n), np.arange(n - 1)].set(s)


@fused_function(1)
def block_diag(*arrs: Any) -> Array:
    """Create one matrix with the given ones along its diagonal, and zeros elsewhere.

    Numbers and vectors are matrices of one row.

    >>> linalg.block_diag(1, snp.array([[2, 3]]))
    Array([[1, 0, 0],
           [0, 2, 3]], dtype=int32)
    """
    if not arrs:
        return snp.zeros((1, 0))
    blocks: list[Any] = [
        snp.atleast_2d(_base.as_operand("scipy.linalg.block_diag", x)) for x in arrs
    ]
    for i, block in enumerate(blocks):
        if block.ndim > 2:
            raise ArgumentValueError(
                f"Arguments to block_diag must have at most 2 dimensions, got {block.ndim} at argument {i}",
                function="scipy.linalg.block_diag",
                got=block,
                fix="vmap it over the leading dimensions",
            )
    dtype = snp.result_type(*blocks)
    rows, width, left = [], sum(b.shape[1] for b in blocks), 0
    for block in blocks:
        right = width - left - block.shape[1]
        rows.append(snp.pad(block.astype(dtype), ((0, 0), (left, right))))
        left += block.shape[1]
    return snp.concatenate(rows, axis=0)


# Matrices that follow from their sizes ------------------------------------------------------------


def _sized(function: str, make: Callable[..., Any], n: int, *args: Any) -> Array:
    n = checks.integer(function, "n", n, "an int: the size")
    try:
        found = make(n, *args)
    except ValueError as error:
        raise ArgumentValueError(f"{error}", function=function, got=n) from None
    if found.dtype.kind not in "fc":  # integers, maybe beyond 64 bits
        found = found.astype(float)
    return snp.asarray(found)


@fused_function(0)
def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """Create the matrix of the discrete Fourier transform of `n` numbers.

    `scale` "sqrtn" makes it unitary, "n" divides by n.

    >>> linalg.dft(2).real
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    found = _sized("scipy.linalg.dft", _scipy.dft, n, scale)
    if dtype is None:
        return found
    dtype = dtypes.requested_dtype(dtype, "scipy.linalg.dft")
    if dtypes.kind(dtype) != "c":
        raise ArgumentError.about("scipy.linalg.dft", "dtype", dtype, "a complex dtype")
    return found.astype(dtype)


@fused_function(0)
def hadamard(n: int, dtype: Any = int) -> Array:
    """Create the matrix of orthogonal rows of 1 and -1; `n` is a power of 2.

    >>> linalg.hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    return _sized("scipy.linalg.hadamard", _scipy.hadamard, n).astype(dtype)


@fused_function(0)
def helmert(n: int, full: bool = False) -> Array:
    """Create the orthogonal matrix of Helmert, without its first row unless `full`.

    >>> linalg.helmert(2).round(4)
    Array([[ 0.7071, -0.7071]], dtype=float32)
    """
    return _sized("scipy.linalg.helmert", _scipy.helmert, n, full)


@fused_function(0)
def hilbert(n: int) -> Array:
    """Create the matrix of 1 / (i + j + 1).

    >>> linalg.hilbert(2).round(4)
    Array([[1.    , 0.5   ],
           [0.5   , 0.3333]], dtype=float32)
    """
    return _sized("scipy.linalg.hilbert", _scipy.hilbert, n)


@fused_function(0)
def invhilbert(n: int) -> Array:
    """Create the inverse of `hilbert(n)`.

    >>> linalg.invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    return _sized("scipy.linalg.invhilbert", _scipy.invhilbert, n)


def pascal(n: int, kind: str | None = None) -> Array:
    """Create the matrix of binomial coefficients: "symmetric", "lower" or "upper" triangular.

    >>> linalg.pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    kind = kind or "symmetric"
    check_choice("scipy.linalg.pascal", "kind", kind, ("symmetric", "lower", "upper"))
    return _sized("scipy.linalg.pascal", _scipy.pascal, n, kind)


def invpascal(n: int, kind: str | None = None) -> Array:
    """Create the inverse of `pascal(n, kind)`.

    >>> linalg.invpascal(2)
    Array([[ 2., -1.],
           [-1.,  1.]], dtype=float32)
    """
    kind = kind or "symmetric"
    check_choice("scipy.linalg.invpascal", "kind", kind, ("symmetric", "lower", "upper"))
    return _sized("scipy.linalg.invpascal", _scipy.invpascal, n, kind)
