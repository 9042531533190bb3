"""Define eigenvalues and eigenvectors of Hermitian and of general matrices."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import xla
from sagax._src.argument_checks import checks
from sagax._src.core import dtype_predicates
from sagax._src.core.avals import ShapedArray
from sagax._src.core.families import MATRICES, matrix_size
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.primitives.arithmetic import add, div, mul, neg, reciprocal, sub
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.complex_numbers import complex as make_complex
from sagax._src.primitives.complex_numbers import imag, real
from sagax._src.primitives.linalg.common import (
    UnsupportedError,
    batch_in_front,
    check_matrix,
    columns,
    cuda_kernel,
    diagonal_part,
    each,
    hermitian_part,
    info_of,
    kernel,
    matmul,
    mH,
    nan_where_failed,
    of,
    rows,
    take_rows,
    with_diagonal,
)
from sagax._src.primitives.linalg.lu import lu_p
from sagax._src.primitives.linalg.triangular import triangular_solve
from sagax._src.primitives.reductions import reduce_max_p
from sagax._src.primitives.structural import convert, reduce_sum, zeros_of


def solve(a: Any, b: Any) -> Any:
    """Return a^-1 b for general square matrices."""
    packed, _, order = lu_p.bind(a)
    low = triangular_solve(
        packed, take_rows(b, order), left_side=True, lower=True, unit_diagonal=True
    )
    return triangular_solve(packed, low, left_side=True)


def _diagonal(x: Any) -> Any:
    """Return the diagonals of matrices, as vectors."""
    return reduce_sum(diagonal_part(x), (aval_of(x).ndim - 1,))


def _inverse_gaps(w: Any, shape: Sequence[Any]) -> Any:
    """Return 1 / (w_j - w_i) at i, j, and zero on the diagonal."""
    gaps = sub(columns(w, shape), rows(w, shape))
    return with_diagonal(reciprocal(with_diagonal(gaps, 1)), 0)


def _whole_range(function: str, subset: Any, size: Any) -> None:
    """Raise unless the requested subset of values is all of them."""
    if subset is not None and tuple(subset) != (0, size):
        raise UnsupportedError(
            "a subset of the values cannot be computed alone here",
            function=function,
            argument="subset_by_index",
            got=subset,
            expected=f"None or (0, {size})",
            fix="compute all and slice",
        )


# eigh -------------------------------------------------------------------------------------------------


class EighImplementation(enum.Enum):
    """Select the implementation of Hermitian eigenvalues. The CPU has QR, GPUs have QR and JACOBI."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


eigh_p = Primitive("eigh", family=MATRICES, cost=matrix_size, multiple_results=True)


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]:
    """Compute eigenvectors (the columns) and ascending real eigenvalues of Hermitian matrices.

    Args:
      x: matrices of shape (..., n, n).
      lower: which triangle of x is read when `symmetrize_input` is False.
      symmetrize_input: take (x + x^H) / 2.
      sort_eigenvalues: ignored; they are always sorted.
      subset_by_index: None or (0, n): other subsets are not supported.
      implementation: on the CPU None or QR, on GPUs JACOBI, too.

    NaN if LAPACK fails, as for matrices with NaNs. The derivative of eigenvectors is infinite or NaN where
    eigenvalues coincide; it assumes a Hermitian perturbation of x.

    >>> v, w = lax.linalg.eigh(np.array([[2., 0.], [0., 1.]]))
    >>> w
    Array([1., 2.], dtype=float32)
    """
    aval = aval_of(x)
    check_matrix("eigh", aval, "x", square=True)
    if subset_by_index is not None and tuple(subset_by_index) == (0, aval.shape[-1]):
        subset_by_index = None
    if symmetrize_input:
        x = hermitian_part(x)
    v, w = eigh_p.bind(
        x,
        lower=bool(lower),
        sort_eigenvalues=bool(sort_eigenvalues),
        subset_by_index=None if subset_by_index is None else tuple(subset_by_index),
        algorithm=None if implementation is None else EighImplementation(implementation),
    )
    return v, w


_EIGH = {"sort_eigenvalues": True, "subset_by_index": None, "algorithm": None}
# the reference takes one triangle, the derivative a Hermitian perturbation: tests of their own
eigh_p.samples = [
    Sample(f32(3, 3), lower=True, derivatives=False, **_EIGH),
    Sample(f32(2, 3, 3), lower=False, derivatives=False, **_EIGH),
    Sample(c64(3, 3), lower=True, derivatives=False, **_EIGH),
    Sample(f32(0, 0), lower=True, derivatives=False, **_EIGH),
]


@eigh_p.abstract
def _(
    x: ShapedArray, *, lower: bool, sort_eigenvalues: bool, subset_by_index: Any, algorithm: Any
) -> list:
    check_matrix("eigh", x, "x", square=True)
    n = x.shape[-1]
    _whole_range("eigh", subset_by_index, n)
    return [x, of(x, n, dtype=dtype_predicates.real_part_dtype(x.dtype))]


@eigh_p.reference
def _(x: np.ndarray, *, lower: bool, **_: Any) -> list:
    import scipy.linalg

    def values(a: Any) -> tuple:
        if a.size == 0:
            return a, np.zeros(0, a.real.dtype)
        w, v = scipy.linalg.eigh(a, lower=lower, driver="evd")
        return v, w

    return each(values, (2,), x)


@eigh_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    # dA = V (W diag(w) - diag(w) W + diag(dw)) V^H with W = V^H dV, skew and zero on the diagonal
    (x,), (t,) = primals, tangents
    v, w = outs = eigh_p.bind(x, **params)
    if is_zero(t):
        return outs, [Zero.like(aval_of(o)) for o in outs]
    inner = matmul(mH(v), matmul(t, v))
    gaps = _inverse_gaps(w, aval_of(v).shape)
    tv = matmul(v, mul(convert(gaps, aval_of(v).dtype), inner))
    tw = _diagonal(inner)
    return outs, [tv, real(tw) if dtype_predicates.is_complex(aval_of(tw).dtype) else tw]


batch_in_front(eigh_p)


@eigh_p.lower
def _(b: Any, x: Any, *, lower: bool, algorithm: Any, **_: Any) -> list:
    if algorithm not in (None, EighImplementation.QR):
        raise UnsupportedError(
            f"the {algorithm.name} implementation does not exist on the CPU",
            function="eigh",
            argument="implementation",
            got=algorithm,
            expected="None or EighImplementation.QR",
        )
    v, w = b.outs
    n = v.ndim - 2
    vectors, values, info = kernel(
        b,
        "heevd" if dtype_predicates.is_complex(v.dtype) else "syevd",
        [x],
        [v, w, info_of(v, n)],
        batch=n,
        in_place=[(0, 0)],
        mode="V",
        uplo="L" if lower else "U",
    )
    return nan_where_failed(b, info, [vectors, values])


_CUSOLVER_EIGH = {None: 0, EighImplementation.QR: 1, EighImplementation.JACOBI: 2}


@eigh_p.lower_for("cuda")
def _(b: Any, x: Any, *, lower: bool, algorithm: Any, **_: Any) -> list:
    checks.one_of(
        "eigh", "implementation", algorithm, tuple(_CUSOLVER_EIGH), "None, QR or JACOBI on a GPU"
    )
    v, w = b.outs
    n = v.ndim - 2
    vectors, values, info = cuda_kernel(
        b,
        "cusolver_syevd_ffi",
        [x],
        [v, w, info_of(v, n)],
        batch=n,
        in_place=[(0, 0)],
        lower=lower,
        algorithm=_CUSOLVER_EIGH[algorithm],
    )
    return nan_where_failed(b, info, [vectors, values])


# eig ----------------------------------------------------------------------------------------------------


class EigImplementation(enum.Enum):
    """Select the implementation of general eigenvalues. The CPU has LAPACK, GPUs have all three."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


eig_p = Primitive("eig", family=MATRICES, cost=matrix_size, multiple_results=True)


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Any]:
    """Compute eigenvalues of general square matrices, and their left and right eigenvectors.

    Args:
      x: matrices of shape (..., n, n).
      compute_left_eigenvectors: return u with u^H x = w u^H, as columns.
      compute_right_eigenvectors: return v with x v = w v, as columns.
      enable_eigvec_derivs: allow derivatives of eigenvectors. They hold where all eigenvalues are
        simple, which cannot be checked.
      implementation, use_magma: on the CPU None or LAPACK. On GPUs LAPACK runs on the host, and CUSOLVER has no
        left eigenvectors; None takes the first that serves of CUSOLVER (of CUDA 12.6 or newer), MAGMA and LAPACK.

    Returns a list: complex eigenvalues (..., n), in no particular order, then the requested left and right
    eigenvectors, of norm one with a real component of greatest magnitude. NaN if LAPACK fails.

    >>> w, _, v = lax.linalg.eig(np.array([[0., -1.], [1., 0.]]))
    >>> w
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    if use_magma is not None and implementation is None:
        implementation = EigImplementation.MAGMA if use_magma else None
    return eig_p.bind(
        x,
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
        enable_eigvec_derivs=bool(enable_eigvec_derivs),
        implementation=None if implementation is None else EigImplementation(implementation),
    )


def _eig_options(left: bool, right: bool, derivatives: bool = True) -> dict:
    return {
        "compute_left_eigenvectors": left,
        "compute_right_eigenvectors": right,
        "enable_eigvec_derivs": derivatives,
        "implementation": None,
    }


_GENERAL = np.array([[1, 2, 0.3], [-3, 1, 0.5], [0.2, 0.4, 4]], np.float32)
_COMPLEX = np.array([[1 + 1j, 0.3, 0.1], [0.2, 3 - 1j, 0.4j], [0.1, 0.2j, -2]], np.complex64)
eig_p.samples = [
    Sample(_GENERAL, **_eig_options(True, True)),
    Sample(np.stack([_GENERAL, _GENERAL.T]), **_eig_options(False, True)),
    Sample(_COMPLEX, **_eig_options(True, True)),
    Sample(_GENERAL, **_eig_options(False, False, False)),
    Sample(f32(0, 0), **_eig_options(True, True)),
]


@eig_p.abstract
def _(
    x: ShapedArray,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    implementation: Any,
) -> list:
    check_matrix("eig", x, "x", square=True)
    n = x.shape[-1]
    dtype = dtype_predicates.complex_of(dtype_predicates.real_part_dtype(x.dtype))
    vectors = [of(x, n, n, dtype=dtype)] * (compute_left_eigenvectors + compute_right_eigenvectors)
    return [of(x, n, dtype=dtype), *vectors]


@eig_p.reference
def _(
    x: np.ndarray,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    **_: Any,
) -> list:
    import scipy.linalg

    dtype = np.result_type(x.dtype, np.complex64)

    def values(a: np.ndarray) -> tuple:
        if a.size == 0:
            w, left, right = np.zeros(0), a, a
        else:
            w, left, right = scipy.linalg.eig(a, left=True, right=True)
        requested = [w]
        requested += [left] if compute_left_eigenvectors else []
        requested += [right] if compute_right_eigenvectors else []
        return tuple(o.astype(dtype) for o in requested)

    return each(values, (2,), x)


@eig_p.jvp
def _(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    implementation: Any,
) -> tuple:
    if (compute_left_eigenvectors or compute_right_eigenvectors) and not enable_eigvec_derivs:
        raise UnsupportedError(
            "eigenvectors of general matrices have derivatives only where all eigenvalues are simple, "
            "which cannot be checked",
            function="eig",
            argument="enable_eigvec_derivs",
            fix="pass enable_eigvec_derivs=True if that holds, or ask for eigenvalues alone",
        )
    (x,), (t,) = primals, tangents
    outs = eig_p.bind(
        x,
        compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=True,
        enable_eigvec_derivs=enable_eigvec_derivs,
        implementation=implementation,
    )
    w, right = outs[0], outs[-1]
    results = outs if compute_right_eigenvectors else outs[:-1]
    if is_zero(t) or 0 in aval_of(x).shape:
        return results, [Zero.like(aval_of(o)) for o in results]
    t = convert(t, aval_of(w).dtype)
    inner = solve(right, matmul(t, right))
    out = [_diagonal(inner)]
    if compute_left_eigenvectors:
        # the left eigenvectors of x are the right ones of x^H, for the conjugate eigenvalues
        left = outs[1]
        turned = solve(left, matmul(mH(t), left))
        out.append(_eigenvector_tangent(left, _conjugate(w), turned))
    if compute_right_eigenvectors:
        out.append(_eigenvector_tangent(right, w, inner))
    return results, out


def _conjugate(w: Any) -> Any:
    return make_complex(real(w), neg(imag(w)))


def _eigenvector_tangent(v: Any, w: Any, inner: Any) -> Any:
    """Return dV for V^-1 dA V = inner, such that norms stay one and the greatest components real."""
    aval = aval_of(v)
    free = matmul(v, mul(_inverse_gaps(w, aval.shape), inner))
    rowwise = aval.ndim - 2
    # the change of the norm: the real part of v^H dv
    overlap = add(mul(real(v), real(free)), mul(imag(v), imag(free)))
    growth = reduce_sum(overlap, (rowwise,))
    # the rotation of the greatest component (real, say r): its imaginary part over r
    size = add(mul(real(v), real(v)), mul(imag(v), imag(v)))
    top = columns(reduce_max_p.bind(size, axes=(rowwise,)), aval.shape)
    greatest = convert(eq(size, top), aval_of(size).dtype)
    # of components of equal size LAPACK's choice is real: its imaginary part is exactly zero
    is_real = convert(eq(imag(v), zeros_of(aval_of(size))), aval_of(size).dtype)
    chosen = mul(greatest, is_real)
    height = reduce_sum(mul(chosen, real(v)), (rowwise,))
    turn = reduce_sum(mul(chosen, imag(free)), (rowwise,))
    along = make_complex(neg(growth), neg(div(turn, height)))
    return add(free, mul(v, columns(along, aval.shape)))


batch_in_front(eig_p)


@eig_p.lower
def _(
    b: Any,
    x: Any,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    implementation: Any,
) -> list:
    checks.one_of(
        "eig",
        "implementation",
        implementation,
        (None, EigImplementation.LAPACK),
        "None or EigImplementation.LAPACK on the CPU",
    )
    w = b.outs[0]
    n = w.ndim - 1
    size = w.shape[-1]
    vectors = of(x.aval, size, size, dtype=w.dtype)
    is_complex = dtype_predicates.is_complex(x.aval.dtype)
    part = w.with_dtype(dtype_predicates.real_part_dtype(w.dtype))
    results = kernel(
        b,
        "geev",
        [x],
        [*([w] if is_complex else [part, part]), vectors, vectors, info_of(w, n)],
        batch=n,
        compute_left="V" if compute_left_eigenvectors else "N",
        compute_right="V" if compute_right_eigenvectors else "N",
    )
    *values, left, right, info = results
    found = values[0] if is_complex else b.op("complex", values, w)
    outs = [found]
    outs += [left] if compute_left_eigenvectors else []
    outs += [right] if compute_right_eigenvectors else []
    return nan_where_failed(b, info, outs)


_MAGMA = {None: "auto", EigImplementation.MAGMA: "on", EigImplementation.LAPACK: "off"}


@eig_p.lower_for("cuda")
def _(
    b: Any,
    x: Any,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    implementation: Any,
) -> list:
    w = b.outs[0]
    n, size = w.ndim - 1, w.shape[-1]
    vectors = of(x.aval, size, size, dtype=w.dtype)
    is_complex = dtype_predicates.is_complex(x.aval.dtype)
    if implementation is EigImplementation.CUSOLVER or (
        implementation is None and not compute_left_eigenvectors and xla.cuda.cusolver_has_eig()
    ):
        if compute_left_eigenvectors:
            raise UnsupportedError(
                "cuSOLVER computes no left eigenvectors",
                function="eig",
                argument="compute_left_eigenvectors",
                got=True,
                expected="False with EigImplementation.CUSOLVER",
                fix="pass implementation=None, or compute_left_eigenvectors=False",
            )
        return _cusolver_eig(b, x, vectors, compute_right_eigenvectors)
    part = w.with_dtype(dtype_predicates.real_part_dtype(w.dtype))
    *values, left, right, info = cuda_kernel(
        b,
        "cuhybrid_eig_comp" if is_complex else "cuhybrid_eig_real",
        [x],
        [*([w] if is_complex else [part, part]), vectors, vectors, info_of(w, n)],
        batch=n,
        magma=_MAGMA[implementation],
        left=compute_left_eigenvectors,
        right=compute_right_eigenvectors,
    )
    outs = [values[0] if is_complex else b.op("complex", values, w)]
    outs += [left] if compute_left_eigenvectors else []
    outs += [right] if compute_right_eigenvectors else []
    return nan_where_failed(b, info, outs)


def _cusolver_eig(b: Any, x: Any, vectors: ShapedArray, right: bool) -> list:
    """Call cuSOLVER, which packs eigenvectors of real matrices as LAPACK does."""
    w = b.outs[0]
    packed = vectors.with_dtype(x.aval.dtype)
    _, values, _, found, info = cuda_kernel(
        b,
        "cusolver_geev_ffi",
        [x],
        [x.aval, w, packed, packed, info_of(w, w.ndim - 1)],
        batch=w.ndim - 1,
        left=False,
        right=right,
    )
    if not right:
        return nan_where_failed(b, info, [values])
    if packed.dtype != vectors.dtype:
        found = _unpacked(b, values, found, vectors)
    return nan_where_failed(b, info, [values, found])


def _unpacked(b: Any, w: Any, packed: Any, out: ShapedArray) -> Any:
    """Make complex eigenvectors of packed ones.

    Complex eigenvalues come in adjacent pairs of conjugates, and the columns of a pair are the real and the
    imaginary part of the vector of its first.
    """
    n = out.ndim - 2
    real_aval = w.aval.with_dtype(packed.aval.dtype)
    imaginary = b.op("imag", [w], real_aval)
    is_complex = b.compare("NE", imaginary, b.full(0, real_aval))
    # the first of a pair: up to it the number of complex eigenvalues is odd
    counts = out.with_dtype(np.dtype(np.int32))
    flags = b.convert(is_complex, counts.dtype)
    upto = b.compare("LE", b.iota(counts, n), b.iota(counts, n + 1))
    spread = b.broadcast_in_dim(flags, counts.shape, (*range(n), n))
    number = b.reduce("add", b.select(upto, spread, b.full(0, counts)), 0, (n,))
    odd = b.compare(
        "EQ", b.op("and", [number, b.full(1, number.aval)], number.aval), b.full(1, number.aval)
    )
    first = b.op("and", [is_complex, odd], is_complex.aval)
    columns_ = (*range(n), n + 1)
    is_first, of_pair = (b.broadcast_in_dim(v, out.shape, columns_) for v in (first, is_complex))
    keep, nothing = (0,) * (n + 1), b.constant(0, packed.aval.dtype)
    before, after = (b.padded(packed, nothing, (*keep, by), (*keep, -by)) for by in (1, -1))
    real_part = b.select(is_first, packed, b.select(of_pair, before, packed))
    other = b.op("negate", [packed], packed.aval)
    imaginary_part = b.select(is_first, after, b.select(of_pair, other, b.full(0, packed.aval)))
    return b.op("complex", [real_part, imaginary_part], out)
