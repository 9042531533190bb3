"""Define QR factorization and Householder reflections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.families import MATRICES, matrix_size, shard_matrices
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, ShapeError
from sagax._src.primitives.arithmetic import abs, add, sub
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.complex_numbers import real
from sagax._src.primitives.linalg.common import (
    batch_in_front,
    check_matrix,
    check_same_dtype,
    check_same_stack,
    cuda_kernel,
    diagonal_mask,
    diagonal_part,
    each,
    identity,
    kernel,
    lapack_routine,
    lower_part,
    matmul,
    mH,
    mT,
    of,
    take_rows,
    upper_part,
)
from sagax._src.primitives.linalg.lu import lu
from sagax._src.primitives.linalg.triangular import triangular_solve
from sagax._src.primitives.reductions import reduce_or_p
from sagax._src.primitives.selection import select
from sagax._src.primitives.shaping import concatenate
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax._src.primitives.structural import broadcast_in_dim, convert, full_of

_I32 = np.dtype(np.int32)


# geqrf: R and reflections -------------------------------------------------------------------------

geqrf_p = Primitive("geqrf", family=MATRICES, multiple_results=True)
geqrf_p.samples = [
    Sample(f32(3, 2), derivatives=False),
    Sample(f32(2, 2, 3), derivatives=False),
    Sample(c64(3, 3), derivatives=False),
    Sample(f32(0, 2), derivatives=False),
]


def geqrf(a: Any) -> list[Any]:
    """Return R, with the vectors of the reflections below its diagonal, and their factors tau."""
    return geqrf_p.bind(a)


@geqrf_p.abstract
def _(a: ShapedArray) -> list:
    check_matrix("geqrf", a, "a")
    return [a, of(a, dims.min_dim(*a.shape[-2:]))]


@geqrf_p.reference
def _(a: np.ndarray) -> list:
    def factor(x: np.ndarray) -> tuple:
        if x.size == 0:
            return x, np.zeros(min(x.shape), x.dtype)
        packed, taus, _, _ = lapack_routine("geqrf", x)(x)
        return packed, taus

    return each(factor, (2,), a)


batch_in_front(geqrf_p)


@geqrf_p.lower
def _(b: Any, a: Any) -> list:
    return kernel(b, "geqrf", [a], b.outs, batch=a.aval.ndim - 2, in_place=[(0, 0)])


@geqrf_p.lower_for("cuda")
def _(b: Any, a: Any) -> list:
    n = a.aval.ndim - 2
    return cuda_kernel(b, "cusolver_geqrf_ffi", [a], b.outs, batch=n, in_place=[(0, 0)])


# geqp3: the same with pivoted columns ---------------------------------------------------------------

geqp3_p = Primitive(
    "geqp3", family=MATRICES, shard_rule=shard_matrices(2, 1), multiple_results=True
)
geqp3_p.samples = [
    Sample(f32(3, 2), np.zeros(2, np.int32), use_magma=None, derivatives=False),
    Sample(c64(2, 3, 3), np.zeros((2, 3), np.int32), use_magma=None, derivatives=False),
]


def geqp3(a: Any, jpvt: Any, *, use_magma: bool | None = None) -> list[Any]:
    """Factor as `geqrf` does, with columns in an order that makes the diagonal of R descend.

    `jpvt` is int32 of shape (..., n): nonzero columns come first. The second result is the order, counted from
    one. `use_magma`: on GPUs, take MAGMA or not; None takes it if it is there.
    """
    return geqp3_p.bind(a, jpvt, use_magma=use_magma)


@geqp3_p.abstract
def _(a: ShapedArray, jpvt: ShapedArray, *, use_magma: bool | None) -> list:
    check_matrix("geqp3", a, "a")
    if jpvt.dtype != _I32 or not dims.same_shape(jpvt.shape, (*a.shape[:-2], a.shape[-1])):
        raise ShapeError.about(
            "geqp3", "jpvt", jpvt, f"int32 of shape {(*a.shape[:-2], a.shape[-1])}"
        )
    return [a, jpvt, of(a, dims.min_dim(*a.shape[-2:]))]


@geqp3_p.reference
def _(a: np.ndarray, jpvt: np.ndarray, *, use_magma: bool | None) -> list:
    def factor(x: np.ndarray, _: np.ndarray) -> tuple:
        packed, order, taus, _, _ = lapack_routine("geqp3", x)(x)
        return packed, order.astype(np.int32), taus

    return each(factor, (2, 1), a, jpvt)


batch_in_front(geqp3_p)


@geqp3_p.lower
def _(b: Any, a: Any, jpvt: Any, *, use_magma: bool | None) -> list:
    aliases = [(0, 0), (1, 1)]
    return kernel(b, "geqp3", [a, jpvt], b.outs, batch=a.aval.ndim - 2, in_place=aliases)


@geqp3_p.lower_for("cuda")
def _(b: Any, a: Any, jpvt: Any, *, use_magma: bool | None) -> list:
    magma = {None: "auto", True: "on", False: "off"}[use_magma]
    n, both = a.aval.ndim - 2, [(0, 0), (1, 1)]
    return cuda_kernel(b, "cuhybrid_geqp3", [a, jpvt], b.outs, batch=n, in_place=both, magma=magma)


# householder_product ------------------------------------------------------------------------------

householder_product_p = Primitive(
    "householder_product", family=MATRICES, shard_rule=shard_matrices(2, 1)
)


def householder_product(a: Any, taus: Any) -> Any:
    """Return the first n columns of the product of Householder reflections.

    Args:
      a: matrices of shape (..., m, n), m >= n, with the vectors of the reflections below the diagonal.
      taus: their factors, shape (..., k), k <= n.

    >>> lax.linalg.householder_product(np.array([[0.], [1.]]), np.array([1.]))
    Array([[ 0.],
           [-1.]], dtype=float32)
    """
    return householder_product_p.bind(a, taus)


householder_product_p.samples = [
    Sample(f32(3, 2), f32(2), derivatives=False),
    Sample(f32(3, 3), f32(1), derivatives=False),
    Sample(c64(2, 3, 2), c64(2, 2), derivatives=False),
    Sample(f32(3, 3), f32(0), derivatives=False),
]


def _check_reflections(name: str, a: ShapedArray, taus: ShapedArray) -> None:
    check_matrix(name, a, "a")
    check_same_dtype(name, a=a, taus=taus)
    m, n = a.shape[-2:]
    if not (dims.is_dim(m) or dims.is_dim(n)) and m < n:
        raise ArgumentValueError.about(name, "a", a, "at least as many rows as columns")
    if taus.ndim != a.ndim - 1:
        raise ShapeError.about(
            name, "taus", taus, f"shape {(*a.shape[:-2], 'k')}".replace("'k'", "k")
        )
    k = taus.shape[-1]
    if not (dims.is_dim(k) or dims.is_dim(n)) and k > n:
        raise ArgumentValueError.about(name, "taus", taus, f"at most {n} factors for a {a.shape}")
    check_same_stack(name, (2, 1), a=a, taus=taus)


@householder_product_p.abstract
def _(a: ShapedArray, taus: ShapedArray) -> ShapedArray:
    _check_reflections("householder_product", a, taus)
    return a


def _product(a: np.ndarray, taus: np.ndarray) -> np.ndarray:
    """Return the whole product of the reflections I - tau v v^H."""
    q = np.eye(a.shape[0], dtype=a.dtype)
    for k, tau in enumerate(taus):
        v = a[:, k].copy()
        v[:k], v[k] = 0, 1
        q = q @ (np.eye(len(v), dtype=a.dtype) - tau * np.outer(v, v.conj()))
    return q


@householder_product_p.reference
def _(a: np.ndarray, taus: np.ndarray) -> np.ndarray:
    return each(lambda x, t: (_product(x, t)[:, : x.shape[1]],), (2, 1), a, taus)[0]


batch_in_front(householder_product_p)


@householder_product_p.lower
def _(b: Any, a: Any, taus: Any) -> Any:
    name = "ungqr" if dtype_predicates.is_complex(a.aval.dtype) else "orgqr"
    n = a.aval.ndim - 2
    return kernel(b, name, [a, taus], [b.out], batch=n, in_place=[(0, 0)])[0]


@householder_product_p.lower_for("cuda")
def _(b: Any, a: Any, taus: Any) -> Any:
    n = a.aval.ndim - 2
    return cuda_kernel(b, "cusolver_orgqr_ffi", [a, taus], [b.out], batch=n, in_place=[(0, 0)])[0]


# ormqr ----------------------------------------------------------------------------------------------

ormqr_p = Primitive("ormqr", family=MATRICES, shard_rule=shard_matrices(2, 1, 2))


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """Multiply c by the Q of Householder reflections, without forming it: Q c (or c Q).

    Args:
      a: the vectors of the reflections, shape (..., m, n), as `householder_product` takes them.
      taus: their factors, shape (..., k).
      c: matrices with m rows, or without `left` with m columns.
      transpose: take Q^H in place of Q.

    >>> lax.linalg.ormqr(np.zeros((2, 2)), np.zeros(2), np.array([[1.], [2.]]))
    Array([[1.],
           [2.]], dtype=float32)
    """
    return ormqr_p.bind(a, taus, c, left=bool(left), transpose=bool(transpose))


ormqr_p.samples = [
    Sample(f32(3, 2), f32(2), f32(3, 4), left=True, transpose=False, derivatives=False),
    Sample(f32(3, 2), f32(2), f32(4, 3), left=False, transpose=True, derivatives=False),
    Sample(c64(2, 3, 2), c64(2, 2), c64(2, 3, 1), left=True, transpose=True, derivatives=False),
]


@ormqr_p.abstract
def _(
    a: ShapedArray, taus: ShapedArray, c: ShapedArray, *, left: bool, transpose: bool
) -> ShapedArray:
    _check_reflections("ormqr", a, taus)
    check_matrix("ormqr", c, "c")
    check_same_dtype("ormqr", a=a, c=c)
    axis = -2 if left else -1
    if not dims.same(c.shape[axis], a.shape[-2]):
        raise ArgumentValueError(
            function="ormqr",
            argument="c",
            got=c,
            expected=f"{a.shape[-2]} {'rows' if left else 'columns'}, the rows of a {a.shape}",
        )
    check_same_stack("ormqr", (2, 2), a=a, c=c)
    return c


@ormqr_p.reference
def _(a: np.ndarray, taus: np.ndarray, c: np.ndarray, *, left: bool, transpose: bool) -> np.ndarray:
    def apply(x: np.ndarray, t: np.ndarray, c: np.ndarray) -> tuple:
        q = _product(x, t)
        q = q.conj().T if transpose else q
        return (q @ c if left else c @ q,)

    return each(apply, (2, 1, 2), a, taus, c)[0]


batch_in_front(ormqr_p)


@ormqr_p.lower
def _(b: Any, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    if 0 in taus.aval.shape or 0 in c.aval.shape:
        return c
    return kernel(
        b,
        "unmqr" if dtype_predicates.is_complex(a.aval.dtype) else "ormqr",
        [a, taus, c],
        [b.out],
        batch=a.aval.ndim - 2,
        in_place=[(2, 0)],
        left=left,
        transpose=transpose,
    )[0]


@ormqr_p.lower_for("cuda")
def _(b: Any, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    if 0 in taus.aval.shape or 0 in c.aval.shape:
        return c
    n, operands = a.aval.ndim - 2, [a, taus, c]
    return cuda_kernel(
        b,
        "cusolver_ormqr_ffi",
        operands,
        [b.out],
        batch=n,
        in_place=[(2, 0)],
        left=left,
        transpose=transpose,
    )[0]


# qr ---------------------------------------------------------------------------------------------------

qr_p = Primitive("qr", family=MATRICES, cost=matrix_size, multiple_results=True)


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Any, ...]:
    """Return Q with orthonormal columns and upper triangular R with x = Q R.

    Args:
      x: matrices of shape (..., m, n); k is the lesser of m and n.
      pivoting: factor the columns of x in an order that makes the diagonal of R descend, and return
        that order as a third array, int32 of shape (..., n): x[:, order] = Q R.
      full_matrices: Q of shape (..., m, m) and R of shape (..., m, n), in place of (..., m, k) and
        (..., k, n).
      use_magma: on GPUs and with pivoting: take MAGMA or not; None takes it if it is there.

    The signs are LAPACK's: the diagonal of R may be negative.

    >>> q, r = lax.linalg.qr(np.array([[3., 1.], [4., 2.]]))
    >>> bool(abs(q @ r - np.array([[3., 1.], [4., 2.]])).max() < 1e-5)
    True
    """
    check_matrix("qr", aval_of(x), "x")  # of an example, too, where a vmap gives a stack
    return tuple(
        qr_p.bind(
            x, pivoting=bool(pivoting), full_matrices=bool(full_matrices), use_magma=use_magma
        )
    )


def _qr_sample(x: Any, pivoting: bool, full: bool, **options: Any) -> Sample:
    return Sample(x, pivoting=pivoting, full_matrices=full, use_magma=None, **options)


qr_p.samples = [
    _qr_sample(f32(3, 3), False, True),
    _qr_sample(f32(4, 2), False, False),
    _qr_sample(f32(2, 2, 3), False, False),
    _qr_sample(c64(3, 3), False, True),
    _qr_sample(c64(4, 2), False, False),
    _qr_sample(f32(4, 2), False, True, derivatives=False),  # the added columns are arbitrary
    _qr_sample(f32(3, 3), True, True),
    _qr_sample(f32(2, 3, 2), True, False),
    _qr_sample(f32(3, 0), False, True),
    _qr_sample(f32(0, 3), False, False),
]


@qr_p.abstract
def _(x: ShapedArray, *, pivoting: bool, full_matrices: bool, use_magma: Any) -> list:
    check_matrix("qr", x, "x")
    m, n = x.shape[-2:]
    k = m if full_matrices else dims.min_dim(m, n)
    outs = [of(x, m, k), of(x, k, n)]
    return [*outs, of(x, n, dtype=_I32)] if pivoting else outs


@qr_p.reference
def _(x: np.ndarray, *, pivoting: bool, full_matrices: bool, use_magma: Any) -> list:
    import scipy.linalg

    def factor(a: np.ndarray) -> tuple:
        if a.size == 0:
            m, n = a.shape
            k = m if full_matrices else min(m, n)
            return np.eye(m, k, dtype=a.dtype), np.zeros((k, n), a.dtype)
        mode = "full" if full_matrices else "economic"
        out: Any = scipy.linalg.qr(a, mode=mode, pivoting=pivoting)
        return (*out[:2], out[2].astype(np.int32)) if pivoting else out

    return each(factor, (2,), x)


@qr_p.composite
def _(x: Any, *, pivoting: bool, full_matrices: bool, use_magma: Any) -> list:
    aval = aval_of(x)
    m, n = aval.shape[-2:]
    order: list = []
    if pivoting:
        free = full_of(of(aval, n, dtype=_I32), 0)
        packed, found, taus = geqp3(x, free, use_magma=use_magma)
        order = [sub(found, np.int32(1))]
    else:
        packed, taus = geqrf(x)
    least = dims.min_dim(m, n)
    k = m if full_matrices else least
    vectors = slice_in_dim(packed, 0, least, axis=aval.ndim - 1)
    if not dims.same(k, least):
        zero = np.zeros((), aval.dtype)[()]
        vectors = pad(vectors, zero, [*[(0, 0, 0)] * (aval.ndim - 1), (0, k - least, 0)])
    r = upper_part(slice_in_dim(packed, 0, k, axis=aval.ndim - 2))
    return [householder_product(vectors, taus), r, *order]


@qr_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, pivoting: bool, **params: Any) -> tuple:
    # With W = Q^H dQ, skew: Q^H dA = W R + dR. Below the diagonal (dR R^-1 is upper triangular, with a
    # real diagonal) W is X = Q^H dA1 R1^-1, where A1 are the first k columns of A. Columns outside the
    # range of Q come on top: dQ = Q W + (I - Q Q^H) dA1 R1^-1. The columns that full matrices add to a
    # tall A are determined up to a rotation: see `_completed`.
    (x,), (t,) = primals, tangents
    outs = qr_p.bind(x, pivoting=pivoting, **params)
    q, r = outs[:2]
    rest = [Zero.like(aval_of(o)) for o in outs[2:]]
    if is_zero(t) or 0 in aval_of(x).shape:
        return outs, [Zero.like(aval_of(q)), Zero.like(aval_of(r)), *rest]
    if pivoting:
        t = mT(take_rows(mT(t), outs[2]))
    aval = aval_of(x)
    last = aval.ndim - 1
    m, n = aval.shape[-2:]
    k = dims.min_dim(m, n)
    columns = aval_of(q).shape[-1]
    square = slice_in_dim(slice_in_dim(r, 0, k, axis=last - 1), 0, k, axis=last)
    moved = triangular_solve(square, slice_in_dim(t, 0, k, axis=last))
    inner = matmul(mH(q), moved)
    skew = inner
    if not dims.same(columns, k):
        zero = np.zeros((), aval.dtype)[()]
        skew = pad(inner, zero, [*[(0, 0, 0)] * last, (0, columns - k, 0)])
    diagonal = diagonal_part(skew)
    below = lower_part(skew, -1)
    skew = sub(below, mH(below))
    if dtype_predicates.is_complex(aval.dtype):
        skew = add(skew, sub(diagonal, convert(real(diagonal), aval.dtype)))
    tq = matmul(q, skew)
    if not dims.same(columns, m):  # else there is nothing outside of the range
        tq = add(tq, sub(moved, matmul(q, inner)))
    elif dims.is_static((m, n)) and m > n:
        tq = _completed(q, tq, n)
    tr = upper_part(sub(matmul(mH(q), t), matmul(skew, r)))
    return outs, [tq, tr, *rest]


def _completed(q: Any, t: Any, n: int) -> Any:
    """Complete the tangents of Q: the first `n` columns of `t` are correct, the rest only up to a rotation.

    Q is a product of Householder reflections, Q = I - V T V^H with V = [V1; V2] of n columns, V1 unit lower
    triangular. So the first columns determine the rest: with B = V T V1^H, the first columns of I - Q, and
    G = V2 V1^-1, its lower rows times the inverse of its upper ones, those are [0; I] - B G^H. Where a
    reflection is the identity the upper rows have no inverse, and Q jumps: the rotation stays.
    """
    aval = aval_of(q)
    last, m = aval.ndim - 1, aval.shape[-1]
    first = slice_in_dim(sub(identity(aval.shape, aval.dtype), q), 0, n, axis=last)
    upper = slice_in_dim(first, 0, n, axis=last - 1)
    lower = slice_in_dim(first, n, m, axis=last - 1)
    t_first, t_rest = slice_in_dim(t, 0, n, axis=last), slice_in_dim(t, n, m, axis=last)
    t_upper = slice_in_dim(t_first, 0, n, axis=last - 1)
    t_lower = slice_in_dim(t_first, n, m, axis=last - 1)
    factors, _, order = lu(mH(upper))
    shape = aval_of(factors).shape
    least = full_of(aval_of(abs(factors)), np.sqrt(dtypes.finfo(aval.dtype).eps))
    singular = bitwise_and(lt(abs(factors), least), diagonal_mask(shape))
    factors = select(singular, full_of(aval_of(factors), 1), factors)

    def solved(c: Any) -> Any:
        c = triangular_solve(factors, take_rows(c, order), left_side=True, lower=True, unit_diagonal=True)  # fmt: skip
        return triangular_solve(factors, c, left_side=True)

    g = solved(mH(lower))
    t_g = solved(mH(sub(matmul(mH(g), t_upper), t_lower)))
    found = sub(matmul(t_first, g), matmul(first, t_g))
    no_inverse = reduce_or_p.bind(singular, axes=(last - 1, last))
    no_inverse = broadcast_in_dim(no_inverse, aval_of(found).shape, tuple(range(last - 1)))
    return concatenate([t_first, select(no_inverse, t_rest, found)], last)


batch_in_front(qr_p)
