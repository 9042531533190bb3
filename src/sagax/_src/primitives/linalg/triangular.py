"""Define solvers of triangular and tridiagonal linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import MATRICES, matrix_size, shard_matrices
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, c64, f32
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, ShapeError
from sagax._src.primitives.arithmetic import mul, neg
from sagax._src.primitives.linalg.common import (
    batch_in_front,
    check_dtype,
    check_matrix,
    check_same_dtype,
    check_same_stack,
    conj_of,
    cuda_kernel,
    each,
    info_of,
    kernel,
    lower_part,
    matmul,
    mT,
    nan_where_failed,
    rows,
    upper_part,
    uses_lapack,
)
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.slicing import pad
from sagax._src.primitives.structural import expand_dims, moveaxis, reshape, squeeze

# triangular_solve --------------------------------------------------------------------------------

triangular_solve_p = Primitive(
    "triangular_solve", family=MATRICES, cost=matrix_size, multilinear=True
)


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Solve op(a) x = b (`left_side`), or x op(a) = b, for x with triangular a.

    Args:
      a: matrices of shape (..., m, m); only the `lower` (or upper) triangle is read.
      b: right sides of shape (..., m, n), or (..., n, m) without `left_side`; a vector for each
        matrix if `b` has one dimension less than `a`.
      transpose_a, conjugate_a: define op.
      unit_diagonal: assume ones on the diagonal of a, whatever it holds.

    A zero on the diagonal gives infinities and NaNs.

    >>> a = np.array([[2., 0.], [1., 1.]])
    >>> lax.linalg.triangular_solve(a, np.array([[2.], [3.]]), left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    conjugate_a = bool(conjugate_a) and dtype_predicates.is_complex(aval_of(a).dtype)
    vector = aval_of(b).ndim == aval_of(a).ndim - 1
    if vector:
        b = expand_dims(b, (aval_of(b).ndim if left_side else aval_of(b).ndim - 1,))
    out = triangular_solve_p.bind(
        a,
        b,
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        conjugate_a=conjugate_a,
        unit_diagonal=bool(unit_diagonal),
    )
    if vector:
        out = squeeze(out, (aval_of(out).ndim - (1 if left_side else 2),))
    return out


def _options(
    left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool
) -> dict:
    return {
        "left_side": left_side,
        "lower": lower,
        "transpose_a": transpose_a,
        "conjugate_a": conjugate_a,
        "unit_diagonal": unit_diagonal,
    }


_LOWER = np.array([[2, 0.5, -1], [0.3, -1.5, 0.7], [1, 0.4, 1.2]])


def _triangle(dtype: Any, *stack: int) -> np.ndarray:
    x = _LOWER + (0.5j * _LOWER[::-1] if np.dtype(dtype).kind == "c" else 0)
    return np.broadcast_to(x, (*stack, 3, 3)).astype(dtype)


triangular_solve_p.samples = [
    Sample(_triangle("f4"), f32(3, 2), **_options(True, True, False, False, False)),
    Sample(_triangle("f4"), f32(2, 3), **_options(False, False, True, False, False)),
    Sample(_triangle("f4"), f32(3, 2), **_options(True, False, True, False, True)),
    Sample(_triangle("f4", 2), f32(2, 2, 3), **_options(False, True, False, False, True)),
    Sample(_triangle("c8"), c64(3, 2), **_options(True, True, True, True, False)),
    Sample(_triangle("c8"), c64(2, 3), **_options(False, False, False, True, False)),
    Sample(_triangle("c8", 2), c64(2, 3, 1), **_options(True, True, True, False, False)),
    Sample(
        _triangle("f4").astype(bf16().dtype),
        bf16(3, 2),
        derivatives=False,
        **_options(True, True, False, False, False),
    ),
    Sample(f32(0, 0), f32(0, 2), **_options(True, True, False, False, False)),
]


@triangular_solve_p.abstract
def _(a: ShapedArray, b: ShapedArray, *, left_side: bool, **options: bool) -> ShapedArray:
    name = "triangular_solve"
    check_matrix(name, a, "a", square=True, any_float=True)
    check_matrix(name, b, "b", any_float=True)
    check_same_dtype(name, a=a, b=b)
    side = -2 if left_side else -1
    if not dims.same(b.shape[side], a.shape[-1]):
        raise ArgumentValueError(
            f"a of shape {a.shape} does not fit b of shape {b.shape}",
            function=name,
            argument="b",
            got=f"size {b.shape[side]} (axis {b.ndim + side} of b)",
            expected=f"size {a.shape[-1]}, since op(a) stands on the {'left' if left_side else 'right'}",
            fix="left_side=True solves op(a) x = b, left_side=False solves x op(a) = b",
            a=a,
            b=b,
        )
    check_same_stack(name, (2, 2), a=a, b=b)
    return intern_aval(b.shape, b.dtype, a.weak_type and b.weak_type, None)


@triangular_solve_p.reference
def _(
    a: np.ndarray,
    b: np.ndarray,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> np.ndarray:
    dtype = b.dtype
    if dtype.kind == "V" or dtype.itemsize < 4:
        a, b = a.astype(np.float32), b.astype(np.float32)
    t = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        t = t - t * np.eye(t.shape[-1], dtype=t.dtype) + np.eye(t.shape[-1], dtype=t.dtype)
    t = np.swapaxes(t, -1, -2) if transpose_a else t
    t = np.conj(t) if conjugate_a else t
    if left_side:
        return np.linalg.solve(t, b).astype(dtype)
    right = np.linalg.solve(np.swapaxes(t, -1, -2), np.swapaxes(b, -1, -2))
    return np.swapaxes(right, -1, -2).astype(dtype)


@triangular_solve_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    (a, b), (ta, tb) = primals, tangents
    x = triangular_solve_p.bind(a, b, **params)
    right: Any = tb
    if not is_zero(ta):
        # op(a) x = b  =>  op(a) tx = tb - op(ta) x, where only the triangle counts
        part = lower_part if params["lower"] else upper_part
        inner = 1 if params["unit_diagonal"] else 0
        ta = part(ta, -inner if params["lower"] else inner)
        ta = mT(ta) if params["transpose_a"] else ta
        ta = conj_of(ta) if params["conjugate_a"] else ta
        product = matmul(ta, x) if params["left_side"] else matmul(x, ta)
        right = add_tangents(tb, neg(product))
    if is_zero(right):
        return x, Zero.like(aval_of(x))
    return x, triangular_solve_p.bind(a, right, **params)


@triangular_solve_p.transpose
def _(ct: Any, a: Any, b: Any, *, transpose_a: bool, **params: Any) -> tuple:
    # linear in b alone; op(a)^-T differs from op(a)^-1 by one more transposition
    assert is_linear(b)
    return None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)


batch_in_front(triangular_solve_p)
_batch_both: Any = triangular_solve_p.batch_rule


@triangular_solve_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, left_side: bool, **params: Any
) -> tuple:
    if in_dims[0] is not None:
        return _batch_both(axis, args, in_dims, left_side=left_side, **params)
    # one matrix for all examples: concatenate their right-hand sides
    a, b = args
    n = aval_of(b).ndim - 3
    at = n + (2 if left_side else 1)
    b = moveaxis(b, in_dims[1], at - (0 if left_side else 1))
    shape = aval_of(b).shape
    if left_side:  # (..., m, k, axis)
        flat = (*shape[:-2], shape[-2] * shape[-1])
    else:  # (..., axis, k, m)
        flat = (*shape[:-3], shape[-3] * shape[-2], shape[-1])
    out = triangular_solve_p.bind(a, reshape(b, flat), left_side=left_side, **params)
    return reshape(out, shape), at - (0 if left_side else 1)


@triangular_solve_p.lower
def _(
    builder: Any,
    a: Any,
    b: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    if conjugate_a and not transpose_a:
        a = builder.elementwise("chlo.conj", [a], a.aval)
    out = builder.out
    if uses_lapack(builder, a, b):
        return kernel(
            builder,
            "trsm",
            [a, b],
            [out],
            batch=out.ndim - 2,
            in_place=[(1, 0)],
            side="L" if left_side else "R",
            uplo="L" if lower else "U",
            trans_x=("C" if conjugate_a else "T") if transpose_a else "N",
            diag="U" if unit_diagonal else "N",
        )[0]
    how = ("ADJOINT" if conjugate_a else "TRANSPOSE") if transpose_a else "NO_TRANSPOSE"
    return builder.op(
        "triangular_solve",
        [a, b],
        out,
        left_side=str(left_side).lower(),
        lower=str(lower).lower(),
        unit_diagonal=str(unit_diagonal).lower(),
        transpose_a=f"#stablehlo<transpose {how}>",
    )


# tridiagonal_solve -------------------------------------------------------------------------------

tridiagonal_solve_p = Primitive(
    "tridiagonal_solve", family=MATRICES, shard_rule=shard_matrices(1, 1, 1, 2), multilinear=True
)


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """Solve A x = b for x, for the tridiagonal A with the given diagonals.

    Args:
      dl: below the diagonal, shape (..., m): `dl[i]` is A[i, i-1], and `dl[0]` is not read.
      d: the diagonal, shape (..., m).
      du: above the diagonal, shape (..., m): `du[i]` is A[i, i+1], and `du[m-1]` is not read.
      b: right sides, shape (..., m, n).
      perturb_singular: replace pivots that vanish by tiny numbers. Without it the solution for a
        singular A is NaN.

    >>> one = np.ones(3)
    >>> lax.linalg.tridiagonal_solve(one, 2 * one, one, np.array([[3.], [4.], [3.]]))
    Array([[1.],
           [1.],
           [1.]], dtype=float32)
    """
    return tridiagonal_solve_p.bind(dl, d, du, b, perturb_singular=bool(perturb_singular))


tridiagonal_solve_p.samples = [
    Sample(f32(4), f32(4, low=4, high=6), f32(4), f32(4, 2), perturb_singular=False),
    Sample(f32(2, 3), f32(2, 3, low=4, high=6), f32(2, 3), f32(2, 3, 1), perturb_singular=False),
    Sample(c64(3), c64(3, low=4, high=6), c64(3), c64(3, 2), perturb_singular=False),
    Sample(f32(4), f32(4, low=4, high=6), f32(4), f32(4, 2), perturb_singular=True),
    Sample(f32(1), f32(1, low=4, high=6), f32(1), f32(1, 2), perturb_singular=False),
    Sample(f32(0), f32(0), f32(0), f32(0, 2), perturb_singular=False),
]


@tridiagonal_solve_p.abstract
def _(
    dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray, *, perturb_singular: bool
) -> ShapedArray:
    name = "tridiagonal_solve"
    check_matrix(name, b, "b")
    check_same_dtype(name, dl=dl, d=d, du=du, b=b)
    for argument, x in (("dl", dl), ("du", du)):
        if not dims.same_shape(x.shape, d.shape):
            raise ShapeError(
                function=name,
                argument=argument,
                got=x,
                expected=f"the shape {d.shape} of d: all three diagonals are given at full length",
            )
    if d.ndim != b.ndim - 1 or not dims.same_shape(d.shape, b.shape[:-1]):
        raise ShapeError(
            function=name,
            argument="b",
            got=b,
            expected=f"right sides of shape {(*d.shape, 'n')} for diagonals of shape {d.shape}".replace(
                "'n'", "n"
            ),
        )
    check_dtype(name, d, "d")
    return intern_aval(b.shape, b.dtype, b.weak_type and d.weak_type, None)


@tridiagonal_solve_p.reference
def _(
    dl: np.ndarray, d: np.ndarray, du: np.ndarray, b: np.ndarray, *, perturb_singular: bool
) -> np.ndarray:
    def solve(dl: Any, d: Any, du: Any, b: Any) -> tuple:
        dense = np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)
        return (np.linalg.solve(dense, b),)

    if d.size == 0:
        return b
    return each(solve, (1, 1, 1, 2), dl, d, du, b)[0].astype(b.dtype)


def _shifted(x: Any, by: int) -> Any:
    """Shift the elements of the last dimension by `by` (1 or -1), filling with zero."""
    zero = np.zeros((), aval_of(x).dtype)[()]
    return pad(x, zero, [(0, 0, 0)] * (aval_of(x).ndim - 1) + [(by, -by, 0)])


@tridiagonal_solve_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    dl, d, du, b = primals
    tl, td, tu, tb = tangents
    x = tridiagonal_solve_p.bind(dl, d, du, b, **params)
    aval = aval_of(x)
    right = tb
    # the tangents of the diagonals contribute -(dA) x: products with a row of x or its neighbors
    for t, step in ((tl, 1), (td, 0), (tu, -1)):
        if not is_zero(t):
            neighbour = mT(_shifted(mT(x), step)) if step else x
            right = add_tangents(right, neg(mul(rows(t, aval.shape), neighbour)))
    if is_zero(right):
        return x, Zero.like(aval)
    return x, tridiagonal_solve_p.bind(dl, d, du, right, **params)


@tridiagonal_solve_p.transpose
def _(ct: Any, dl: Any, d: Any, du: Any, b: Any, **params: Any) -> tuple:
    # the transposed matrix: its lower diagonal is the upper one, shifted by one
    solved = tridiagonal_solve_p.bind(_shifted(du, 1), d, _shifted(dl, -1), ct, **params)
    return None, None, None, solved


batch_in_front(tridiagonal_solve_p)


@tridiagonal_solve_p.lower
def _(b: Any, dl: Any, d: Any, du: Any, right: Any, *, perturb_singular: bool) -> Any:
    out = b.out
    n = out.ndim - 2
    if perturb_singular:
        return kernel(
            b,
            "gtsv",
            [dl, d, du, right],
            [out],
            batch=n,
            target="tridiagonal_solve_perturbed_ffi",
        )[0]
    if 0 in out.shape:
        return right
    operands = [dl, d, du, right]
    *_, x, info = kernel(
        b,
        "gtsv",
        operands,
        [*[v.aval for v in operands], info_of(out, n)],
        batch=n,
        in_place=[(i, i) for i in range(4)],
    )
    return nan_where_failed(b, info, [x])[0]


@tridiagonal_solve_p.lower_for("cuda")
def _(b: Any, dl: Any, d: Any, du: Any, right: Any, *, perturb_singular: bool) -> Any:
    out = b.out
    n = out.ndim - 2
    operands = [dl, d, du, right]
    if perturb_singular:
        return cuda_kernel(b, "cu_tridiagonal_solve_perturbed", operands, [out], batch=n)[0]
    if 0 in out.shape:
        return right
    if dims.is_static(out.shape) and out.shape[-2] < 3:  # cuSPARSE takes 3 rows or more
        return _solve_tiny(b, *operands)
    return cuda_kernel(b, "cusparse_gtsv2_ffi", operands, [out], batch=n, in_place=[(3, 0)])[0]


def _solve_tiny(b: Any, dl: Any, d: Any, du: Any, right: Any) -> Any:
    """Solve for one or two rows, by Cramer's rule."""
    out = b.out
    n, size = out.ndim - 2, out.shape[-2]
    row = out.update(shape=(*out.shape[:-2], 1, out.shape[-1]))

    def element(x: Any, i: int) -> Any:
        one = b.slice(x, (*[0] * n, i), (*x.aval.shape[:-1], i + 1))
        return b.broadcast_in_dim(one, row.shape, range(n + 1))

    def row_of(i: int) -> Any:
        return b.slice(right, (*[0] * n, i, 0), (*out.shape[:-2], i + 1, out.shape[-1]))

    def op(name: str, x: Any, y: Any) -> Any:
        return b.op(name, [x, y], row)

    def crossed(p: Any, q: Any, r: Any, s: Any) -> Any:
        return op("subtract", op("multiply", p, q), op("multiply", r, s))

    if size == 1:
        return op("divide", right, element(d, 0))
    first, last = element(d, 0), element(d, 1)
    above, below = element(du, 0), element(dl, 1)
    top, bottom = row_of(0), row_of(1)
    determinant = crossed(first, last, above, below)
    solved = [crossed(last, top, above, bottom), crossed(first, bottom, below, top)]
    return b.concatenate([op("divide", x, determinant) for x in solved], n)
