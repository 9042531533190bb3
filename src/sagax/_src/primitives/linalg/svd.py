"""Define the singular value decomposition."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates
from sagax._src.core.avals import ShapedArray
from sagax._src.core.families import MATRICES, matrix_size
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.arithmetic import add, mul, reciprocal, sub
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.complex_numbers import real
from sagax._src.primitives.linalg.common import (
    UnsupportedError,
    batch_in_front,
    check_matrix,
    columns,
    cuda_kernel,
    diagonal_part,
    each,
    info_of,
    kernel,
    matmul,
    mH,
    nan_where_failed,
    of,
    rows,
    with_diagonal,
)
from sagax._src.primitives.linalg.eigen import _diagonal, _whole_range
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.structural import convert, zeros_of


class SvdAlgorithm(enum.Enum):
    """Select the algorithm. The CPU has all but JACOBI and POLAR, GPUs all but DIVIDE_AND_CONQUER."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


svd_p = Primitive("svd", family=MATRICES, cost=matrix_size, multiple_results=True)


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """Compute U, s and V^H with x = U diag(s) V^H, or s only without `compute_uv`.

    Args:
      x: matrices of shape (..., m, n); k is the lesser of m and n.
      full_matrices: U of shape (..., m, m) and V^H of shape (..., n, n), in place of (..., m, k) and
        (..., k, n).
      subset_by_index: None or (0, k): other subsets are not supported.
      algorithm: on the CPU QR, or divide and conquer (the default). On GPUs QR, POLAR or JACOBI; the default
        is JACOBI up to size 1024, then QR.

    s of shape (..., k) descends. NaN if LAPACK fails, as for matrices with NaNs. The derivative of singular
    vectors is infinite or NaN where singular values coincide, and they have none with full matrices unless
    m = n.

    >>> lax.linalg.svd(np.array([[0., 2.], [1., 0.]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    aval = aval_of(x)
    check_matrix("svd", aval, "x")
    if subset_by_index is not None and tuple(subset_by_index) == (
        0,
        dims.min_dim(*aval.shape[-2:]),
    ):
        subset_by_index = None
    if subset_by_index is not None and full_matrices and compute_uv:
        raise ArgumentValueError.about(
            "svd", "subset_by_index", subset_by_index, "None where full_matrices is set"
        )
    out = svd_p.bind(
        x,
        full_matrices=bool(full_matrices),
        compute_uv=bool(compute_uv),
        subset_by_index=None if subset_by_index is None else tuple(subset_by_index),
        algorithm=_algorithm(algorithm),
    )
    if not compute_uv:
        return out[0]
    s, u, vh = out
    return u, s, vh


def _algorithm(algorithm: Any) -> SvdAlgorithm | None:
    try:
        return None if algorithm is None else SvdAlgorithm(algorithm)
    except ValueError:
        raise ArgumentValueError(
            function="svd",
            argument="algorithm",
            got=repr(algorithm),
            expected=f"None or one of {', '.join(str(a) for a in SvdAlgorithm)}",
        ) from None


def _options(full: bool, uv: bool, algorithm: Any = None) -> dict:
    return {
        "full_matrices": full,
        "compute_uv": uv,
        "subset_by_index": None,
        "algorithm": algorithm,
    }


# the signs of singular vectors are LAPACK's choice, which follows small changes: real ones differ well
svd_p.samples = [
    Sample(f32(3, 3), **_options(True, True)),
    Sample(f32(4, 2), **_options(False, True)),
    Sample(f32(2, 2, 3), **_options(False, True)),
    Sample(f32(2, 3), **_options(True, False)),
    Sample(c64(3, 2), **_options(False, False)),
    Sample(f32(3, 2), derivatives=False, **_options(True, True)),
    Sample(c64(2, 3), derivatives=False, **_options(False, True)),  # phases: tests of their own
    Sample(f32(0, 3), **_options(True, True)),
    Sample(f32(2, 3, 0), **_options(False, False)),
]


@svd_p.abstract
def _(
    x: ShapedArray, *, full_matrices: bool, compute_uv: bool, subset_by_index: Any, algorithm: Any
) -> list:
    check_matrix("svd", x, "x")
    m, n = x.shape[-2:]
    k = dims.min_dim(m, n)
    _whole_range("svd", subset_by_index, k)
    s = of(x, k, dtype=dtype_predicates.real_part_dtype(x.dtype))
    if not compute_uv:
        return [s]
    return [s, of(x, m, m if full_matrices else k), of(x, n if full_matrices else k, n)]


@svd_p.reference
def _(x: np.ndarray, *, full_matrices: bool, compute_uv: bool, **_: Any) -> list:
    import scipy.linalg

    def values(a: Any) -> tuple:
        m, n = a.shape
        k = min(m, n)
        if a.size == 0:
            u = np.eye(m, m if full_matrices else k)
            s, vh = np.zeros(k, a.real.dtype), np.eye(n if full_matrices else k, n)
        else:
            u, s, vh = scipy.linalg.svd(a, full_matrices=full_matrices)
        return (s, u.astype(a.dtype), vh.astype(a.dtype)) if compute_uv else (s,)

    return each(values, (2,), x)


@svd_p.jvp
def _(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    full_matrices: bool,
    compute_uv: bool,
    **params: Any,
) -> tuple:
    # P = U^H dA V = Wu S + dS - S Wv, with Wu = U^H dU and Wv = V^H dV skew: off the diagonal P and P^H
    # give two equations for both. On it they leave a phase, which goes to U. What dA moves out of the
    # ranges of U and V comes on top (J. Townsend, 2016; Z.-Q. Wan and S.-X. Zhang, 2019).
    (x,), (t,) = primals, tangents
    aval = aval_of(x)
    m, n = aval.shape[-2:]
    if compute_uv and full_matrices and not dims.same(m, n) and 0 not in aval.shape:
        raise UnsupportedError(
            "full matrices of singular vectors have no derivative unless m = n: the added vectors are "
            "arbitrary",
            function="svd",
            argument="full_matrices",
            got=f"full_matrices=True for matrices of shape {aval.shape}",
            fix="pass full_matrices=False",
        )
    if not compute_uv:
        full_matrices = False
    s, u, vh = outs = svd_p.bind(x, full_matrices=full_matrices, compute_uv=True, **params)
    results = outs if compute_uv else outs[:1]
    if is_zero(t) or 0 in aval.shape:
        return results, [Zero.like(aval_of(o)) for o in results]
    v = mH(vh)
    moved = matmul(t, v)
    inner = matmul(mH(u), moved)
    ts = _diagonal(inner)
    ts = real(ts) if dtype_predicates.is_complex(aval.dtype) else ts
    if not compute_uv:
        return results, [ts]
    shape = aval_of(inner).shape
    inverse = convert(_safe_reciprocal(s), aval.dtype)
    by_column, by_row = (convert(f(s, shape), aval.dtype) for f in (columns, rows))
    gaps = mul(sub(columns(s, shape), rows(s, shape)), add(columns(s, shape), rows(s, shape)))
    gaps = convert(with_diagonal(reciprocal(with_diagonal(gaps, 1)), 0), aval.dtype)
    right, left = mul(inner, by_column), mul(by_row, inner)
    skew_u = mul(gaps, add(right, mH(right)))
    skew_v = mul(gaps, add(left, mH(left)))
    if dtype_predicates.is_complex(aval.dtype):
        phase = mul(diagonal_part(sub(inner, mH(inner))), 0.5)
        skew_u = add(skew_u, mul(phase, columns(inverse, shape)))
    tu, tv = matmul(u, skew_u), matmul(v, skew_v)
    if not dims.same(m, shape[-1]):
        outside = sub(moved, matmul(u, inner))
        tu = add(tu, mul(outside, columns(inverse, aval_of(outside).shape)))
    if not dims.same(n, shape[-1]):
        back = matmul(mH(t), u)
        outside = sub(back, matmul(v, mH(inner)))
        tv = add(tv, mul(outside, columns(inverse, aval_of(outside).shape)))
    return results, [ts, tu, mH(tv)]


def _safe_reciprocal(s: Any) -> Any:
    """Return 1 / s, and zero where s is zero."""
    zero = zeros_of(aval_of(s))
    vanishes = eq(s, zero)
    return select_n(vanishes, reciprocal(select_n(vanishes, s, add(zero, 1))), zero)


batch_in_front(svd_p)


@svd_p.lower
def _(b: Any, x: Any, *, full_matrices: bool, compute_uv: bool, algorithm: Any, **_: Any) -> list:
    if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
        raise UnsupportedError(
            f"the {algorithm.name} algorithm does not exist on the CPU",
            function="svd",
            argument="algorithm",
            got=algorithm,
            expected="None, DEFAULT, QR or DIVIDE_AND_CONQUER",
        )
    s = b.outs[0]
    n = s.ndim - 1
    rows_, columns_ = x.aval.shape[-2:]
    k = s.shape[-1]
    full = full_matrices and compute_uv
    u = of(x.aval, rows_, rows_ if full else k)
    vh = of(x.aval, columns_ if full else k, columns_)
    _, values, left, right, info = kernel(
        b,
        "gesvd" if algorithm is SvdAlgorithm.QR else "gesdd",
        [x],
        [x.aval, s, u, vh, info_of(s, n)],
        batch=n,
        in_place=[(0, 0)],
        mode="N" if not compute_uv else "A" if full_matrices else "S",
    )
    return nan_where_failed(b, info, [values, left, right] if compute_uv else [values])


_JACOBI_UP_TO = 1024  # beyond it QR is faster
_JACOBI_FULL_UP_TO = (
    32  # up to it cuSOLVER factors a stack in one kernel, which has full matrices only
)


@svd_p.lower_for("cuda")
def _(b: Any, x: Any, *, full_matrices: bool, compute_uv: bool, algorithm: Any, **_: Any) -> list:
    if algorithm is SvdAlgorithm.DIVIDE_AND_CONQUER:
        raise UnsupportedError(
            "the DIVIDE_AND_CONQUER algorithm does not exist on NVIDIA's GPUs",
            function="svd",
            argument="algorithm",
            got=algorithm,
            expected="None, DEFAULT, QR, JACOBI or POLAR",
        )
    m, n = x.aval.shape[-2:]
    if 0 in x.aval.shape:
        k = b.outs[0].shape[-1]
        u = of(x.aval, m, m if full_matrices else k)
        vh = of(x.aval, n if full_matrices else k, n)
        outs = [b.outs[0], *([u, vh] if compute_uv else [])]
        return cuda_kernel(b, "cusolver_gesvd_ffi", [x], outs, batch=x.aval.ndim - 2)
    static = dims.is_static(x.aval.shape)
    if algorithm in (None, SvdAlgorithm.DEFAULT):
        small = static and max(m, n) <= _JACOBI_UP_TO
        algorithm = SvdAlgorithm.JACOBI if small else SvdAlgorithm.QR
    if algorithm is SvdAlgorithm.QR:
        return _by_gesvd(b, x, full_matrices, compute_uv)
    if algorithm is SvdAlgorithm.POLAR:
        return _by_gesvdj(b, x, "cusolver_gesvdp_ffi", full_matrices, full_matrices, compute_uv)
    full = full_matrices or (static and min(m, n) <= _JACOBI_FULL_UP_TO)
    return _by_gesvdj(b, x, "cusolver_gesvdj_ffi", full, full_matrices, compute_uv)


def _by_gesvd(b: Any, x: Any, full_matrices: bool, compute_uv: bool) -> list:
    """Call cuSOLVER's QR algorithm. It takes tall matrices: it reads a wide one, row by row, as its transpose."""
    s = b.outs[0]
    n, k = s.ndim - 1, s.shape[-1]
    rows_, columns_ = x.aval.shape[-2:]
    wide = dims.is_static((rows_, columns_)) and rows_ < columns_
    u = of(x.aval, rows_, rows_ if full_matrices else k)
    vh = of(x.aval, columns_ if full_matrices else k, columns_)
    vectors = [vh, u] if wide else [u, vh]
    if not compute_uv:
        vectors = [s.update(shape=(), dtype=x.aval.dtype)] * 2
    _, values, *found, info = cuda_kernel(
        b,
        "cusolver_gesvd_ffi",
        [x],
        [x.aval, s, *vectors, info_of(s, n)],
        batch=n,
        in_place=[(0, 0)],
        row_major=wide,
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        transposed=wide,
    )
    if not compute_uv:
        return nan_where_failed(b, info, [values])
    return nan_where_failed(b, info, [values, *(reversed(found) if wide else found)])


def _by_gesvdj(
    b: Any, x: Any, target: str, full: bool, full_matrices: bool, compute_uv: bool
) -> list:
    """Call one of cuSOLVER's routines that return V. `full`: it computes full matrices."""
    s = b.outs[0]
    n, k = s.ndim - 1, s.shape[-1]
    rows_, columns_ = x.aval.shape[-2:]
    u = of(x.aval, rows_, rows_ if full else k)
    v = of(x.aval, columns_, columns_ if full else k)
    _, values, left, right, info = cuda_kernel(
        b,
        target,
        [x],
        [x.aval, s, u, v, info_of(s, n)],
        batch=n,
        in_place=[(0, 0)],
        full_matrices=full,
        compute_uv=compute_uv,
    )
    if not compute_uv:
        return nan_where_failed(b, info, [values])
    vh = b.transpose(right, (*range(n), n + 1, n))
    if dtype_predicates.is_complex(vh.aval.dtype):
        vh = b.elementwise("chlo.conj", [vh], vh.aval)
    if full and not full_matrices:
        left, vh = _leading(b, left, -1, k), _leading(b, vh, -2, k)
    return nan_where_failed(b, info, [values, left, vh])


def _leading(b: Any, x: Any, axis: int, size: Any) -> Any:
    """Cut an axis to its first elements."""
    limit = list(x.aval.shape)
    limit[axis] = size
    return b.slice(x, [0] * len(limit), limit)
