"""Define `dot_general`: matrix products and other contractions."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import xla
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE, Pass, Sums
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, c64, f32, i32
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives import dot_algorithms
from sagax._src.primitives import structural as s
from sagax._src.primitives.dot_algorithms import canonical_precision
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.resharding import with_out_sharding

dot_general_p = Primitive(
    "dot_general", family=WHOLE, rewritten_by=Pass.PRODUCTS, multilinear=True,
    samples=[
        Sample(f32(3, 4), f32(4, 2), dimension_numbers=(((1,), (0,)), ((), ())), precision=None, preferred_element_type=None),
        Sample(f32(2, 3, 4), f32(2, 4, 5), dimension_numbers=(((2,), (1,)), ((0,), (0,))), precision=None, preferred_element_type=None),
        Sample(f32(4), f32(4), dimension_numbers=(((0,), (0,)), ((), ())), precision=None, preferred_element_type=np.dtype(np.float32)),
        Sample(f32(2, 3), f32(4), dimension_numbers=(((), ()), ((), ())), precision=None, preferred_element_type=None),
        Sample(f32(3, 2, 4), f32(4, 3, 5), dimension_numbers=(((0, 2), (1, 0)), ((), ())), precision=None, preferred_element_type=None),
        Sample(c64(2, 3), c64(3, 2), dimension_numbers=(((1,), (0,)), ((), ())), precision=None, preferred_element_type=None),
        Sample(i32(2, 3), i32(3, 2), dimension_numbers=(((1,), (0,)), ((), ())), precision=None, preferred_element_type=None),
        Sample(c64(2, 3), f32(3, 2), dimension_numbers=(((1,), (0,)), ((), ())), precision=None, preferred_element_type=None),
        Sample(bf16(2, 3), f32(3, 2), dimension_numbers=(((1,), (0,)), ((), ())), precision=None, preferred_element_type=None, derivatives=False),
        Sample(bf16(2, 3), bf16(3, 2), dimension_numbers=(((1,), (0,)), ((), ())), precision=None,
               preferred_element_type=np.dtype(np.float32), derivatives=False),
    ],
)  # fmt: skip


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Contract two arrays: sum products over some of their dimensions.

    Args:
      dimension_numbers: ((lhs contracted, rhs contracted), (lhs batch, rhs batch)): dimensions that are
          multiplied and summed over, and batch dimensions of both.
      precision: a `Precision`, its name, or one for each operand; or a `DotAlgorithm`, or a
        `DotAlgorithmPreset` or its name.
      preferred_element_type: dtype in which products are summed, and of the result. By default that of the operands;
        of two dtypes the one of the higher kind (complex, floating, integer, bool), or of the wider range.

    The result has the batch dimensions, then the others of `lhs`, then the others of `rhs`.

    >>> lax.dot_general(np.ones((2, 3)), np.ones((3, 4)), (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    if out_sharding is not None:
        within = functools.partial(
            dot_general, dimension_numbers=dimension_numbers, precision=precision,
            preferred_element_type=preferred_element_type,
        )  # fmt: skip
        return with_out_sharding("dot_general", within, (lhs, rhs), out_sharding)
    if preferred_element_type is not None:
        preferred_element_type = dtype_predicates.requested(preferred_element_type, "dot_general")
        complex_operands = any(dtypes.is_complex(aval_of(x).dtype) for x in (lhs, rhs))
        if complex_operands and not dtypes.is_complex(preferred_element_type):
            # the real part of the product, not the product of the real parts
            product = dot_general(lhs, rhs, dimension_numbers, precision)
            return s.convert(s.real_p.bind(product), preferred_element_type)
    return dot_general_p.bind(
        lhs, rhs, dimension_numbers=canonical_dimension_numbers(dimension_numbers),
        precision=canonical_precision(precision), preferred_element_type=preferred_element_type,
    )  # fmt: skip


def canonical_dimension_numbers(numbers: Any) -> tuple:
    """Normalize dimension numbers to nested tuples of ints."""
    try:
        (lc, rc), (lb, rb) = numbers
        return (tuple(map(int, lc)), tuple(map(int, rc))), (
            tuple(map(int, lb)),
            tuple(map(int, rb)),
        )
    except (TypeError, ValueError):
        raise ArgumentError(
            function="dot_general", argument="dimension_numbers", got=numbers,
            expected="((lhs contracted, rhs contracted), (lhs batch, rhs batch)), each a sequence of ints",
        ) from None  # fmt: skip


def dot(
    lhs: Any, rhs: Any, *, dimension_numbers: Any = None, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Multiply vectors and matrices: vector-vector, matrix-vector, vector-matrix or matrix-matrix.

    With `dimension_numbers` the same as `dot_general`.

    >>> float(lax.dot(np.ones(3), np.ones(3)))
    3.0
    """
    if dimension_numbers is None:
        a, b = aval_of(lhs), aval_of(rhs)
        if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2):
            raise ShapeError(
                "Incompatible shapes for dot", function="dot", got=f"{a.shape} and {b.shape}",
                expected="vectors or matrices", fix="use numpy.matmul, numpy.dot or dot_general for other ranks",
            )  # fmt: skip
        dimension_numbers = (((a.ndim - 1,), (0,)), ((), ()))
    return dot_general(
        lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding
    )


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Multiply matrices in the last two dimensions, along equal leading dimensions.

    >>> lax.batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    n = aval_of(lhs).ndim
    if n < 2 or aval_of(rhs).ndim != n:
        raise ArgumentValueError(
            function="batch_matmul",
            got=f"{aval_of(lhs).shape} and {aval_of(rhs).shape}",
            expected="two arrays of equal rank, at least 2",
        )
    batch = tuple(range(n - 2))
    return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (batch, batch)), precision)


def _free(ndim: int, contracted: tuple, batch: tuple) -> tuple:
    return tuple(i for i in range(ndim) if i not in contracted and i not in batch)


@dot_general_p.abstract
def _(
    x: ShapedArray,
    y: ShapedArray,
    *,
    dimension_numbers: tuple,
    precision: Any,
    preferred_element_type: Any,
) -> ShapedArray:
    s.require_numbers("dot_general", x, y)
    lc, rc, lb, rb = _flat_numbers(dimension_numbers)
    for what, left, right in (("contracting", lc, rc), ("batch", lb, rb)):
        if len(left) != len(right):
            raise ArgumentError(
                f"{what} dimensions must come in pairs", function="dot_general", argument="dimension_numbers",
                got=f"{len(left)} of lhs and {len(right)} of rhs",
            )  # fmt: skip
        for d, aval, side in [(d, x, "lhs") for d in left] + [(d, y, "rhs") for d in right]:
            if not 0 <= d < aval.ndim:
                raise ArgumentError(
                    f"{what} dimension {d} of {side} does not exist", function="dot_general", argument="dimension_numbers",
                    got=aval.shape, expected=f"an array with more than {d} dimensions",
                )  # fmt: skip
        for i, j in zip(left, right, strict=True):
            if not dims.same(x.shape[i], y.shape[j]):
                raise ShapeError(
                    f"dot_general requires {what} dimensions to have the same shape, got ({x.shape[i]},) and ({y.shape[j]},).",
                    function="dot_general", got=f"size {x.shape[i]} (axis {i} of lhs {x.shape}) and size {y.shape[j]} (axis {j} of rhs {y.shape})",
                    expected="equal sizes", lhs=x, rhs=y, axes=(i, j),
                )  # fmt: skip
    for side, left in (("lhs", (*lc, *lb)), ("rhs", (*rc, *rb))):
        if len(set(left)) != len(left):
            raise ArgumentError(
                f"a dimension of {side} is named twice",
                function="dot_general",
                argument="dimension_numbers",
                got=left,
            )
    if preferred_element_type is None:
        dtype = _product_dtype(x.dtype, y.dtype)
    else:
        dtype = preferred_element_type
        if x.dtype == y.dtype:
            _check_not_narrower(x.dtype, dtype)
    shape = (
        *[x.shape[i] for i in lb], *[x.shape[i] for i in _free(x.ndim, lc, lb)], *[y.shape[i] for i in _free(y.ndim, rc, rb)]
    )  # fmt: skip
    weak = x.weak_type and y.weak_type
    return intern_aval(shape, dtype, weak, None)


def _check_not_narrower(given: Any, preferred: Any) -> None:
    """Raise if sums of integers or complex numbers are asked for in fewer bits than the numbers have."""
    if dtypes.kind(given) in "iuc":
        bits = (
            1 if preferred == np.bool_ else dtypes.itemsize_bits(dtypes.real_part_dtype(preferred))
        )
        if bits < dtypes.itemsize_bits(dtypes.real_part_dtype(given)):
            raise DtypeError(
                "`preferred_element_type` must not be narrower than the original type",
                function="dot_general",
                argument="preferred_element_type",
                got=f"{dtypes.name(preferred)}, of {dtypes.name(given)} operands",
                fix="convert the operands first, or the result with astype",
            )


def _product_dtype(a: Any, b: Any) -> Any:
    """Return the default dtype of a product: that of the operand of the higher kind, or wider range."""
    if a == b:
        return a
    left, right = _rank(a), _rank(b)
    if left == right or dtypes.is_extended(a) or dtypes.is_extended(b):
        raise DtypeError(
            f"lax.dot_general requires arguments to have the same dtypes, got {dtypes.name(a)}, {dtypes.name(b)}",
            function="dot_general", fix="convert one of them, or say the dtype of the result with preferred_element_type",
        )  # fmt: skip
    return a if left > right else b


@functools.cache
def _rank(dtype: Any) -> tuple:
    """Rank dtypes by kind: bool, integers by width and sign, floating by their largest number, complex."""
    kind = dtypes.kind(dtype)
    if kind in "iu":
        return 1, dtypes.iinfo(dtype).bits, kind == "i"
    if kind in "fc":
        return 2 + (kind == "c"), float(dtypes.finfo(dtype).max)
    return (0,)


def _flat_numbers(numbers: tuple) -> tuple:
    """Return the four tuples of dimension numbers."""
    (lc, rc), (lb, rb) = numbers
    return lc, rc, lb, rb


@dot_general_p.show
def _(*, dimension_numbers: tuple, precision: Any, preferred_element_type: Any) -> dict:
    lc, rc, lb, rb = map(list, _flat_numbers(dimension_numbers))
    shown = {"dimension_numbers": ((lc, rc), (lb, rb))}
    if precision is not None:
        shown["precision"] = precision
    if preferred_element_type is not None:
        shown["preferred_element_type"] = preferred_element_type
    return shown


@dot_general_p.shard
def _(call: Any) -> list:
    (lc, rc), (lb, rb) = call.params["dimension_numbers"]
    left, right = call.cuts[:2]
    for i, k in zip(lc, rc, strict=True):
        if left[i] and right[k]:
            same = "both" if left[i] == right[k] else "differently"
            raise call.wrong(
                f"Contracting dimensions are sharded and it is ambiguous how the output should be "
                f"sharded: dimension {i} of lhs and {k} of rhs are {same} divided, along "
                f"{call.axes_text(left[i])} and {call.axes_text(right[k])}",
                fix="say how the result is divided with out_sharding=P(...) (the sums are then "
                "reduced over the axis), or reshard an operand so that the dimension is whole",
            )
    batch = []
    for i, k in zip(lb, rb, strict=True):
        if left[i] and right[k] and left[i] != right[k]:
            raise call.wrong(
                f"lhs and rhs batch dimensions must have the same sharding: dimension {i} of lhs is divided "
                f"along {call.axes_text(left[i])}, dimension {k} of rhs along {call.axes_text(right[k])}",
                fix=f"reshard rhs: sagax.sharding.reshard(rhs, {call.required_spec(1, k, left[i])})",
            )
        batch.append(left[i] or right[k])
    rest = [c for i, c in enumerate(left) if i not in (*lc, *lb)]
    rest += [c for i, c in enumerate(right) if i not in (*rc, *rb)]
    return [(*batch, *rest)]


@dot_general_p.mask
def _(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    contracted, _ = params["dimension_numbers"]
    filled = [trace.filled(a, axes, 0) for a, axes in zip(args, contracted, strict=True)]
    return trace.bind(primitive, filled, params, out)


def _products(operands: Any, results: Any, params: dict) -> float:
    """Count a product and a sum for each contracted element."""
    contracted = params["dimension_numbers"][0][0]
    return 2 * results[0].size * math.prod([operands[0].shape[i] for i in contracted])


dot_general_p.cost = _products


@dot_general_p.wide
def _(x: np.ndarray, y: np.ndarray, *, dimension_numbers: tuple, **_: Any) -> Any:
    contracted, (batch, _) = dimension_numbers
    return None if batch else np.tensordot(x, y, contracted)


@dot_general_p.reference
def _(
    x: np.ndarray,
    y: np.ndarray,
    *,
    dimension_numbers: tuple,
    precision: Any,
    preferred_element_type: Any,
) -> np.ndarray:
    lc, rc, lb, rb = _flat_numbers(dimension_numbers)
    dtype = preferred_element_type or _product_dtype(x.dtype, y.dtype)
    wide = (
        np.float32
        if dtype_predicates.is_narrow_float(dtype) or dtype_predicates.is_narrow_float(x.dtype)
        else dtype
    )
    names = iter("abcdefghijklmnopqrstuvwxyz")
    left, right = [""] * x.ndim, [""] * y.ndim
    for i, j in [*zip(lb, rb, strict=True), *zip(lc, rc, strict=True)]:
        left[i] = right[j] = next(names)
    for side in (left, right):
        side[:] = [c or next(names) for c in side]
    out = (
        [left[i] for i in lb]
        + [left[i] for i in _free(x.ndim, lc, lb)]
        + [right[i] for i in _free(y.ndim, rc, rb)]
    )
    spec = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return np.einsum(spec, x.astype(wide), y.astype(wide)).astype(dtype)


@dot_general_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    (x, y), (tx, ty) = primals, tangents
    out = dot_general_p.bind(x, y, **params)
    total: Any = Zero.like(aval_of(out))
    if not is_zero(tx):
        total = dot_general_p.bind(tx, y, **params)
    if not is_zero(ty):
        total = add_tangents(total, dot_general_p.bind(x, ty, **params))
    return out, total


@dot_general_p.transpose
def _(
    ct: Any,
    x: Any,
    y: Any,
    *,
    dimension_numbers: tuple,
    precision: Any,
    preferred_element_type: Any,
) -> tuple:
    lc, rc, lb, rb = _flat_numbers(dimension_numbers)
    if is_linear(x):
        return _transpose_one(ct, x, y, (lc, rc, lb, rb), precision, swap=False), None
    flipped = dot_algorithms.flipped(precision)
    return None, _transpose_one(ct, y, x, (rc, lc, rb, lb), flipped, swap=True)


def _transpose_one(ct: Any, x: Any, y: Any, numbers: tuple, precision: Any, *, swap: bool) -> Any:
    """Return the cotangent of operand `x`; `swap` if it is the right one."""
    xc, yc, xb, yb = numbers
    n_batch = len(xb)
    x_free, y_free = _free(x.ndim, xc, xb), _free(aval_of(y).ndim, yc, yb)
    # result dimensions: batch, then those of lhs, then those of rhs
    if swap:
        ct_y = tuple(range(n_batch, n_batch + len(y_free)))
    else:
        ct_y = tuple(range(n_batch + len(x_free), n_batch + len(x_free) + len(y_free)))
    # the cotangent of a real operand of a complex product is the real part of a complex one
    real_part = dtypes.is_complex(aval_of(ct).dtype) and not dtypes.is_complex(x.dtype)
    out = dot_general_p.bind(
        ct, y, dimension_numbers=((ct_y, y_free), (tuple(range(n_batch)), yb)), precision=precision,
        preferred_element_type=None if real_part else x.dtype,
    )  # fmt: skip
    # out: batch, free of x, then contracted dimensions of x in the order in which y has them
    y_order = tuple(sorted(yc))
    order = (*xb, *x_free, *(xc[yc.index(d)] for d in y_order))
    inverse = [0] * len(order)
    for position, d in enumerate(order):
        inverse[d] = position
    return s.convert(s.transpose(out, inverse), x.dtype)


@dot_general_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    dimension_numbers: tuple,
    **params: Any,
) -> tuple:
    lc, rc, lb, rb = _flat_numbers(dimension_numbers)
    (x, y), (dx, dy) = args, in_dims

    def shift(numbers: tuple, d: Any) -> tuple:
        return tuple(i + (i >= d) for i in numbers)

    if dx is not None and dy is not None:
        numbers = ((shift(lc, dx), shift(rc, dy)), ((dx, *shift(lb, dx)), (dy, *shift(rb, dy))))
        return dot_general_p.bind(x, y, dimension_numbers=numbers, **params), 0
    if dx is not None:
        numbers = ((shift(lc, dx), rc), (shift(lb, dx), rb))
        free = _free(aval_of(x).ndim, shift(lc, dx), shift(lb, dx))
        return dot_general_p.bind(x, y, dimension_numbers=numbers, **params), len(lb) + free.index(
            dx
        )
    numbers = ((lc, shift(rc, dy)), (lb, shift(rb, dy)))
    left = _free(aval_of(x).ndim, lc, lb)
    free = _free(aval_of(y).ndim, shift(rc, dy), shift(rb, dy))
    return dot_general_p.bind(x, y, dimension_numbers=numbers, **params), len(lb) + len(
        left
    ) + free.index(dy)


_BYTES = {np.dtype(np.int8), np.dtype(np.uint8)}


@dot_general_p.lower
def _(
    b: Any, x: Any, y: Any, *, dimension_numbers: tuple, precision: Any, preferred_element_type: Any
) -> Any:
    lc, rc, lb, rb = map(list, _flat_numbers(dimension_numbers))
    first, second = dot_algorithms.levels(precision)
    out, algorithm = b.out, {}
    if dot_algorithms.is_algorithm(precision):
        plan = dot_algorithms.plan(
            precision, x.aval.dtype, y.aval.dtype, out.dtype, b.module.platform, b.spell_dtype
        )
        x, y = b.convert(x, plan.lhs), b.convert(y, plan.rhs)
        out, algorithm = out.with_dtype(plan.out), {"algorithm": plan.text}
    sides = {x.aval.dtype, y.aval.dtype}
    if len(sides) == 1 and dtypes.is_inexact(x.aval.dtype) and not dtypes.is_inexact(out.dtype):
        # numbers are added before they are rounded to integers
        own = x.aval.dtype
        out = out.with_dtype(dtypes.float32 if dtypes.is_narrow_float(own) else own)
    bytes_to_int32 = len(sides) == 1 and sides <= _BYTES and out.dtype == np.int32
    if b.module.platform == "cpu" and not (bytes_to_int32 and xla.sums_products_of_bytes):
        # XLA on the CPU does not mix other element types inside a product
        for side in (x, y):
            if side.aval.dtype != out.dtype and not (
                dtypes.kind(side.aval.dtype) == dtypes.kind(out.dtype) == "f"
            ):
                x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
                break
        if x.aval.dtype != y.aval.dtype or (
            x.aval.dtype != out.dtype and dtypes.itemsize(x.aval.dtype) < 2
        ):
            x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
    product = b.op(
        "dot_general", [x, y], out,
        dot_dimension_numbers=(
            f"#stablehlo.dot<lhs_batching_dimensions = {lb}, rhs_batching_dimensions = {rb}, "
            f"lhs_contracting_dimensions = {lc}, rhs_contracting_dimensions = {rc}>"
        ),
        precision_config=f"[#stablehlo<precision {first.name}>, #stablehlo<precision {second.name}>]",
        **algorithm,
    )  # fmt: skip
    return b.convert(product, b.out.dtype)


dot_general_p.sums = Sums.CONTRACTED
