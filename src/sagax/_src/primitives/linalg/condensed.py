"""Define reductions of matrices to triangular, Hessenberg or tridiagonal form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src.core import dtype_predicates
from sagax._src.core.avals import ShapedArray
from sagax._src.core.families import MATRICES, matrix_size
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.linalg.common import (
    UnsupportedError,
    batch_in_front,
    check_matrix,
    cuda_kernel,
    each,
    info_of,
    kernel,
    lapack_routine,
    nan_where_failed,
    of,
)

# schur ------------------------------------------------------------------------------------------------

schur_p = Primitive("schur", family=MATRICES, cost=matrix_size, multiple_results=True)


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Any]:
    """Return T and unitary Z with x = Z T Z^H; T is upper triangular.

    Args:
      x: matrices of shape (..., n, n). For real ones T has blocks of two rows for pairs of complex
        eigenvalues.
      compute_schur_vectors: return Z too.
      sort_eig_vals, select_callable: eigenvalues cannot be sorted yet.

    Returns the list [T, Z], or [T]. NaN if LAPACK fails.

    >>> t, z = lax.linalg.schur(np.array([[1., 2.], [0., 3.]]))
    >>> t
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    return schur_p.bind(
        x,
        compute_schur_vectors=bool(compute_schur_vectors),
        sort_eig_vals=bool(sort_eig_vals),
        select_callable=select_callable,
    )


_SCHUR = {"sort_eig_vals": False, "select_callable": None, "derivatives": False}
schur_p.samples = [
    Sample(f32(3, 3), compute_schur_vectors=True, **_SCHUR),
    Sample(f32(2, 3, 3), compute_schur_vectors=False, **_SCHUR),
    Sample(c64(3, 3), compute_schur_vectors=True, **_SCHUR),
    Sample(f32(0, 0), compute_schur_vectors=True, **_SCHUR),
]


@schur_p.abstract
def _(
    x: ShapedArray, *, compute_schur_vectors: bool, sort_eig_vals: bool, select_callable: Any
) -> list:
    check_matrix("schur", x, "x", square=True)
    if sort_eig_vals:
        raise UnsupportedError(
            "eigenvalues cannot be sorted",
            function="schur",
            argument="sort_eig_vals",
            got=True,
            expected="False",
        )
    return [x, x] if compute_schur_vectors else [x]


@schur_p.reference
def _(x: np.ndarray, *, compute_schur_vectors: bool, **_: Any) -> list:
    import scipy.linalg

    def factor(a: np.ndarray) -> tuple:
        t, z = scipy.linalg.schur(a)[:2] if a.size else (a, a)
        return (t, z) if compute_schur_vectors else (t,)

    return each(factor, (2,), x)


batch_in_front(schur_p)


@schur_p.lower
def _(b: Any, x: Any, *, compute_schur_vectors: bool, **_: Any) -> list:
    n = x.aval.ndim - 2
    size = x.aval.shape[-1]
    info = info_of(x.aval, n)
    values = of(x.aval, size)
    several = [values] if dtype_predicates.is_complex(x.aval.dtype) else [values, values]
    t, z, *_values, report = kernel(
        b,
        "gees",
        [x],
        [x.aval, x.aval, *several, info, info],
        batch=n,
        in_place=[(0, 0)],
        mode="V" if compute_schur_vectors else "N",
        sort="N",
    )
    return nan_where_failed(b, report, [t, z] if compute_schur_vectors else [t])


# hessenberg -------------------------------------------------------------------------------------------

hessenberg_p = Primitive("hessenberg", family=MATRICES, multiple_results=True)


def hessenberg(a: Any) -> list[Any]:
    """Return H, zero below its first subdiagonal, with a = Q H Q^H, and the reflections of Q.

    Args:
      a: matrices of shape (..., n, n), n > 0.

    Returns a list: H with the vectors of the reflections below the first subdiagonal, and their factors
    tau of shape (..., n - 1); `householder_product` makes Q of them.

    >>> h, taus = lax.linalg.hessenberg(np.array([[1., 2.], [3., 4.]]))
    >>> h
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return hessenberg_p.bind(a)


hessenberg_p.samples = [
    Sample(f32(4, 4), derivatives=False),
    Sample(f32(2, 3, 3), derivatives=False),
    Sample(c64(3, 3), derivatives=False),
]


def _check_nonempty(function: str, a: ShapedArray) -> None:
    check_matrix(function, a, "a", square=True)
    if a.shape[-1] == 0:
        raise ArgumentValueError.about(function, "a", a, "matrices of size 1 or more")


@hessenberg_p.abstract
def _(a: ShapedArray) -> list:
    _check_nonempty("hessenberg", a)
    return [a, of(a, a.shape[-1] - 1)]


@hessenberg_p.reference
def _(a: np.ndarray) -> list:
    return each(lambda x: lapack_routine("gehrd", x)(x)[:2], (2,), a)


batch_in_front(hessenberg_p)


@hessenberg_p.lower
def _(b: Any, a: Any) -> list:
    out, taus = b.outs
    n = out.ndim - 2
    packed, factors, info = kernel(
        b,
        "gehrd",
        [a],
        [out, taus, info_of(out, n)],
        batch=n,
        in_place=[(0, 0)],
        low=1,
        high=out.shape[-1],
    )
    return nan_where_failed(b, info, [packed, factors])


# tridiagonal ------------------------------------------------------------------------------------------

tridiagonal_p = Primitive("tridiagonal", family=MATRICES, multiple_results=True)


def tridiagonal(a: Any, *, lower: bool = True) -> list[Any]:
    """Return a real symmetric tridiagonal matrix similar to the Hermitian a, and the reflections.

    Args:
      a: Hermitian matrices of shape (..., n, n), n > 0.
      lower: which triangle of a is read.

    Returns a list: the packed result with the vectors of the reflections in that triangle, the diagonal
    (..., n), the diagonal beside it (..., n - 1), both real, and the factors tau (..., n - 1).

    >>> _, d, e, _ = lax.linalg.tridiagonal(np.array([[1., 2.], [2., 4.]]))
    >>> d
    Array([1., 4.], dtype=float32)
    """
    return tridiagonal_p.bind(a, lower=bool(lower))


tridiagonal_p.samples = [
    Sample(f32(4, 4), lower=True, derivatives=False),
    Sample(f32(2, 3, 3), lower=False, derivatives=False),
    Sample(c64(3, 3), lower=True, derivatives=False),
]


@tridiagonal_p.abstract
def _(a: ShapedArray, *, lower: bool) -> list:
    _check_nonempty("tridiagonal", a)
    n = a.shape[-1]
    part = dtype_predicates.real_part_dtype(a.dtype)
    return [a, of(a, n, dtype=part), of(a, n - 1, dtype=part), of(a, n - 1)]


@tridiagonal_p.reference
def _(a: np.ndarray, *, lower: bool) -> list:
    def factor(x: np.ndarray) -> tuple:
        name = "hetrd" if x.dtype.kind == "c" else "sytrd"
        return lapack_routine(name, x)(x, lower=int(lower))[:4]

    return each(factor, (2,), a)


batch_in_front(tridiagonal_p)


@tridiagonal_p.lower
def _(b: Any, a: Any, *, lower: bool) -> list:
    n = a.aval.ndim - 2
    *outs, info = kernel(
        b,
        "hetrd" if dtype_predicates.is_complex(a.aval.dtype) else "sytrd",
        [a],
        [*b.outs, info_of(a.aval, n)],
        batch=n,
        in_place=[(0, 0)],
        uplo="L" if lower else "U",
    )
    return nan_where_failed(b, info, outs)


@tridiagonal_p.lower_for("cuda")
def _(b: Any, a: Any, *, lower: bool) -> list:
    n = a.aval.ndim - 2
    *outs, info = cuda_kernel(
        b,
        "cusolver_sytrd_ffi",
        [a],
        [*b.outs, info_of(a.aval, n)],
        batch=n,
        in_place=[(0, 0)],
        lower=lower,
    )
    return nan_where_failed(b, info, outs)
