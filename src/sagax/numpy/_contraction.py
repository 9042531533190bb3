"""Contract arrays: dot, matmul, tensordot, inner and outer products, traces.

Operands of different dtypes go into `dot_general` as they are: it multiplies in the common dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.primitives import arithmetic, dot_algorithms, shaping, slicing, structural
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import eq_p
from sagax._src.primitives.complex_numbers import conj
from sagax._src.primitives.dot_general import canonical_precision, dot_general_p
from sagax._src.primitives.resharding import with_out_sharding
from sagax.numpy._arguments import axes_in_order, one_axis, refuse_out, static_int, with_aval
from sagax.numpy._creation import matrix_indices
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._shaping import moveaxis, ravel

_thread = config.thread
_BOOL = np.dtype(bool)
_MATRIX_MATRIX = (((1,), (0,)), ((), ()))


# what the products share --------------------------------------------------------------------------


def element_type(function: str, x: Any, y: Any, preferred: Any) -> Any:
    """Return the dtype to multiply operands of these avals in, or None if both already have it."""
    if preferred is not None:
        preferred = dtypes.requested_dtype(preferred, function)
        if not _takes_real_part(x, y, preferred):
            return None if x.dtype == y.dtype == preferred else preferred
    if x.dtype is y.dtype:
        return None
    settings = _thread.settings
    try:
        return dtypes.promote(
            ((x.dtype, x.weak_type), (y.dtype, y.weak_type)),
            settings.x64,
            settings.numpy_dtype_promotion,
        )[0]
    except dtypes.errors.TypePromotionError as error:
        raise error.attach(function=function) from None


def _takes_real_part(x: Any, y: Any, preferred: Any) -> bool:
    """Return whether complex operands have a real result: the real part of the complex one."""
    return not dtypes.is_complex(preferred) and (
        dtypes.is_complex(x.dtype) or dtypes.is_complex(y.dtype)
    )


def product(function: str, x: Any, y: Any, preferred: Any = None) -> Array:
    """Multiply x * y elementwise, for operands whose ranks are equal or 0; booleans: x and y."""
    if preferred is not None:
        preferred = dtypes.requested_dtype(preferred, function)
        if _takes_real_part(aval_of(x), aval_of(y), preferred):
            return structural.convert(product(function, x, y), preferred)
        x, y = structural.convert(x, preferred), structural.convert(y, preferred)
    else:
        x, y = _base.promote_dtypes(function, x, y)
    if aval_of(x).dtype == _BOOL:
        return bitwise_and(x, y)
    return arithmetic.mul_p.bind(x, y)


def _typed(function: str, out: Array, x: Any, y: Any, preferred: Any) -> Array:
    """Make a sum of products weak where the common type of the operands, of these avals, is weak.

    A preferred dtype is not. `dot_general` itself goes by whether both operands are weak.
    """
    if preferred is not None:
        return _base.strong(structural.convert(out, dtypes.requested_dtype(preferred, function)))
    if aval_of(out).weak_type or x.dtype is y.dtype or not (x.weak_type or y.weak_type):
        return out
    typed = ((x.dtype, x.weak_type), (y.dtype, y.weak_type))
    return structural.convert(out, out.dtype, True) if _base.common_of(function, typed)[1] else out


def contract(
    function: str,
    x: Any,
    x_labels: Sequence[Hashable],
    y: Any,
    y_labels: Sequence[Hashable],
    labels: Sequence[Hashable],
    precision: Any,
    preferred: Any,
    dot_general: Any = None,
) -> Array:
    """Contract `x` and `y`, whose dimensions have labels, over the labels that are not in `labels`.

    The result has the dimensions `labels`. Every label that is to be summed over is in both
    operands, and both operands agree in the sizes of shared labels.
    """
    shared = [name for name in x_labels if name in y_labels]
    summed = [name for name in shared if name not in labels]
    along = [name for name in shared if name in labels]
    x_free = [name for name in x_labels if name not in shared]
    y_free = [name for name in y_labels if name not in shared]
    natural = [*x_free, *y_free] == list(labels)
    if not summed and dot_general is None and (along or not natural):
        return product(
            function, _aligned(x, x_labels, labels), _aligned(y, y_labels, labels), preferred
        )
    if [*along, *x_free, *y_free] != list(labels) and [*along, *y_free, *x_free] == list(labels):
        x, x_labels, x_free, y, y_labels, y_free = y, y_labels, y_free, x, x_labels, x_free
        precision = dot_algorithms.flipped(precision)
    along.sort(key=list(labels).index)
    numbers = (
        (tuple([x_labels.index(n) for n in summed]), tuple([y_labels.index(n) for n in summed])),
        (tuple([x_labels.index(n) for n in along]), tuple([y_labels.index(n) for n in along])),
    )
    x_aval, y_aval = aval_of(x), aval_of(y)
    kind = element_type(function, x_aval, y_aval, preferred)
    if dot_general is None:
        out = dot_general_p.bind(
            x, y, dimension_numbers=numbers, precision=precision, preferred_element_type=kind
        )
    else:
        out = dot_general(x, y, numbers, precision=precision, preferred_element_type=kind)
    out = _typed(function, out, x_aval, y_aval, preferred)
    current = [*along, *x_free, *y_free]
    return structural.transpose(out, [current.index(name) for name in labels])


def _aligned(x: Any, current: Sequence[Hashable], labels: Sequence[Hashable]) -> Any:
    """Transpose `x` to the order of `labels`, with sizes 1 for those it lacks."""
    order = [name for name in labels if name in current]
    x = structural.transpose(x, [list(current).index(name) for name in order])
    new = tuple([i for i, name in enumerate(labels) if name not in current])
    return structural.expand_dims(x, new) if new and order else x


# products of vectors and matrices -----------------------------------------------------------------


@fused_function(2)
def dot(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Multiply two arrays: the inner product of vectors, the matrix product of matrices.

    In general products are summed over the last dimension of `a` and the one before the last of `b`;
    scalars multiply. `preferred_element_type` is the dtype to add in, and of the result.

    >>> snp.dot(snp.array([[1, 2], [3, 4]]), snp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        within = functools.partial(dot, **options)
        return with_out_sharding("dot", within, (a, b), out_sharding)
    a, x = with_aval("dot", a, 0)
    b, y = with_aval("dot", b, 1)
    if not x.ndim or not y.ndim:
        return product("dot", a, b, preferred_element_type)
    numbers = (((x.ndim - 1,), (y.ndim - 2 if y.ndim > 1 else 0,)), ((), ()))
    return _dot_general("dot", a, x, b, y, numbers, precision, preferred_element_type)


def _dot_general(
    function: str, a: Any, x: Any, b: Any, y: Any, numbers: Any, precision: Any, preferred: Any
) -> Array:
    ((i,), (j,)), _ = numbers
    if not dims.same(x.shape[i], y.shape[j]):
        raise ShapeError(
            f"shapes {x.shape} and {y.shape} do not fit: contracting dimensions differ in size",
            function=function,
            got=f"size {x.shape[i]} (axis {i} of the first) and size {y.shape[j]} (axis {j} of the"
            " second)",
            expected="equal sizes",
            x=a,
            y=b,
        )
    if precision is not None or _thread.settings.matmul_precision is not None:
        precision = canonical_precision(precision, function)
    kind = None
    if preferred is not None or x.dtype is not y.dtype:
        kind = element_type(function, x, y, preferred)
    out = dot_general_p.bind(
        a, b, dimension_numbers=numbers, precision=precision, preferred_element_type=kind
    )
    return out if kind is None and preferred is None else _typed(function, out, x, y, preferred)


@fused_function(2)
def matmul(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Compute the matrix product `a @ b`.

    Leading dimensions broadcast, vectors are rows or columns. Raises a ValueError for scalars, a
    TypeError when sizes do not fit. `preferred_element_type` is the dtype to add in, and of the
    result.

    >>> snp.matmul(snp.ones((5, 2, 3)), snp.ones((3, 4))).shape
    (5, 2, 4)
    """
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        within = functools.partial(matmul, **options)
        return with_out_sharding("matmul", within, (a, b), out_sharding)
    a, x = with_aval("matmul", a, 0)
    b, y = with_aval("matmul", b, 1)
    if x.ndim == 2 and y.ndim == 2:
        return _dot_general("matmul", a, x, b, y, _MATRIX_MATRIX, precision, preferred_element_type)
    for position, aval in enumerate((x, y)):
        if not aval.ndim:
            raise ArgumentValueError(
                f"operand {position} is a scalar; both need at least one dimension",
                function="matmul",
                fix="multiply by a scalar with *",
                a=a,
                b=b,
            )
    if y.ndim <= 2 or x.ndim == 1:
        numbers = (((x.ndim - 1,), (y.ndim - 2 if y.ndim > 1 else 0,)), ((), ()))
        return _dot_general("matmul", a, x, b, y, numbers, precision, preferred_element_type)
    left = [*range(2 - x.ndim, 0), "row", "inner"]
    right = [*range(2 - y.ndim, 0), "inner", "column"]
    batch = left[:-2] if x.ndim > y.ndim else right[:-2]
    return _along_batches(
        "matmul", a, left, b, right, [*batch, "row", "column"], precision, preferred_element_type
    )


def _along_batches(
    function: str,
    a: Any,
    left: list,
    b: Any,
    right: list,
    labels: list,
    precision: Any,
    preferred: Any,
) -> Array:
    """Contract as `contract` does, where shared labels that are not summed over broadcast."""
    x, y = aval_of(a), aval_of(b)
    sizes = dict(zip(left, x.shape))
    stretched: tuple[list, list] = ([], [])
    for name, size in zip(right, y.shape):
        mine = sizes.get(name, size)
        if dims.same(mine, size):
            continue
        if name in labels and (dims.same(mine, 1) or dims.same(size, 1)):
            stretched[0 if dims.same(mine, 1) else 1].append(name)
            continue
        i, j = left.index(name) - len(left), right.index(name) - len(right)
        raise ShapeError(
            f"shapes {x.shape} and {y.shape} do not fit",
            function=function,
            got=f"size {mine} (axis {i} of the first) and size {size} (axis {j} of the second)",
            expected="equal sizes" if name not in labels else "equal sizes, or size 1",
            x=a,
            y=b,
        )
    a, left = _without(a, left, stretched[0])
    b, right = _without(b, right, stretched[1])
    precision = canonical_precision(precision, function)
    return contract(function, a, left, b, right, labels, precision, preferred)


def _without(x: Any, labels: list, names: list) -> tuple[Any, list]:
    """Remove the dimensions `names`, of size 1, from `x`; return also the other labels."""
    if not names:
        return x, labels
    x = structural.squeeze(x, [labels.index(name) for name in names])
    return x, [name for name in labels if name not in names]


@fused_function(2)
def matvec(x1: Any, x2: Any) -> Array:
    """Multiply matrices (..., n, m) with vectors (..., m): shape (..., n).

    Leading dimensions broadcast.

    >>> snp.matvec(snp.array([[1, 2], [3, 4]]), snp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x1, x = with_aval("matvec", x1, 0)
    x2, y = with_aval("matvec", x2, 1)
    _at_least("matvec", x1, x, 2, 0)
    _at_least("matvec", x2, y, 1, 1)
    left = [*range(2 - x.ndim, 0), "row", "inner"]
    right = [*range(1 - y.ndim, 0), "inner"]
    batch = left[:-2] if x.ndim - 1 > y.ndim else right[:-1]
    return _along_batches("matvec", x1, left, x2, right, [*batch, "row"], None, None)


@fused_function(2)
def vecmat(x1: Any, x2: Any) -> Array:
    """Multiply vectors (..., n), complex conjugated, with matrices (..., n, m): shape (..., m).

    Leading dimensions broadcast.

    >>> snp.vecmat(snp.array([1, 1]), snp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    x1, x = with_aval("vecmat", x1, 0)
    x2, y = with_aval("vecmat", x2, 1)
    _at_least("vecmat", x1, x, 1, 0)
    _at_least("vecmat", x2, y, 2, 1)
    left = [*range(1 - x.ndim, 0), "inner"]
    right = [*range(2 - y.ndim, 0), "inner", "column"]
    batch = left[:-1] if x.ndim > y.ndim - 1 else right[:-2]
    x1 = _conjugate(x1, x)
    return _along_batches("vecmat", x1, left, x2, right, [*batch, "column"], None, None)


def vecdot(
    x1: Any, x2: Any, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Compute the inner products of vectors along `axis`, those of `x1` complex conjugated.

    The other dimensions broadcast.

    >>> snp.vecdot(snp.array([[1, 2], [3, 4]]), snp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x1, x = with_aval("vecdot", x1, 0)
    x2, y = with_aval("vecdot", x2, 1)
    _at_least("vecdot", x1, x, 1, 0)
    _at_least("vecdot", x2, y, 1, 1)
    left: list = list(range(-x.ndim + 1, 1))
    right: list = list(range(-y.ndim + 1, 1))
    i, j = one_axis("vecdot", axis, x.ndim), one_axis("vecdot", axis, y.ndim)
    # number the other dimensions from the last one, as they broadcast
    for labels, k in ((left, i), (right, j)):
        del labels[0]
        labels.insert(k, "inner")
    longer = left if x.ndim > y.ndim else right
    batch = [name for name in longer if name != "inner"]
    x1 = _conjugate(x1, x)
    return _along_batches("vecdot", x1, left, x2, right, batch, precision, preferred_element_type)


def _at_least(function: str, x: Any, aval: Any, ndim: int, position: int) -> None:
    if aval.ndim < ndim:
        raise ArgumentValueError(
            function=function,
            argument=f"x{position + 1}",
            got=x,
            expected=f"an array with at least {ndim} dimension{'s' if ndim > 1 else ''}",
        )


def _conjugate(x: Any, aval: Any) -> Any:
    return conj(x) if dtypes.is_complex(aval.dtype) else x


@fused_function(2)
def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Compute the inner product of all elements of `a`, complex conjugated, with those of `b`.

    >>> complex(snp.vdot(snp.array([1j, 2]), snp.array([1j, 1])))
    (3+0j)
    """
    a, x = with_aval("vdot", a, 0)
    b, _ = with_aval("vdot", b, 1)
    return dot(
        ravel(_conjugate(a, x)), ravel(b),
        precision=precision, preferred_element_type=preferred_element_type,
    )  # fmt: skip


@fused_function(2)
def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Sum products over the last dimensions of `a` and `b`; scalars multiply.

    >>> snp.inner(snp.array([[1, 2], [3, 4]]), snp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    a, x = with_aval("inner", a, 0)
    b, y = with_aval("inner", b, 1)
    if not x.ndim or not y.ndim:
        return product("inner", a, b, preferred_element_type)
    numbers = (((x.ndim - 1,), (y.ndim - 1,)), ((), ()))
    return _dot_general("inner", a, x, b, y, numbers, precision, preferred_element_type)


@fused_function(2)
def outer(a: Any, b: Any, out: None = None) -> Array:
    """Multiply each element of `a` (a row each) with each element of `b` (a column each); a matrix.

    >>> snp.outer(snp.array([1, 2]), snp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    if out is not None:
        refuse_out("outer", out)
    return _outer(with_aval("outer", a, 0)[0], with_aval("outer", b, 1)[0])


@fused
def _outer(a: Any, b: Any) -> Array:
    rows = structural.expand_dims(ravel(a), (1,))
    return product("outer", rows, structural.expand_dims(ravel(b), (0,)))


@fused_function(2)
def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Sum products over several dimensions of `a` and `b`.

    `axes` is a number n, for the last n of `a` and the first n of `b`, or a pair: the dimensions of
    `a` (one or several) and the matching ones of `b`.

    >>> snp.tensordot(snp.ones((2, 3, 4)), snp.ones((3, 2)), ([0, 1], [1, 0])).shape
    (4,)
    """
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        within = functools.partial(tensordot, axes=axes, **options)
        return with_out_sharding("tensordot", within, (a, b), out_sharding)
    a, x = with_aval("tensordot", a, 0)
    b, y = with_aval("tensordot", b, 1)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ArgumentValueError.about(
                "tensordot", "axes", axes, "a number, or a pair: axes of a, axes of b"
            )
        left = axes_in_order("tensordot", axes[0], x.ndim, "axes[0]")
        right = axes_in_order("tensordot", axes[1], y.ndim, "axes[1]")
        if len(left) != len(right):
            raise ArgumentValueError.about("tensordot", "axes", axes, "as many axes of a as of b")
    else:
        n = static_int("tensordot", "axes", axes)
        if not 0 <= n <= min(x.ndim, y.ndim):
            raise ArgumentError(
                function="tensordot",
                argument="axes",
                got=n,
                expected=f"a number up to {min(x.ndim, y.ndim)}, the dimensions of a and of b",
                a=a,
                b=b,
            )
        left, right = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    for i, j in zip(left, right):
        if not dims.same(x.shape[i], y.shape[j]):
            raise ShapeError(
                f"shapes {x.shape} and {y.shape} do not fit",
                function="tensordot",
                got=f"size {x.shape[i]} (axis {i} of a) and size {y.shape[j]} (axis {j} of b)",
                expected="equal sizes",
                a=a,
                b=b,
            )
    product = dot_general_p.bind(
        a,
        b,
        dimension_numbers=((left, right), ((), ())),
        precision=canonical_precision(precision, "tensordot"),
        preferred_element_type=element_type("tensordot", x, y, preferred_element_type),
    )
    return _typed("tensordot", product, x, y, preferred_element_type)


@fused_function(2)
def kron(a: Any, b: Any) -> Array:
    """Compute the Kronecker product: each element of `a` replaced by its product with all of `b`.

    >>> snp.kron(snp.array([1, 10]), snp.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    a, x = with_aval("kron", a, 0)
    b, y = with_aval("kron", b, 1)
    rank = max(x.ndim, y.ndim)
    left, right = ((1,) * (rank - v.ndim) + v.shape for v in (x, y))
    if not x.ndim or not y.ndim:
        return product("kron", a, b)
    a = structural.reshape(a, tuple([d for size in left for d in (size, 1)]))
    b = structural.reshape(b, tuple([d for size in right for d in (1, size)]))
    return structural.reshape(product("kron", a, b), tuple([p * q for p, q in zip(left, right)]))


@fused_function(2)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Compute the cross products of vectors of 3 components along an axis of `a` and of `b`.

    The other dimensions broadcast. `axisc` is the axis of the components in the result; `axis`
    stands for all three axes. Raises a ValueError for another number of components.

    >>> snp.cross(snp.array([1, 0, 0]), snp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, x = with_aval("cross", a, 0)
    b, y = with_aval("cross", b, 1)
    i, j = one_axis("cross", axisa, x.ndim, "axisa"), one_axis("cross", axisb, y.ndim, "axisb")
    for aval, d, name in ((x, i, "a"), (y, j, "b")):
        if not dims.same(aval.shape[d], 3):
            raise ArgumentValueError(
                "Dimension must be 3 for cross product",
                function="cross",
                argument=name,
                got=f"size {aval.shape[d]} along axis {d}",
                fix="append a third component 0, or compute a[0] * b[1] - a[1] * b[0]",
                a=a,
                b=b,
            )
    a, b = _base.promote_dtypes("cross", moveaxis(a, i, 0), moveaxis(b, j, 0))
    rank = max(x.ndim, y.ndim)
    u, v = (shaping.unstack(structural.expand_dims(w, range(1, 1 + rank - w.ndim))) for w in (a, b))
    products = [
        arithmetic.sub(arithmetic.mul(u[p], v[q]), arithmetic.mul(u[q], v[p]))
        for p, q in ((1, 2), (2, 0), (0, 1))
    ]
    axis = one_axis("cross", axisc, products[0].ndim + 1, "axisc")
    # XLA is quicker to join whole arrays than elements
    return _base.strong(moveaxis(shaping.stack(products, 0), 0, axis))


# diagonals ----------------------------------------------------------------------------------------


@fused_function(1)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Extract the elements of `a` whose indices along two axes are equal (differ by `offset`).

    They are the last dimension of the result; the two axes are gone.

    >>> snp.diagonal(snp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return _diagonal("diagonal", a, offset, axis1, axis2)


def _diagonal(function: str, a: Any, offset: Any, axis1: Any, axis2: Any) -> Array:
    a, aval = with_aval(function, a)
    if aval.ndim < 2:
        raise ArgumentValueError(
            function=function,
            argument="a",
            got=a,
            expected="an array of at least two dimensions",
            fix="numpy.diag makes a matrix from a vector",
        )
    i = one_axis(function, axis1, aval.ndim, "axis1")
    j = one_axis(function, axis2, aval.ndim, "axis2")
    if i == j:
        raise ArgumentValueError(
            function=function, got=f"axis1={axis1} and axis2={axis2}", expected="two different axes"
        )
    return diagonal_of(moveaxis(a, (i, j), (-2, -1)), static_int(function, "offset", offset))


def diagonal_of(x: Any, offset: int) -> Array:
    """Extract the diagonal of the last two dimensions, `offset` columns right of the main one."""
    shape = x.aval.shape
    rows, columns = shape[-2:]
    first = offset if offset >= 0 else -offset * columns
    length = dims.non_negative(
        dims.min_dim(rows, columns - offset)
        if offset >= 0
        else dims.min_dim(rows + offset, columns)
    )
    flat = structural.reshape(x, (*shape[:-2], rows * columns))
    if dims.same(length, 0):
        first = 0
    stop = dims.min_dim(first + length * (columns + 1), rows * columns)
    return slicing.slice_in_dim(flat, first, stop, columns + 1, len(shape) - 2)


@fused_function(1)
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Array:
    """Sum the diagonal of `a` along two axes; see `diagonal`, and `sum` for the dtype.

    >>> int(snp.trace(snp.array([[1, 2], [3, 4]])))
    5
    """
    if out is not None:
        refuse_out("trace", out)
    if isinstance(offset, Tracer) and offset.concrete() is None and _is_integer(offset.aval):
        a, _ = with_aval("trace", a)
        x = moveaxis(a, (axis1, axis2), (-2, -1))
        rows, columns = matrix_indices("trace", x.shape[-2], x.shape[-1], offset)
        on_it = _base.broadcast_to(eq_p.bind(rows, columns), x.shape)
        return sum_along(x, (-2, -1), dtype, where=on_it)
    return sum_along(_diagonal("trace", a, offset, axis1, axis2), -1, dtype)


def _is_integer(aval: Any) -> bool:
    return aval.shape == () and dtypes.kind(aval.dtype) in "iu"
