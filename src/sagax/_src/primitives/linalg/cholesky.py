"""Define Cholesky factorization and update, and symmetric products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import MATRICES, WHOLE, matrix_size
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.arithmetic import add, mul
from sagax._src.primitives.complex_numbers import real
from sagax._src.primitives.linalg import small_cholesky
from sagax._src.primitives.linalg.common import (
    batch_in_front,
    check_matrix,
    check_same_dtype,
    check_same_stack,
    cuda_kernel,
    diagonal_part,
    hermitian_part,
    info_of,
    is_lapack_dtype,
    kernel,
    lower_part,
    matmul,
    mH,
    mT,
    nan_where_failed,
    uses_lapack,
)
from sagax._src.primitives.linalg.triangular import triangular_solve
from sagax._src.primitives.structural import convert

# cholesky ----------------------------------------------------------------------------------------

cholesky_p = Primitive("cholesky", family=MATRICES, cost=matrix_size)


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Return the lower triangular L with x = L L^H and a positive diagonal, for positive definite x.

    Args:
      x: Hermitian matrices of shape (..., n, n).
      symmetrize_input: factor (x + x^H) / 2; without it only the lower triangle of x is read.

    A matrix that is not positive definite has a lower triangle of NaNs.

    >>> lax.linalg.cholesky(np.array([[4., 2.], [2., 5.]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    check_matrix("cholesky", aval_of(x), "x", square=True)
    if symmetrize_input:
        x = hermitian_part(x)
    return cholesky_p.bind(x)


def _positive(dtype: Any, *stack: int) -> np.ndarray:
    x = np.array([[4, 1, -1], [1, 3, 0.5], [-1, 0.5, 2]], dtype)
    if x.dtype.kind == "c":
        skew = np.array([[0, 0.5, 1], [-0.5, 0, 0.3], [-1, -0.3, 0]])
        x = x + (1j * skew).astype(dtype)
    return np.broadcast_to(x, (*stack, 3, 3)).astype(dtype)


cholesky_p.samples = [
    Sample(_positive("f4")),
    Sample(_positive("f4", 2)),
    Sample(_positive("c8")),
    Sample(f32(0, 0)),
    Sample(f32(2, 0, 0)),
]


@cholesky_p.abstract
def _(x: ShapedArray) -> ShapedArray:
    check_matrix("cholesky", x, "x", square=True)
    return x


@cholesky_p.reference
def _(x: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky(x)


@cholesky_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple:
    # A = L L^H  =>  dL = L phi(L^-1 dA L^-H), where phi takes the lower half of a Hermitian matrix:
    # what is below the diagonal and half of the diagonal (S. F. Walter, 2012; I. Murray, 2016)
    (x,), (t,) = primals, tangents
    factor = cholesky_p.bind(x)
    if is_zero(t):
        return factor, Zero.like(aval_of(factor))
    below = lower_part(t, -1)
    diagonal = diagonal_part(t)
    if dtype_predicates.is_complex(aval_of(t).dtype):
        diagonal = convert(real(diagonal), aval_of(t).dtype)
    t = add(add(below, diagonal), mH(below))  # only the lower triangle is read
    inner = triangular_solve(factor, t, lower=True, transpose_a=True, conjugate_a=True)
    inner = triangular_solve(factor, inner, left_side=True, lower=True)
    half = add(lower_part(inner, -1), mul(diagonal_part(inner), 0.5))
    return factor, lower_part(matmul(factor, half))


batch_in_front(cholesky_p)


@cholesky_p.lower
def _(b: Any, x: Any) -> Any:
    out = b.out
    n = out.ndim - 2
    if b.may_rewrite and small_cholesky.is_many_small(x.aval):
        jaxpr, consts = stage(lambda x: [small_cholesky.lower_factors(x)], [x.aval])
        (factor,) = b.inline(jaxpr, [x], [b.constant(c) for c in consts])
    elif uses_lapack(b, x):
        factor, info = kernel(
            b, "potrf", [x], [out, info_of(out, n)], batch=n, in_place=[(0, 0)], uplo="L"
        )
        (factor,) = nan_where_failed(b, info, [factor])
    elif b.module.platform == "cuda" and is_lapack_dtype(out.dtype):
        factor, info = cuda_kernel(
            b,
            "cusolver_potrf_ffi",
            [x],
            [out, info_of(out, n)],
            batch=n,
            in_place=[(0, 0)],
            lower=True,
        )
        (factor,) = nan_where_failed(b, info, [factor])
    else:
        factor = b.op("cholesky", [x], out, lower="true")
    # the other triangle is unspecified
    index = out.with_dtype(np.dtype(np.int32))
    below = b.compare("GE", b.iota(index, n), b.iota(index, n + 1))
    return b.select(below, factor, b.full(0, out))


# cholesky_update ---------------------------------------------------------------------------------


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """Return the upper triangular R' with R'^T R' = R^T R + w w^T.

    Args:
      r_matrix: an upper triangular matrix of real numbers, shape (n, n).
      w_vector: a vector of shape (n,).

    >>> r = lax.linalg.cholesky_update(np.array([[3., 0.], [0., 1.]]), np.array([4., 0.]))
    >>> bool(abs(r[0, 0]) > 4.99)
    True
    """
    r, w = aval_of(r_matrix), aval_of(w_vector)
    if r.ndim != 2 or w.ndim != 1 or not dims.same_shape(r.shape, (w.shape[0],) * 2):
        raise ShapeError(
            function="cholesky_update",
            got=f"r_matrix {r.shape} and w_vector {w.shape}",
            expected="a square matrix of shape (n, n) and a vector of shape (n,)",
        )
    return cholesky_update_p.bind(r_matrix, w_vector)


cholesky_update_p = Primitive("cholesky_update", family=WHOLE)
_UPPER = np.array([[2, 1, 0.5], [0, 1.5, -1], [0, 0, 1.2]], np.float32)
cholesky_update_p.samples = [
    Sample(_UPPER, f32(3), derivatives=False),
    Sample(np.stack([_UPPER, 2 * _UPPER]), f32(2, 3), derivatives=False),
]


@cholesky_update_p.abstract
def _(r: ShapedArray, w: ShapedArray) -> ShapedArray:
    check_matrix("cholesky_update", r, "r_matrix", square=True)
    check_same_dtype("cholesky_update", r_matrix=r, w_vector=w)
    check_same_stack("cholesky_update", (2, 1), r_matrix=r, w_vector=w)
    if dtype_predicates.is_complex(r.dtype):
        raise DtypeError.about("cholesky_update", "r_matrix", r, "real numbers")
    return intern_aval(r.shape, r.dtype, r.weak_type and w.weak_type, None)


@cholesky_update_p.reference
def _(r: np.ndarray, w: np.ndarray) -> np.ndarray:
    gram = np.swapaxes(r, -1, -2) @ r + w[..., :, None] * w[..., None, :]
    return np.swapaxes(np.linalg.cholesky(gram), -1, -2)


batch_in_front(cholesky_update_p)


@cholesky_update_p.lower
def _(b: Any, r: Any, w: Any) -> Any:
    # Row k and the vector are rotated (a Givens rotation) so that entry k of the vector vanishes. Entries
    # before k are zero by then.
    stack = r.aval.shape[:-2]
    n = len(stack)
    size = r.aval.shape[-1]
    if 0 in r.aval.shape:
        return r
    number = intern_aval((), np.dtype(np.int32), False, None)
    row = intern_aval((*stack, 1, size), r.dtype, False, None)
    one = intern_aval((*stack, 1), r.dtype, False, None)
    zero = b.constant(0, np.int32)
    indices = b.iota(w.aval.with_dtype(np.dtype(np.int32)), n)

    def body(k: Any, r: Any, w: Any) -> list:
        starts = [zero] * n
        line = b.op(
            "dynamic_slice",
            [r, *starts, k, zero],
            row,
            slice_sizes=b.ints((*stack, 1, size)),
        )
        line = b.reshape(line, w.aval.shape)
        x, y = (
            b.op("dynamic_slice", [v, *starts, k], one, slice_sizes=b.ints((*stack, 1)))
            for v in (line, w)
        )
        squares = [b.op("multiply", [v, v], one) for v in (x, y)]
        length = b.op("sqrt", [b.op("add", squares, one)], one)
        # no rotation where both vanish
        still = b.compare("EQ", length, b.full(0, one))
        cosine = b.select(still, b.full(1, one), b.op("divide", [x, length], one))
        sine = b.select(still, b.full(0, one), b.op("divide", [y, length], one))
        cosine, sine = (
            b.broadcast_in_dim(v, w.aval.shape, tuple(range(n + 1))) for v in (cosine, sine)
        )

        def combine(p: Any, q: Any, op: str) -> Any:
            left = b.op("multiply", [cosine, p], w.aval)
            return b.op(op, [left, b.op("multiply", [sine, q], w.aval)], w.aval)

        new_line, new_w = combine(line, w, "add"), combine(w, line, "subtract")
        # exactly zero up to k, so that rounding errors do not fill the other triangle
        after = b.compare("GT", indices, b.broadcast_in_dim(k, indices.aval.shape, ()))
        new_w = b.select(after, new_w, b.full(0, w.aval))
        r = b.op(
            "dynamic_update_slice", [r, b.reshape(new_line, row.shape), *starts, k, zero], r.aval
        )
        return [b.op("add", [k, b.constant(1, np.int32)], number), r, new_w]

    limit = b.constant(size, np.int32)
    return b.while_loop([zero, r, w], lambda k, r, w: b.compare("LT", k, limit), body)[1]


@cholesky_update_p.lower_for("cuda")
def _(b: Any, r: Any, w: Any) -> Any:
    if r.aval.ndim > 2 or 0 in r.aval.shape:  # the kernel takes one matrix
        return cholesky_update_p.rule("lower")(b, r, w)
    operands, both = [r, w], [(0, 0), (1, 1)]
    types = [x.aval for x in operands]
    return cuda_kernel(
        b,
        "cu_cholesky_update_ffi",
        operands,
        types,
        batch=0,
        in_place=both,
        row_major=True,
        splits=False,
    )[0]


# symmetric_product -------------------------------------------------------------------------------

symmetric_product_p = Primitive("symmetric_product", family=MATRICES)


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """Return alpha A A^T + beta C, for real A and symmetric C.

    Args:
      a_matrix: matrices of shape (..., n, k).
      c_matrix: symmetric matrices of shape (..., n, n).
      alpha, beta: numbers.
      symmetrize_output: mirror the lower triangle of the result; on some platforms the upper one
        is not defined without it.

    >>> lax.linalg.symmetric_product(np.array([[1.], [2.]]), np.eye(2), alpha=2., beta=1.)
    Array([[3., 4.],
           [4., 9.]], dtype=float32)
    """
    out = symmetric_product_p.bind(a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))
    if symmetrize_output:
        below = lower_part(out, -1)
        out = add(lower_part(out), mT(below))
    return out


symmetric_product_p.samples = [
    Sample(f32(3, 2), f32(3, 3), alpha=2.0, beta=0.5),
    Sample(f32(2, 2, 4), f32(2, 2, 2), alpha=1.0, beta=0.0),
]


@symmetric_product_p.abstract
def _(a: ShapedArray, c: ShapedArray, *, alpha: float, beta: float) -> ShapedArray:
    name = "symmetric_product"
    check_matrix(name, a, "a_matrix")
    check_matrix(name, c, "c_matrix", square=True)
    check_same_dtype(name, a_matrix=a, c_matrix=c)
    if dtype_predicates.is_complex(a.dtype):
        raise DtypeError.about(name, "a_matrix", a, "real numbers")
    if not dims.same(a.shape[-2], c.shape[-1]):
        raise ArgumentValueError(
            function=name,
            argument="c_matrix",
            got=f"{c.shape} for a_matrix {a.shape}",
            expected="matrices (..., n, n) for a_matrix (..., n, k)",
        )
    check_same_stack(name, (2, 2), a_matrix=a, c_matrix=c)
    return c


@symmetric_product_p.reference
def _(a: np.ndarray, c: np.ndarray, *, alpha: float, beta: float) -> np.ndarray:
    return (alpha * a @ np.swapaxes(a, -1, -2) + beta * c).astype(a.dtype)


@symmetric_product_p.composite
def _(a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    out = matmul(a, mT(a))
    if alpha != 1:
        out = mul(out, alpha)
    return add(out, mul(c, beta)) if beta else out


batch_in_front(symmetric_product_p)


@symmetric_product_p.lower_for("cuda")
def _(b: Any, a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    # writes the lower triangle only, as the matrices lie in memory
    number = intern_aval((), c.dtype, False, None)
    operands = [a, c, b.full(alpha, number), b.full(beta, number)]
    return cuda_kernel(
        b,
        "cusolver_syrk_ffi",
        operands,
        [b.out],
        batch=c.aval.ndim - 2,
        in_place=[(1, 0)],
        row_major=True,
        splits=False,
        transpose=False,
    )[0]
