"""Define elementwise selection: select_n, select, clamp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import EXACT, SIMPLE, CotangentMask, Sums
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f16, f32, i32, u8
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.bitwise import bitwise_and, bitwise_or
from sagax._src.primitives.comparison import ge, gt, le, lt
from sagax._src.primitives.makers import (
    Accepts,
    broadcast_to,
    elementwise,
    floating,
    operands,
    scalar_like,
)
from sagax._src.primitives.structural import broadcast_in_dim, full_of, instantiate, moveaxis

_BOOL = np.dtype(bool)

# select_n -----------------------------------------------------------------------------------------

select_n_p = Primitive(
    "select_n", family=EXACT, cotangent_mask=CotangentMask.SELECTED, moves_keys=True, exact=True
)
select_n_p.sums = Sums.EACH
select_n_p.elementwise = True


def select_n(which: Any, *cases: Any) -> Any:
    """Select elementwise among `cases` by `which`: `cases[which]`.

    `which` is boolean (two cases: the first for False, the second for True) or an integer; numbers out of range
    select the first or the last case. It is a scalar or has the shape of the cases, which agree in shape
    and dtype.

    >>> lax.select_n(np.array([0, 2, 1]), np.zeros(3), np.ones(3), np.full(3, 2.0))
    Array([0., 2., 1.], dtype=float32)
    """
    if not cases:
        raise ArgumentValueError.about("select_n", "cases", "no case", "at least one")
    return select_n_p.bind(which, *cases)


@select_n_p.abstract
def _(which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
    first = cases[0]
    if which.dtype != _BOOL and not dtype_predicates.is_integer(which.dtype):
        raise DtypeError.about("select_n", "which", which, "booleans or integers")
    if which.dtype == _BOOL and len(cases) > 2:
        raise ArgumentValueError(
            "a boolean chooses between two cases",
            function="select_n",
            argument="which",
            got=f"{len(cases)} cases",
            expected="at most 2, or an integer `which`",
        )
    for i, case in enumerate(cases):
        if case.dtype != first.dtype:
            raise DtypeError(
                "lax.select_n requires cases of the same dtype; "
                f"case 0 has {dtypes.name(first.dtype)}, "
                f"case {i} has {dtypes.name(case.dtype)}",
                function="select_n",
                fix="convert one of them with astype; sagax.numpy.where promotes dtypes by itself",
            )
        if not dims.same_shape(case.shape, first.shape):
            raise ShapeError(
                f"case 0 has shape {first.shape}, case {i} has shape {case.shape}",
                function="select_n",
                expected="cases of the same shape",
                fix="sagax.numpy.where broadcasts its operands",
            )
    if which.shape and not dims.same_shape(which.shape, first.shape):
        raise ShapeError.about(
            "select_n", "which", which, f"a scalar or the shape of the cases, {first.shape}"
        )
    return intern_aval(first.shape, first.dtype, all(c.weak_type for c in cases), None)


@select_n_p.reference
def _(which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    if len(cases) == 1:
        return cases[0]
    if which.dtype is _BOOL:
        return np.where(which, cases[1], cases[0])
    wide = np.uint64 if dtype_predicates.is_unsigned(which.dtype) else np.int64
    index = np.clip(which.astype(wide), 0, len(cases) - 1)
    out = cases[0]
    for i, case in enumerate(cases[1:], 1):
        out = np.where(index == i, case, out)
    return out


@select_n_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple:
    which, *_ = primals
    out = select_n_p.bind(*primals)
    changes = tangents[1:]
    if all(map(is_zero, changes)):
        return out, Zero.like(aval_of(out))
    return out, select_n_p.bind(which, *map(instantiate, changes))


@select_n_p.transpose
def _(ct: Any, which: Any, *cases: Any) -> list:
    zeros = full_of(aval_of(ct), 0)
    cts: list = [None]
    for i, case in enumerate(cases):
        chosen = [ct if k == i else zeros for k in range(len(cases))]
        cts.append(select_n_p.bind(which, *chosen) if is_linear(case) else None)
    return cts


@select_n_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    which, *cases = [aval_of(x) for x in args]
    d_which, *d_cases = in_dims
    d = d_cases[0]
    one_scalar = d_which is None and not which.shape
    if d is not None and all(e == d for e in d_cases):
        if one_scalar or (d_which == d and which.ndim == cases[0].ndim):
            return select_n_p.bind(*args), d
    size = next(a.shape[e] for a, e in zip((which, *cases), in_dims, strict=True) if e is not None)
    inner = cases[0].shape if d is None else (*cases[0].shape[:d], *cases[0].shape[d + 1 :])
    first = [_examples_first(x, e, (size, *inner)) for x, e in zip(args, in_dims, strict=True)]
    return select_n_p.bind(args[0] if one_scalar else first[0], *first[1:]), 0


def _examples_first(x: Any, d: int | None, shape: tuple) -> Any:
    """Broadcast `x`, mapped along `d` or unmapped, to `shape`, examples first."""
    if d is not None:
        x = moveaxis(x, d, 0)
        return broadcast_in_dim(x, shape, range(aval_of(x).ndim))
    ndim = aval_of(x).ndim
    return broadcast_in_dim(x, shape, range(1, 1 + ndim))


@select_n_p.lower
def _(b: Any, which: Any, *cases: Any) -> Any:
    if len(cases) == 1:
        return cases[0]
    dtype = cases[0].dtype
    extra = dtype.physical_shape if dtypes.is_extended(dtype) else ()

    def choose(question: Any, on_true: Any, on_false: Any) -> Any:
        if extra and question.ndim:
            question = b.broadcast_in_dim(
                question, (*question.shape, *extra), tuple(range(question.ndim))
            )
        return b.select(question, on_true, on_false)

    if which.dtype == _BOOL:
        return choose(which, cases[1], cases[0])

    if (
        len(cases) > dtype_predicates.bounds(which.dtype)[1]
    ):  # the dtype of `which` cannot hold the numbers of the cases
        which = b.convert(which, dtypes.int32)

    def among(low: int, high: int) -> Any:
        """Select among cases[low:high], by bisection."""
        if high - low == 1:
            return cases[low]
        middle = (low + high) // 2
        lower_half = b.compare("LT", which, b.full_like(which, middle))
        return choose(lower_half, among(low, middle), among(middle, high))

    return among(0, len(cases))


select_n_p.samples = [
    Sample(boolean(3), f32(3), f32(3)),
    Sample(boolean(), f32(2, 3), f32(2, 3)),
    Sample(boolean(2, 3), c64(2, 3), c64(2, 3)),
    Sample(i32(4, low=-2, high=5), f32(4), f32(4), f32(4)),
    Sample(i32(low=0, high=2), i32(2, 2), i32(2, 2)),
    Sample(u8(3), f32(3), f32(3), f32(3), f32(3), f32(3)),
    Sample(boolean(3), f32(3)),
]


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Select elementwise `on_true` where `pred` is True, `on_false` elsewhere.

    `pred` is boolean, a scalar or of the shape of the two others, which agree in shape and dtype.

    >>> lax.select(np.array([True, False]), np.array([1, 2]), np.array([-1, -2]))
    Array([ 1, -2], dtype=int32)
    """
    on_false, on_true = operands(on_false, on_true)
    try:
        return select_n_p.bind(pred, on_false, on_true)
    except (DtypeError, ShapeError):
        _check_select(aval_of(pred), aval_of(on_true), aval_of(on_false))
        raise


def _check_select(pred: ShapedArray, on_true: ShapedArray, on_false: ShapedArray) -> None:
    """Raise an error for invalid operands of `select`, by their argument names."""
    if pred.dtype != _BOOL and not dtype_predicates.is_integer(pred.dtype):
        raise DtypeError.about(
            "select", "pred", pred, "booleans", fix="compare first, such as pred > 0"
        )
    if on_true.dtype != on_false.dtype:
        have = f"{dtypes.name(on_true.dtype)}, {dtypes.name(on_false.dtype)}"
        raise DtypeError(
            f"lax.select requires arguments to have the same dtypes, got {have} (on_true, on_false)",
            function="select",
            fix="convert one of them with astype; sagax.numpy.where promotes dtypes by itself",
        )
    if not dims.same_shape(on_true.shape, on_false.shape):
        raise ShapeError(
            "on_true and on_false differ in shape",
            function="select",
            got=f"on_true of shape {on_true.shape} and on_false of shape {on_false.shape}",
            expected="equal shapes",
            fix="sagax.numpy.where broadcasts its operands",
        )
    if pred.shape and not dims.same_shape(pred.shape, on_true.shape):
        raise ShapeError(
            function="select",
            argument="pred",
            got=pred,
            expected=f"a scalar or the shape of on_true and on_false, {on_true.shape}",
            fix="sagax.numpy.where broadcasts its operands",
        )


# clamp --------------------------------------------------------------------------------------------

_clampable = Accepts("numbers or booleans", lambda d: not dtypes.is_extended(d))


def _clamp_numpy(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> Any:
    if x.dtype.kind == "c":
        above = np.where(lexicographically_greater(x, low), x, low)
        return np.where(lexicographically_less(above, high), above, high)
    return real_minimum(real_maximum(low, x), high)


def real_maximum(x: np.ndarray, y: np.ndarray) -> Any:
    """Return the greater of two real numbers, where +0 is greater than -0."""
    out = np.maximum(x, y)
    zeros = _zeros_of_both(x, y, out)
    if zeros is None:
        return out
    return np.where(zeros, x + y, out)  # a sum of zeros is -0 only if both are


def real_minimum(x: np.ndarray, y: np.ndarray) -> Any:
    """Return the lesser of two real numbers, where -0 is less than +0."""
    out = np.minimum(x, y)
    zeros = _zeros_of_both(x, y, out)
    if zeros is None:
        return out
    return np.where(zeros, -(-x - y), out)


def _zeros_of_both(x: np.ndarray, y: np.ndarray, out: Any) -> Any:
    """Mark elements where both are zeros, maybe of different sign; None if nowhere. `out` is the extremum."""
    if np.count_nonzero(out) == out.size or dtypes.kind(x.dtype) != "f":
        return None
    zeros = (x == 0) & (y == 0)
    return zeros if np.count_nonzero(zeros) else None


def lexicographically_greater(x: np.ndarray, y: np.ndarray) -> Any:
    """Return x > y for complex arrays: by real parts, then by imaginary parts."""
    return np.where(np.real(x) == np.real(y), np.imag(x) > np.imag(y), np.real(x) > np.real(y))


def lexicographically_less(x: np.ndarray, y: np.ndarray) -> Any:
    """Return x < y for complex arrays: by real parts, then by imaginary parts."""
    return np.where(np.real(x) == np.real(y), np.imag(x) < np.imag(y), np.real(x) < np.real(y))


def _where(condition: Any, t: Any) -> Any:
    aval = aval_of(t)
    shape = aval_of(condition).shape
    if not dims.same_shape(aval.shape, shape):
        t = broadcast_to(t, shape)
    return select_n_p.bind(condition, full_of(aval_of(t), 0), t)


clamp_p = elementwise(
    "clamp",
    3,
    family=EXACT,
    numpy=_clamp_numpy,
    accepts=_clampable,
    exact=True,
    # at a tie between x and a bound the derivative is zero
    jvp=(
        lambda t, out, low, x, high: _where(bitwise_and(gt(low, x), lt(low, high)), t),
        lambda t, out, low, x, high: _where(bitwise_and(gt(x, low), lt(x, high)), t),
        lambda t, out, low, x, high: _where(lt(high, x), t),
    ),
    samples=[
        Sample(f32(3, low=-2, high=-1), f32(3), f32(3, low=1, high=2)),
        Sample(f32(low=-1, high=0), f32(2, 3), f32(low=0, high=1)),
        Sample(i32(low=-2, high=0), i32(4), i32(low=0, high=3)),
        Sample(u8(4), u8(4), u8(4)),
    ],
)


@clamp_p.lower
def _(b: Any, low: Any, x: Any, high: Any) -> Any:
    shape = b.out.shape
    low, x, high = b.stretch(low, shape), b.stretch(x, shape), b.stretch(high, shape)
    if not dtype_predicates.is_complex(x.dtype):
        return b.op("clamp", [low, x, high], b.out)
    above = b.select(compare_lexicographically(b, "GT", x, low), x, low)
    return b.select(compare_lexicographically(b, "LT", above, high), above, high)


def compare_lexicographically(b: Any, direction: str, x: Any, y: Any) -> Any:
    """Compare complex values, in a lower rule, by real parts, then by imaginary parts."""
    aval = x.aval.with_dtype(dtype_predicates.real_part_dtype(x.dtype))
    (rx, ry), (ix, iy) = [[b.op(part, [v], aval) for v in (x, y)] for part in ("real", "imag")]
    return b.select(
        b.compare("EQ", rx, ry), b.compare(direction, ix, iy), b.compare(direction, rx, ry)
    )


def clamp(min: Any, x: Any, max: Any) -> Any:
    """Clamp `x` to the interval from `min` to `max`, elementwise; NaN if any is NaN.

    The bounds are scalars or have the shape of `x`. If `min > max`, the result is `max`.

    >>> lax.clamp(0, np.array([-3, 1, 9]), 5)
    Array([0, 1, 5], dtype=int32)
    """
    low, x, high = operands(min, x, max)
    shape = aval_of(x).shape
    for name, bound in (("min", low), ("max", high)):
        bound_shape = aval_of(bound).shape
        if bound_shape and not (
            len(bound_shape) == len(shape) and all(map(dims.same, bound_shape, shape))
        ):
            raise ShapeError.about(
                "clamp", name, bound_shape, f"a scalar or the shape of x, {shape}"
            )
    return clamp_p.bind(low, x, high)


# saturate -----------------------------------------------------------------------------------------


def _saturated_tangent(t: Any, out: Any, x: Any, low: float, high: float) -> Any:
    dtype = aval_of(x).dtype
    outside = le(x, scalar_like(low, dtype))
    if high != np.inf:
        outside = bitwise_or(outside, ge(x, scalar_like(high, dtype)))
    return select_n_p.bind(outside, t, full_of(aval_of(t), 0))


# It differs from a clamp in the derivative at NaN, which is 1: so the NaN is visible in the backward pass
# too. One operation replaces two selects, whose masks XLA would keep in memory.
saturate_p = elementwise(
    "saturate",
    family=SIMPLE,
    numpy=lambda x, low, high: _clamp_numpy(
        scalar_like(low, x.dtype), x, scalar_like(high, x.dtype)
    ),
    accepts=floating,
    exact=True,
    jvp=_saturated_tangent,
    samples=[Sample(f32(3), low=-0.5, high=0.25), Sample(f16(2, 3), low=0.0, high=1.0)],
)


@saturate_p.lower
def _(b: Any, x: Any, low: float, high: float) -> Any:
    return b.op("clamp", [b.full_like(x, low), x, b.full_like(x, high)], b.out)


def saturate(x: Any, low: float, high: float) -> Any:
    """Clamp floating point `x` to [low, high]; NaN stays.

    The derivative is 0 at the ends and beyond, 1 elsewhere and at NaN. The bounds are numbers of the
    dtype of `x`; an infinite `high` is none.
    """
    return saturate_p.bind(x, low=low, high=high)
