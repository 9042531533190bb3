"""Define LU factorization with partial pivoting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import MATRICES, matrix_size, shard_matrices
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.core.tangents import Zero, is_zero, set_zero_derivative
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.arithmetic import add
from sagax._src.primitives.linalg.common import (
    batch_in_front,
    check_matrix,
    cuda_kernel,
    each,
    identity,
    info_of,
    kernel,
    lower_part,
    matmul,
    nan_where_failed,
    of,
    take_rows,
    upper_part,
    with_diagonal,
)
from sagax._src.primitives.linalg.triangular import triangular_solve
from sagax._src.primitives.slicing import pad, slice_in_dim

_I32 = np.dtype(np.int32)

# lu_pivots_to_permutation ------------------------------------------------------------------------

lu_pivots_to_permutation_p = Primitive(
    "lu_pivots_to_permutation", family=MATRICES, shard_rule=shard_matrices(1), exact=True
)


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """Convert the row swaps of an LU factorization to a permutation.

    Args:
      pivots: int32 of shape (..., k): row i was swapped with row `pivots[i]`, in order.
      permutation_size: the number of rows, at least k.

    >>> lax.linalg.lu_pivots_to_permutation(np.array([2, 2, 2], np.int32), 4)
    Array([2, 0, 1, 3], dtype=int32)
    """
    (size,) = dims.canonical_shape((permutation_size,), "permutation_size")
    return lu_pivots_to_permutation_p.bind(pivots, permutation_size=size)


lu_pivots_to_permutation_p.samples = [
    Sample(np.array([2, 2, 2], np.int32), permutation_size=4),
    Sample(np.array([[1, 1], [0, 2]], np.int32), permutation_size=3),
    Sample(np.zeros((2, 0), np.int32), permutation_size=2),
]


@lu_pivots_to_permutation_p.abstract
def _(pivots: ShapedArray, *, permutation_size: Any) -> ShapedArray:
    name = "lu_pivots_to_permutation"
    if pivots.dtype != _I32:
        raise DtypeError(
            f"pivots has dtype {dtypes.name(pivots.dtype)}",
            function=name,
            argument="pivots",
            got=pivots,
            expected="int32",
        )
    if pivots.ndim < 1:
        raise ShapeError.about(name, "pivots", pivots, "shape (..., k)")
    size = pivots.shape[-1]
    if not (dims.is_dim(size) or dims.is_dim(permutation_size)) and permutation_size < size:
        raise ArgumentValueError.about(
            name, "permutation_size", permutation_size, f"at least {size}, the number of pivots"
        )
    return intern_aval((*pivots.shape[:-1], permutation_size), _I32, pivots.weak_type, None)


@lu_pivots_to_permutation_p.reference
def _(pivots: np.ndarray, *, permutation_size: int) -> np.ndarray:
    if 0 in pivots.shape[:-1]:
        return np.zeros((*pivots.shape[:-1], permutation_size), np.int32)

    def permutation(swaps: np.ndarray) -> tuple:
        order = np.arange(permutation_size, dtype=np.int32)
        for i, j in enumerate(swaps):
            order[i], order[j] = order[j], order[i]
        return (order,)

    return each(permutation, (1,), pivots)[0]


set_zero_derivative(lu_pivots_to_permutation_p)


batch_in_front(lu_pivots_to_permutation_p)


@lu_pivots_to_permutation_p.lower
def _(b: Any, pivots: Any, *, permutation_size: Any) -> Any:
    # A loop over the swaps. In stacks each rewrites the whole permutation where the index is i or the pivot:
    # that costs little relative to the factorization and needs no scatter.
    out = b.out
    n = out.ndim - 1
    stack = out.shape[:-1]
    order = b.iota(out, n)
    if 0 in pivots.aval.shape:
        return order
    number = intern_aval((), _I32, False, None)
    one = intern_aval((*stack, 1), _I32, False, None)
    zero = b.constant(0, _I32)
    limit = b.dim(pivots.aval.shape[-1])

    def stretched(x: Any) -> Any:
        return b.broadcast_in_dim(x, out.shape, tuple(range(n + 1)))

    def element(x: Any, i: Any) -> Any:
        """Broadcast the element at `i` of each vector of a stack."""
        if dims.is_static(stack):
            sizes = b.ints((*stack, 1))
            return stretched(b.op("dynamic_slice", [x, *[zero] * n, i], one, slice_sizes=sizes))
        there = b.compare("EQ", b.iota(x.aval, n), b.broadcast_in_dim(i, x.shape, ()))
        only = b.reduce("add", b.select(there, x, b.full(0, x.aval)), 0, (n,))
        return b.broadcast_in_dim(only, out.shape, tuple(range(n)))

    def step(i: Any) -> Any:
        return b.op("add", [i, b.constant(1, _I32)], number)

    def one_swap(i: Any, current: Any, pivots: Any) -> list:
        size = b.ints((1,))
        j = b.op("dynamic_slice", [pivots, i], one, slice_sizes=size)
        j = b.reshape(j, ())
        at_i = b.op("dynamic_slice", [current, i], one, slice_sizes=size)
        at_j = b.op("dynamic_slice", [current, j], one, slice_sizes=size)
        swapped = b.op("dynamic_update_slice", [current, at_j, i], out)
        swapped = b.op("dynamic_update_slice", [swapped, at_i, j], out)
        return [step(i), swapped, pivots]

    def body(i: Any, current: Any, pivots: Any) -> list:
        j, at_i = element(pivots, i), element(current, i)
        is_j = b.compare("EQ", order, j)
        is_i = b.compare("EQ", order, b.broadcast_in_dim(i, out.shape, ()))
        chosen = b.reduce("add", b.select(is_j, current, b.full(0, out)), 0, (n,))
        at_j = b.broadcast_in_dim(chosen, out.shape, tuple(range(n)))
        # where i == j both agree
        swapped = b.select(is_i, at_j, b.select(is_j, at_i, current))
        return [step(i), swapped, pivots]

    loop_body = body if n else one_swap
    return b.while_loop([zero, order, pivots], lambda i, *_: b.compare("LT", i, limit), loop_body)[
        1
    ]


@lu_pivots_to_permutation_p.lower_for("cuda")
def _(b: Any, pivots: Any, *, permutation_size: Any) -> Any:
    n = b.out.ndim - 1
    if 0 in pivots.aval.shape:
        return b.iota(b.out, n)
    return cuda_kernel(b, "cu_lu_pivots_to_permutation", [pivots], [b.out], batch=n)[0]


# lu ----------------------------------------------------------------------------------------------

lu_p = Primitive("lu", family=MATRICES, cost=matrix_size, multiple_results=True)


def lu(x: Any) -> list[Any]:
    """Factor matrices with partial pivoting: x[permutation] = L U.

    Args:
      x: matrices of shape (..., m, n); k is the lesser of m and n.

    Returns a list of three arrays: L (strictly below the diagonal; its diagonal is ones) and U in
    one matrix of shape (..., m, n); the pivots, int32 of shape (..., k): row i was swapped with row
    `pivots[i]`; the permutation, int32 of shape (..., m). A singular matrix has a zero on the
    diagonal of U.

    >>> factors, pivots, permutation = lax.linalg.lu(np.array([[1., 2.], [2., 4.]]))
    >>> factors
    Array([[2. , 4. ],
           [0.5, 0. ]], dtype=float32)
    >>> permutation
    Array([1, 0], dtype=int32)
    """
    check_matrix("lu", aval_of(x), "x")  # of an example, too, where a vmap gives a stack
    return lu_p.bind(x)


lu_p.samples = [
    Sample(f32(3, 3)),
    Sample(f32(2, 2, 3)),
    Sample(f32(4, 2)),
    Sample(c64(3, 3)),
    Sample(f32(0, 2)),
    Sample(f32(2, 0)),
]


@lu_p.abstract
def _(x: ShapedArray) -> list:
    check_matrix("lu", x, "x")
    m, n = x.shape[-2:]
    k = dims.min_dim(m, n)
    return [x, of(x, k, dtype=_I32), of(x, m, dtype=_I32)]


@lu_p.reference
def _(x: np.ndarray) -> list:
    import scipy.linalg

    def factor(a: np.ndarray) -> tuple:
        if a.size == 0:
            packed, pivots = a, np.zeros(0, np.int32)
        else:
            getrf: Any = scipy.linalg.get_lapack_funcs("getrf", (a,))
            packed, pivots, _ = getrf(a)
        order = np.arange(a.shape[0], dtype=np.int32)
        for i, j in enumerate(pivots):
            order[i], order[j] = order[j], order[i]
        return packed.astype(x.dtype), pivots.astype(np.int32), order

    return each(factor, (2,), x)


@lu_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple:
    # P A = L U  =>  L^-1 P dA U^-1 = L^-1 dL + dU U^-1: a strictly lower and an upper part. With
    # the smaller factor padded by an identity the same holds for matrices that are not square.
    (x,), (t,) = primals, tangents
    packed, pivots, order = outs = lu_p.bind(x)
    zeros = [Zero.like(aval_of(o)) for o in outs]
    if is_zero(t) or 0 in aval_of(x).shape:
        return outs, zeros
    aval = aval_of(packed)
    m, n = aval.shape[-2:]
    low = with_diagonal(_square(lower_part(packed, -1), m), 1)
    up = upper_part(packed)
    if not dims.same(m, n):
        up = _square(up, n)
        up = add(up, _ones_from(aval_of(up), dims.min_dim(m, n)))
    inner = triangular_solve(
        low, take_rows(t, order), left_side=True, lower=True, unit_diagonal=True
    )
    inner = triangular_solve(up, inner)
    tangent = add(matmul(low, lower_part(inner, -1)), matmul(upper_part(inner), up))
    return outs, [tangent, *zeros[1:]]


def _square(x: Any, size: Any) -> Any:
    """Pad or cut matrices to size x size, with zeros."""
    for axis in (-2, -1):
        aval = aval_of(x)
        have = aval.shape[axis]
        if dims.same(have, size):
            continue
        at = aval.ndim + axis
        if dims.same(dims.min_dim(have, size), size):
            x = slice_in_dim(x, 0, size, axis=at)
        else:
            zero = np.zeros((), aval.dtype)[()]
            x = pad(x, zero, [(0, size - have if i == at else 0, 0) for i in range(aval.ndim)])
    return x


def _ones_from(aval: ShapedArray, start: Any) -> Any:
    """Return matrices of the given type with ones on the diagonal from index `start` on, else zeros."""
    rest = aval.shape[-1] - start
    ones = identity((*aval.shape[:-2], rest, rest), aval.dtype)
    zero = np.zeros((), aval.dtype)[()]
    return pad(ones, zero, [*[(0, 0, 0)] * (aval.ndim - 2), (start, 0, 0), (start, 0, 0)])


batch_in_front(lu_p)


@lu_p.lower
def _(b: Any, x: Any) -> list:
    out, pivots_aval, order_aval = b.outs
    n = out.ndim - 2
    on_cuda = b.module.platform == "cuda"
    call, name = (cuda_kernel, "cusolver_getrf_ffi") if on_cuda else (kernel, "getrf")
    packed, pivots, info = call(
        b, name, [x], [out, pivots_aval, info_of(out, n)], batch=n, in_place=[(0, 0)]
    )
    # LAPACK counts from one; a positive info reports a zero pivot, which is no failure
    pivots = b.op("subtract", [pivots, b.full(1, pivots_aval)], pivots_aval)
    (packed,) = nan_where_failed(b, info, [packed], direction="GE")
    outer, b.outs = b.outs, [order_aval]
    to_order: Any = b.module.rule(lu_pivots_to_permutation_p)
    order = to_order(b, pivots, permutation_size=order_aval.shape[-1])
    b.outs = outer
    return [packed, pivots, order]
