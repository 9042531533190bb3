"""Define cumulative sums, products, extrema and log-sum-exps.

Each is a composite: an associative scan of logarithmic depth, so that it runs in parallel and its rules
follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE, CotangentMask, mask_filled, operand_size
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32, i32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import DtypeError
from sagax._src.primitives import arithmetic as ar
from sagax._src.primitives import comparison, selection
from sagax._src.primitives import structural as s
from sagax._src.primitives import transcendental as tr
from sagax._src.primitives.identities import optimization_barrier_p
from sagax._src.primitives.makers import Accepts, inexact, number
from sagax._src.primitives.reductions import worst
from sagax._src.primitives.shaping import broadcasted_iota, concatenate, rev, size_as_value
from sagax._src.primitives.slicing import dynamic_slice_in_dim, slice_in_dim

Combine = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]


def prefix_scan(combine: Combine, xs: Sequence[Any], axis: int) -> list:
    """Compute all prefixes of `xs` along `axis` under an associative operation on tuples of arrays.

    Adjacent pairs are combined, the sequence of half the length is scanned, and the other prefixes take one more
    combination each: about 2n operations in 2 log n steps (Blelloch, 1990).
    """
    n = aval_of(xs[0]).shape[axis]
    if dims.is_dim(n):
        return _scan_by_doubling(combine, xs, axis)
    if n < 2:
        return list(xs)
    left = [slice_in_dim(x, 0, n - n % 2, 2, axis) for x in xs]
    right = [slice_in_dim(x, 1, n, 2, axis) for x in xs]
    odd = prefix_scan(combine, combine(left, right), axis)
    first = [slice_in_dim(x, 0, 1, 1, axis) for x in xs]
    if n == 2:
        return [concatenate([a, b], axis) for a, b in zip(first, odd, strict=True)]
    before = [slice_in_dim(o, 0, (n - 1) // 2, 1, axis) for o in odd]
    rest = combine(before, [slice_in_dim(x, 2, n, 2, axis) for x in xs])
    even = [concatenate([a, b], axis) for a, b in zip(first, rest, strict=True)]
    return [_interleave(a, b, n, axis) for a, b in zip(even, odd, strict=True)]


def _scan_by_doubling(combine: Combine, xs: Sequence[Any], axis: int) -> list:
    """Compute `prefix_scan` for symbolic sizes: each step combines elements at twice the distance.

    After step k every element holds the combination of its last 2**k elements (Hillis and Steele, 1986).
    """
    most = dims.bounds(aval_of(xs[0]).shape[axis])[1]
    step, out = 1, list(xs)
    while step < (2**31 if most is None else most):
        # barriers keep the compiler from recomputing a step for each of its uses; one for each array, as some
        # may be tangents
        doubled = _doubled(combine, np.int32(step), out, axis)
        out = [optimization_barrier_p.bind(x)[0] for x in doubled]
        step *= 2
    return out


def _doubled(combine: Combine, step: Any, xs: Sequence[Any], axis: int) -> list:
    """Run one step; `step` is the number of elements that each element combines so far."""
    n = aval_of(xs[0]).shape[axis]
    size = s.convert(size_as_value(n), np.dtype(np.int32))
    start = selection.clamp(np.int32(0), ar.sub(size, step), size)
    earlier = [dynamic_slice_in_dim(concatenate([x, x], axis), start, n, axis) for x in xs]
    joined = combine(earlier, xs)
    out = []
    for x, j in zip(xs, joined, strict=True):
        index = broadcasted_iota(np.dtype(np.int32), aval_of(x).shape, axis)
        out.append(selection.select_n(comparison.ge(index, step), x, j))
    return out


def _interleave(even: Any, odd: Any, n: int, axis: int) -> Any:
    """Interleave: even[0], odd[0], even[1], odd[1], ...: `n` elements."""
    half = n // 2
    shape = aval_of(odd).shape
    pair = (*shape[:axis], half, 1, *shape[axis + 1 :])
    both = concatenate(
        [s.reshape(slice_in_dim(even, 0, half, 1, axis), pair), s.reshape(odd, pair)], axis + 1
    )
    mixed = s.reshape(both, (*shape[:axis], 2 * half, *shape[axis + 1 :]))
    if n % 2:
        mixed = concatenate([mixed, slice_in_dim(even, half, half + 1, 1, axis)], axis)
    return mixed


def _directed(combine: Combine, xs: Sequence[Any], axis: int, reverse: bool) -> list:
    if reverse:
        return [rev(y, (axis,)) for y in prefix_scan(combine, [rev(x, (axis,)) for x in xs], axis)]
    return prefix_scan(combine, xs, axis)


def _cumulative(
    name: str,
    accepts: Accepts,
    combine: Callable[[Any, Any], Any],
    numpy: Callable,
    jvp_combine: Combine | None,
    samples: Sequence[Any],
    neutral: Callable[[Any], Any],
    **answers: Any,
) -> Primitive:
    p = Primitive(
        name, samples=samples, exact=lambda avals: not dtypes.is_inexact(avals[0].dtype),
        family=WHOLE, cost=operand_size, mask_rule=mask_filled("axis", neutral), **answers,
    )  # fmt: skip

    @p.shard
    def _(call: Any) -> list:
        return call.along("axis", what="accumulated")

    @p.abstract
    def _(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        if not accepts.test(x.dtype):
            raise DtypeError.about(name, "operand", x, accepts.words)
        return x

    @p.reference
    def _(x: np.ndarray, *, axis: int, reverse: bool) -> np.ndarray:
        wide = x.astype(np.float32) if dtype_predicates.is_narrow_float(x.dtype) else x
        if reverse:
            return np.flip(numpy(np.flip(wide, axis), axis), axis).astype(x.dtype)
        return numpy(wide, axis).astype(x.dtype)

    @p.composite
    def _(x: Any, *, axis: int, reverse: bool) -> Any:
        return _directed(lambda a, b: [combine(a[0], b[0])], [x], axis, reverse)[0]

    @p.batch
    def _(
        axis_: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axis: int, reverse: bool
    ) -> tuple:
        d = in_dims[0]
        return p.bind(args[0], axis=axis + (axis >= d), reverse=reverse), d

    @p.lower
    def _(b: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        n = x.shape[axis]
        if not dims.is_dim(n):
            return NotImplemented  # the composite
        number = intern_aval((), np.dtype(np.int32), False, None)

        def step(k: Any, x: Any) -> list:
            return _doubled(lambda a, b: [combine(a[0], b[0])], k, [x], axis)

        jaxpr, _ = stage(step, [number, x.aval])
        if reverse:
            x = b.op("reverse", [x], x.aval, dimensions=b.ints((axis,)))
        two = b.constant(2, number.dtype)
        _, out = b.while_loop(
            [b.constant(1, number.dtype), x],
            lambda k, _: b.compare("LT", k, b.dim(n)),
            # a product: jaxlib 0.10 ends the process at a loop that adds its counter to itself
            lambda k, x: [b.op("multiply", [k, two], number), *b.inline(jaxpr, [k, x])],
        )
        return b.op("reverse", [out], x.aval, dimensions=b.ints((axis,))) if reverse else out

    if jvp_combine is not None:

        @p.jvp
        def _(
            primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, reverse: bool
        ) -> tuple:
            (x,), (t,) = primals, tangents
            if is_zero(t):
                out = p.bind(x, axis=axis, reverse=reverse)
                return out, Zero.like(aval_of(out))
            out, tangent = _directed(jvp_combine, [x, t], axis, reverse)
            return out, tangent

    return p


_samples = [Sample(f32(5, 2), axis=0, reverse=False), Sample(f32(2, 4), axis=1, reverse=True), Sample(i32(6), axis=0, reverse=False),
            Sample(f32(1), axis=0, reverse=False), Sample(f32(7, unique=True), axis=0, reverse=False)]  # fmt: skip


def _in_float64(numpy: Callable) -> Callable:
    def wide(x: np.ndarray, *, axis: int, reverse: bool) -> np.ndarray:
        return numpy(np.flip(x, axis) if reverse else x, axis=axis)

    return wide


cumsum_p = _cumulative(
    "cumsum", number, lambda a, b: ar.add(a, b), lambda x, axis: np.cumsum(x, axis=axis, dtype=x.dtype), None,
    [*_samples, Sample(c64(3), axis=0, reverse=False)], lambda dtype: 0,
    cotangent_mask=CotangentMask.MOVED, wide_rule=_in_float64(np.cumsum),
)  # fmt: skip
s.linear_rules(cumsum_p)


@cumsum_p.transpose
def _(ct: Any, x: Any, *, axis: int, reverse: bool) -> tuple:
    return (cumsum_p.bind(ct, axis=axis, reverse=not reverse),)


def _product_rule(a: Sequence[Any], b: Sequence[Any]) -> list:
    return [ar.mul(a[0], b[0]), ar.add(ar.mul(a[1], b[0]), ar.mul(b[1], a[0]))]


cumprod_p = _cumulative(
    "cumprod",
    number,
    lambda a, b: ar.mul(a, b),
    lambda x, axis: np.cumprod(x, axis=axis, dtype=x.dtype),
    _product_rule,
    _samples,
    lambda dtype: 1,
    wide_rule=_in_float64(np.cumprod),
)


def _extremum_rule(choose: Callable) -> Combine:
    """Return the tangent of the selected operand; half of each at a tie."""

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list:
        out = choose(a[0], b[0])
        dtype = aval_of(out).dtype
        first, second = (
            s.convert(comparison.eq(out, a[0]), dtype),
            s.convert(comparison.eq(out, b[0]), dtype),
        )
        total = ar.add(first, second)
        return [
            out,
            ar.add(ar.mul(a[1], ar.div(first, total)), ar.mul(b[1], ar.div(second, total))),
        ]

    return combine


_extremum_samples = [*_samples, Sample(c64(5), axis=0, reverse=True)]
cummax_p = _cumulative(
    "cummax", number, lambda a, b: ar.max(a, b), lambda x, axis: np.maximum.accumulate(x, axis), _extremum_rule(lambda a, b: ar.max(a, b)),
    _extremum_samples, lambda dtype: worst(dtype, largest=True),
)  # fmt: skip
cummin_p = _cumulative(
    "cummin", number, lambda a, b: ar.min(a, b), lambda x, axis: np.minimum.accumulate(x, axis), _extremum_rule(lambda a, b: ar.min(a, b)),
    _extremum_samples, lambda dtype: worst(dtype, largest=False),
)  # fmt: skip


def _logaddexp(a: Any, b: Any) -> Any:
    high = ar.max(a, b)
    finite = selection.select_n(
        comparison.eq(high, _infinity(high)), high, s.full_of(aval_of(high), 0)
    )
    return ar.add(finite, tr.log(ar.add(tr.exp(ar.sub(a, finite)), tr.exp(ar.sub(b, finite)))))


def _infinity(like: Any) -> Any:
    return np.asarray(-np.inf, aval_of(like).dtype)[()]


def _logaddexp_rule(a: Sequence[Any], b: Sequence[Any]) -> list:
    out = _logaddexp(a[0], b[0])
    finite = selection.select_n(comparison.eq(out, _infinity(out)), out, s.full_of(aval_of(out), 0))
    weights = [tr.exp(ar.sub(v[0], finite)) for v in (a, b)]
    return [out, ar.add(ar.mul(a[1], weights[0]), ar.mul(b[1], weights[1]))]


def _cumlogsumexp_reference(x: np.ndarray, axis: int) -> np.ndarray:
    if not dtype_predicates.is_complex(x.dtype):
        return np.logaddexp.accumulate(x, axis)
    high = np.real(x).max(axis, keepdims=True) if x.size else 0
    return high + np.log(np.cumsum(np.exp(x - high), axis))


cumlogsumexp_p = _cumulative(
    "cumlogsumexp", inexact, _logaddexp,
    _cumlogsumexp_reference, _logaddexp_rule, [*(x for x in _samples if x.operands[0].dtype == np.float32), Sample(c64(5), axis=0, reverse=False)],
    lambda dtype: -np.inf,
)  # fmt: skip


def _public(p: Primitive, what: str, example: str) -> Callable:
    def function(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        axis = canonical_axis(axis, aval_of(operand).ndim, p.name)
        return p.bind(operand, axis=axis, reverse=bool(reverse))

    function.__name__ = function.__qualname__ = p.name
    function.__doc__ = f"""Compute {what} along `axis`, from the end with `reverse`; same shape and dtype.

    {example}
    """
    return function


cumsum = _public(
    cumsum_p,
    "running sums",
    ">>> lax.cumsum(np.array([1, 2, 3]))\n    Array([1, 3, 6], dtype=int32)",
)
cumprod = _public(
    cumprod_p,
    "running products",
    ">>> lax.cumprod(np.array([1, 2, 3]))\n    Array([1, 2, 6], dtype=int32)",
)
cummax = _public(
    cummax_p,
    "running maxima",
    ">>> lax.cummax(np.array([1, 3, 2]))\n    Array([1, 3, 3], dtype=int32)",
)
cummin = _public(
    cummin_p,
    "running minima",
    ">>> lax.cummin(np.array([3, 1, 2]))\n    Array([3, 1, 1], dtype=int32)",
)
cumlogsumexp = _public(
    cumlogsumexp_p, "running logarithms of sums of exponentials",
    ">>> lax.cumlogsumexp(np.array([0.0]))\n    Array([0.], dtype=float32)",
)  # fmt: skip
