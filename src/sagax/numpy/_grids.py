"""Construct arrays from indices: triangles, diagonals, coordinate grids, Vandermonde matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.api.vmap import vmap
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.comparison import eq_p, ge_p
from sagax._src.primitives.shaping import iota_p, rev
from sagax._src.primitives.slicing import pad
from sagax._src.primitives.structural import convert, expand_dims, full_of, reshape
from sagax.numpy._arguments import check_choice, static_int
from sagax.numpy._arithmetic import power, power_of_few_bits
from sagax.numpy._base import number, promotes_freely, select, strong
from sagax.numpy._contraction import diagonal
from sagax.numpy._conversion import asarray
from sagax.numpy._creation import matrix_indices, ones, tri
from sagax.numpy._fused import fused_function
from sagax.numpy._joining import stack

if TYPE_CHECKING or lazy_imports():
    from sagax.numpy import _nonzero


# --- triangles and diagonals ---------------------------------------------------------------------


def _triangle(function: str, m: Any, k: Any) -> tuple:
    """Return a matrix, and where its elements are on or below the diagonal k."""
    x = _base.as_array(function, m)
    if x.ndim < 2:
        raise ArgumentValueError(
            f"Argument to numpy.{function} must be at least 2D",
            function=function,
            got=x,
            expected="a matrix, or an array of matrices",
        )
    rows, columns = matrix_indices(function, x.shape[-2], x.shape[-1], k)
    return x, ge_p.bind(rows, columns)


@fused_function(1)
def tril(m: Any, k: Any = 0) -> Array:
    """Zero the elements of each matrix of `m` above the diagonal `k` columns right of the main one.

    >>> snp.tril(snp.ones((2, 3)))
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    x, below = _triangle("tril", m, k)
    return select(below, x, _base.zero_like(x))


@fused_function(1)
def triu(m: Any, k: Any = 0) -> Array:
    """Zero the elements of each matrix of `m` below the diagonal `k` columns right of the main one.

    >>> snp.triu(snp.ones((2, 3)))
    Array([[1., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    if not hasattr(k, "ndim"):
        k = static_int("triu", "k", k)
    x, below = _triangle("triu", m, k - 1)
    return select(below, _base.zero_like(x), x)


@fused_function(1)
def diag(v: Any, k: int = 0) -> Array:
    """Create the matrix with the vector `v` on the diagonal `k` columns right of the main one.

    If `v` is a matrix, that diagonal of it.

    >>> snp.diag(snp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    >>> snp.diag(snp.ones((2, 3)), 1)
    Array([1., 1.], dtype=float32)
    """
    x = _base.as_array("diag", v)
    k = static_int("diag", "k", k)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ArgumentValueError(
            "diag input must be 1d or 2d", function="diag", argument="v", got=x
        )
    return _diagonal_matrix(x, k)


def _diagonal_matrix(x: Any, k: int) -> Array:
    size = x.shape[0] + abs(k)
    zero = full_of(x.aval.update(shape=()), 0) if x.aval.weak_type else number(0, int, x.dtype)
    # row i of the matrix holds, on the diagonal, element i of this column
    column = pad(x, zero, [(max(-k, 0), max(k, 0), 0)]) if k else x
    rows, columns = matrix_indices("diag", size, size, k)
    return select(eq_p.bind(rows, columns), expand_dims(column, (1,)), zero)


def diagflat(v: Any, k: int = 0) -> Array:
    """Create the matrix with the flattened `v` on the diagonal `k` columns right of the main one.

    >>> snp.diagflat(snp.array([[1], [2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = _base.as_array("diagflat", v)
    return strong(_diagonal_matrix(reshape(x, (x.size,)), static_int("diagflat", "k", k)))


@fused_function(1)
@promotes_freely
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Create the matrix whose rows are N powers of the elements of `x`, from the highest down to 0.

    `N` is by default the number of elements; with `increasing` the powers go up. Integers keep their
    dtype. Raises ValueError if `x` is no vector or `N` is negative.

    >>> snp.vander(snp.array([1, 2, 3]))
    Array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    x = _base.as_array("vander", x)
    if x.ndim != 1:
        raise ArgumentValueError(
            "x must be a one-dimensional array", function="vander", argument="x", got=x
        )
    count = x.shape[0] if N is None else static_int("vander", "N", N)
    if not dims.is_dim(count) and count < 0:
        raise ArgumentValueError("N must be nonnegative", function="vander", argument="N", got=N)
    exponents = _counting(count)
    if dtypes.kind(x.dtype) in "iu":
        exponents = convert(exponents, x.dtype)
    if not increasing:
        exponents = rev(exponents, (0,))
    x, exponents = expand_dims(x, (1,)), expand_dims(exponents, (0,))
    integers = dtypes.kind(x.dtype) in "iu" and dims.is_static(x.shape) and not dims.is_dim(count)
    if not integers or count > np.iinfo(x.dtype).max or aval_of(x).explicit_sharding is not None:
        return power(x, exponents)
    shape = (x.shape[0], count)  # the greatest exponent is known
    x, exponents = _base.broadcast_to(x, shape), _base.broadcast_to(exponents, shape)
    return strong(power_of_few_bits(x, exponents, max(count - 1, 0).bit_length()))


def _counting(size: Any) -> Array:
    """Create 0, 1, ..., size - 1."""
    return iota_p.bind(dtype=dtypes.default_int(_base.x64()), shape=(size,), dimension=0)


# --- indices of triangles and diagonals ----------------------------------------------------------


def _host_indices(indices: tuple) -> tuple:
    dtype = dtypes.default_int(_base.x64())
    return tuple([asarray(i.astype(dtype)) for i in indices])


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Return the indices of an n by m matrix's elements on and below the diagonal `k`.

    >>> snp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    if dims.is_dim(n) or dims.is_dim(m):
        rows, columns = n, n if m is None else m
        k = static_int("tril_indices", "k", k)
        inside = tri(rows, columns, k, dtype=bool)
        i, j = _nonzero.nonzero(inside, size=_count_above(columns, rows, -k))
        return i, j
    n, k, m = _static("tril_indices", n, k, m)
    return _host_indices(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Return the indices of an n by m matrix's elements on and above the diagonal `k`.

    >>> snp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    if dims.is_dim(n) or dims.is_dim(m):
        rows, columns = n, n if m is None else m
        k = static_int("triu_indices", "k", k)
        inside = ~tri(rows, columns, k - 1, dtype=bool)
        i, j = _nonzero.nonzero(inside, size=_count_above(rows, columns, k))
        return i, j
    n, k, m = _static("triu_indices", n, k, m)
    return _host_indices(np.triu_indices(n, k, m))


def _count_above(rows: Any, columns: Any, k: int) -> Any:
    """Count the elements of a matrix on and above its diagonal `k`."""
    if k < 0:  # all but those below it, which are above a diagonal of the transpose
        return dims.non_negative(rows * columns - _count_above(columns, rows, 1 - k))
    columns = dims.non_negative(columns - k)
    full = dims.min_dim(rows, columns)
    return dims.non_negative(full * (columns - full) + full * (full + 1) // 2)


def _static(function: str, n: Any, k: Any, m: Any) -> tuple:
    n, k = static_int(function, "n", n), static_int(function, "k", k)
    return n, k, n if m is None else static_int(function, "m", m)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Return `tril_indices` for the shape of the matrix `arr`.

    >>> snp.tril_indices_from(snp.ones((2, 2)))
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Return `triu_indices` for the shape of the matrix `arr`.

    >>> snp.triu_indices_from(snp.ones((2, 2)))
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def _matrix_shape(function: str, arr: Any) -> tuple:
    shape = arr.shape if hasattr(arr, "shape") else _base.as_array(function, arr).shape
    if len(shape) != 2:
        raise ArgumentValueError(
            "Only 2-D inputs are accepted", function=function, argument="arr", got=f"shape {shape}"
        )
    return shape


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Return the indices of the main diagonal of n elements, one array for each dimension.

    >>> snp.diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    n = static_int("diag_indices", "n", n)
    ndim = static_int("diag_indices", "ndim", ndim)
    for name, value in (("n", n), ("ndim", ndim)):
        if not dims.is_dim(value) and value < 0:
            raise ArgumentValueError(
                f"{name} argument to diag_indices must be nonnegative, got {value}",
                function="diag_indices",
            )
    return (_counting(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Return the indices of the main diagonal of `arr`, whose dimensions are all of one size.

    >>> snp.diag_indices_from(snp.ones((2, 2)))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    x = _base.as_array("diag_indices_from", arr)
    if x.ndim < 2:
        raise ArgumentValueError(
            "input array must be at least 2-d", function="diag_indices_from", argument="arr", got=x
        )
    if not all(dims.same(x.shape[0], s) for s in x.shape):
        raise ArgumentValueError(
            "All dimensions of input must be equal",
            function="diag_indices_from",
            argument="arr",
            got=x,
        )
    return diag_indices(x.shape[0], x.ndim)


def mask_indices(
    n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """Return the indices of an n by n matrix's elements that `mask_func(matrix, k)` leaves nonzero.

    `size` fixes how many there are, as in `nonzero`.

    >>> snp.mask_indices(2, snp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    if not callable(mask_func):
        raise ArgumentError.about("mask_indices", "mask_func", mask_func, "a function")
    rows, columns = _nonzero.nonzero(mask_func(ones((n, n)), k), size=size)
    return rows, columns


# --- grids ---------------------------------------------------------------------------------------


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Create the coordinates of a grid: each vector becomes an array that varies along one axis.

    With `indexing` "xy" the first two dimensions are exchanged, as for pictures. `sparse` keeps the
    others at size 1.

    >>> snp.meshgrid(snp.arange(2), snp.arange(3), indexing="ij")[1]
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    given = [_base.as_array("meshgrid", x, i) for i, x in enumerate(xi)]
    if not copy:
        raise ArgumentValueError(
            "numpy.meshgrid only supports copy=True", function="meshgrid", argument="copy"
        )
    check_choice("meshgrid", "indexing", indexing, ("xy", "ij"), "'xy' or 'ij'")
    if any(x.ndim != 1 for x in given):
        raise ArgumentValueError(
            f"Arguments to numpy.meshgrid must be 1D, got shapes {[x.shape for x in given]}",
            function="meshgrid",
            fix="flatten them first, with x.ravel()",
        )
    rank = len(given)
    axes = list(range(rank))
    if indexing == "xy" and rank >= 2:
        axes[:2] = [1, 0]
    shape = [0] * rank
    for x, axis in zip(given, axes, strict=True):
        shape[axis] = x.shape[0]
    out = []
    for x, axis in zip(given, axes, strict=True):
        line = [1] * rank
        line[axis] = x.shape[0]
        if sparse:
            out.append(reshape(x, tuple(line)))
        else:
            out.append(_base.broadcast_in_dim(x, tuple(shape), (axis,)))
    return tuple(out)


def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """Return the index along each dimension of every element of an array of shape `dimensions`.

    They are stacked along a new first dimension; with `sparse` they are a tuple of arrays that
    broadcast against each other.

    >>> snp.indices((2, 2))[0]
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    dtype = dtypes.requested_dtype(int if dtype is None else dtype, "indices")
    shape = dims.canonical_shape(dimensions, "indices: argument dimensions")
    rank = len(shape)
    out = []
    for axis, size in enumerate(shape):
        full_shape = shape if not sparse else tuple([size if a == axis else 1 for a in range(rank)])
        out.append(iota_p.bind(dtype=dtype, shape=full_shape, dimension=axis))
    if sparse:
        return tuple(out)
    if not out:
        return _base.broadcast_to(asarray(0, dtype=dtype), (0,))
    return stack(out)


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """Apply `function` to the indices of all elements of an array of the given shape.

    It is called once, by vmap, with numbers of the given dtype, one for each dimension; keyword
    arguments are passed on. It may return a pytree.

    >>> snp.fromfunction(lambda i, j: i + 10 * j, (2, 3), dtype=int)
    Array([[ 0, 10, 20],
           [ 1, 11, 21]], dtype=int32)
    """
    if not callable(function):
        raise ArgumentError.about("fromfunction", "function", function, "a function")
    shape = dims.canonical_shape(shape, "fromfunction: argument shape")
    dtype = dtypes.requested_dtype(dtype, "fromfunction")

    def call(*positions: Any) -> Any:
        return function(*positions, **kwargs)

    mapped = call
    for axis in reversed(range(len(shape))):
        in_axes = tuple([0 if i == axis else None for i in range(len(shape))])
        mapped = vmap(mapped, in_axes=in_axes)
    return mapped(*[iota_p.bind(dtype=dtype, shape=(s,), dimension=0) for s in shape])
