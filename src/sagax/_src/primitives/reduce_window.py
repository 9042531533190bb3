"""Define windowed reductions, and the primitives of their derivatives.

The sum over windows is linear. The derivative of an extremum selects from each window the tangent of the
extreme element (`select_and_gather_add`). The transpose adds each cotangent at that element
(`select_and_scatter_add`).

Reductions by user-defined computations are higher-order: see `higher_order/generic_windows.py`.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import REDUCTION, WHOLE, shard_resized
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, boolean, c64, f32, i32, u8
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.arithmetic import add, max, min
from sagax._src.primitives.comparison import eq, ge_p, le_p
from sagax._src.primitives.gathering import GatherScatterMode
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.makers import Accepts, number, real
from sagax._src.primitives.scattering import ScatterDimensionNumbers, scatter_add
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import align_mapped, iota, same_dtypes
from sagax._src.primitives.slicing import pad, pad_p, slice_in_dim
from sagax._src.primitives.structural import broadcast, linear_rules, reshape, zeros_of
from sagax._src.primitives.window_geometry import (
    Window,
    lower_windows,
    numpy_windows,
    window_elements,
    window_of,
)

# Sums and extrema ---------------------------------------------------------------------------------


def _reduction(
    name: str,
    accepts: Accepts,
    reference: Callable[[np.ndarray, tuple], np.ndarray],
    combine: str,
    neutral: Callable[[Any], Any],
    **answers: Any,
) -> Primitive:
    """Define a windowed reduction by an XLA operation, padded with its neutral element."""
    p = Primitive(
        name, exact=lambda avals: not dtypes.is_inexact(avals[0].dtype),
        family=REDUCTION, shard_rule=shard_resized, **answers,
    )  # fmt: skip

    @p.abstract
    def _(x: ShapedArray, **params: Any) -> ShapedArray:
        if not accepts.test(x.dtype):
            raise DtypeError.about(name, "operand", x, accepts.words)
        window = window_of(**params)
        window.check(name, x.shape)
        return intern_aval(window.result(x.shape), x.dtype, x.weak_type, None)

    @p.reference
    def _(x: np.ndarray, **params: Any) -> np.ndarray:
        windows = numpy_windows(x, window_of(**params), neutral(x.dtype))
        if x.ndim == 0:
            return x
        return reference(windows, tuple(range(x.ndim, 2 * x.ndim)))

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        (x,), (d,) = args, in_dims
        return p.bind(x, **window_of(**params).with_dimension(d).params()), d

    @p.lower
    def _(b: Any, x: Any, **params: Any) -> Any:
        window = window_of(**params)
        if b.may_rewrite and _fits_slices(window, x.aval, combine):
            step = {"add": add, "maximum": max, "minimum": min}[combine]
            return _inlined(b, lambda x: _in_slices(x, window, step, neutral), [x])
        scalar = intern_aval((), x.aval.dtype, False, None)
        init = b.constant(neutral(x.aval.dtype), x.aval.dtype)

        def body(b: Any, u: Any, v: Any) -> list:
            return [b.op(combine, [u, v], scalar)]

        return lower_windows(b, [x], [init], window, [scalar, scalar], body, [b.out])[0]

    return p


def _sum(windows: np.ndarray, axes: tuple) -> np.ndarray:
    dtype = windows.dtype
    wide = np.dtype(np.float32) if dtype_predicates.is_narrow_float(dtype) else dtype
    return windows.sum(axes, dtype=wide).astype(dtype)


def _least(dtype: Any) -> Any:
    return dtype_predicates.bounds(dtype)[0]


def _greatest(dtype: Any) -> Any:
    return dtype_predicates.bounds(dtype)[1]


reduce_window_sum_p = _reduction("reduce_window_sum", number, _sum, "add", lambda d: 0)
reduce_window_sum_p.multilinear = True
linear_rules(reduce_window_sum_p)


@reduce_window_sum_p.transpose
def _(ct: Any, x: Any, **params: Any) -> tuple:
    return (reduce_window_sum_p.bind(ct, **window_of(**params).reversed(x.shape).params()),)


reduce_window_max_p = _reduction(
    "reduce_window_max",
    real,
    lambda w, axes: np.max(w, axis=axes),
    "maximum",
    _least,
    creates_nan=False,
)
reduce_window_min_p = _reduction(
    "reduce_window_min",
    real,
    lambda w, axes: np.min(w, axis=axes),
    "minimum",
    _greatest,
    creates_nan=False,
)


def _shard_selection(call: Any) -> list:
    """Shard the tangents, or the cotangents, of a windowed maximum."""
    if call.outs[0].shape == call.avals[1].shape:
        return [call.cuts[1]]
    shapes = [a.shape for a in call.avals]
    call.cuts[0] = call.merged(call.cuts, shapes, shapes[0])
    return call.resized()


def _extremum_jvp(p: Primitive, select: Primitive) -> None:
    @p.jvp
    def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        (x,), (t,) = primals, tangents
        out = p.bind(x, **params)
        if is_zero(t):
            return out, Zero.like(aval_of(out))
        return out, select_and_gather_add_p.bind(t, x, select_prim=select, **params)


_extremum_jvp(reduce_window_max_p, ge_p)
_extremum_jvp(reduce_window_min_p, le_p)


# Selection in windows -----------------------------------------------------------------------------

# the comparison that keeps an element selected against the next one: its StableHLO name, the NumPy
# function, and the value that loses every comparison
_SELECTIONS: dict[Primitive, tuple[str, Callable, Callable]] = {
    ge_p: ("GE", np.greater_equal, _least),
    le_p: ("LE", np.less_equal, _greatest),
}


def _flat(windows: np.ndarray, n: int) -> np.ndarray:
    """Flatten the elements of windows to one dimension, after the `n` dimensions of window indices."""
    return windows.reshape(*windows.shape[:n], math.prod(windows.shape[n:]))


def _numpy_selected(windows: np.ndarray, n: int, stays: Callable, first: Any) -> np.ndarray:
    """Return the index of the selected element of each window, -1 where none is as good as `first`."""
    flat = _flat(windows, n)
    offset = np.full(flat.shape[:-1], -1)
    best = np.full(flat.shape[:-1], first, windows.dtype)
    for k in range(flat.shape[-1]):
        replaced = ~stays(best, flat[..., k])
        best, offset = np.where(replaced, flat[..., k], best), np.where(replaced, k, offset)
    return offset


select_and_gather_add_p = Primitive(
    "select_and_gather_add", family=WHOLE, shard_rule=_shard_selection, multilinear=True
)


@select_and_gather_add_p.abstract
def _(t: ShapedArray, x: ShapedArray, *, select_prim: Primitive, **params: Any) -> ShapedArray:
    # select the extreme element of each window of `x`: return its tangent
    _check_selection("select_and_gather_add", select_prim, x)
    if not dims.same_shape(t.shape, x.shape):
        raise ShapeError.about(
            "select_and_gather_add", "tangents", t, f"the shape {x.shape} of the operand"
        )
    window = window_of(**params)
    window.check("select_and_gather_add", x.shape)
    return intern_aval(window.result(x.shape), t.dtype, t.weak_type, None)


def _check_selection(function: str, select_prim: Primitive, x: ShapedArray) -> None:
    checks.one_of(function, "select_prim", select_prim, _SELECTIONS, "ge_p or le_p")
    if not real.test(x.dtype):
        raise DtypeError.about(function, "operand", x, real.words)


@select_and_gather_add_p.reference
def _(t: np.ndarray, x: np.ndarray, *, select_prim: Primitive, **params: Any) -> np.ndarray:
    window = window_of(**params)
    _, stays, worst = _SELECTIONS[select_prim]
    offset = _numpy_selected(
        numpy_windows(x, window, worst(x.dtype)), x.ndim, stays, worst(x.dtype)
    )
    windows = _flat(numpy_windows(t, window, 0), x.ndim)
    taken = np.take_along_axis(windows, np.maximum(offset, 0)[..., None], -1)[..., 0]
    return np.where(offset >= 0, taken, np.zeros((), t.dtype))


@select_and_gather_add_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    (t, x), (tt, _) = primals, tangents
    out = select_and_gather_add_p.bind(t, x, **params)
    if is_zero(tt):
        return out, Zero.like(aval_of(out))
    return out, select_and_gather_add_p.bind(tt, x, **params)


@select_and_gather_add_p.transpose
def _(ct: Any, t: Any, x: Any, *, select_prim: Primitive, **params: Any) -> tuple:
    window = window_of(**params)
    known = not window.is_dilated and dims.is_static((*window.sizes, *window.strides))
    if known and aval_of(x).dtype == t.dtype:
        return (
            select_and_scatter_add_p.bind(
                ct,
                x,
                select_prim=select_prim,
                window_dimensions=window.sizes,
                window_strides=window.strides,
                padding=window.padding,
            ),
            None,
        )
    # number the elements from 1, find the numbers of the selected ones, and add there; 0 is none
    shape = t.shape
    size = dims.size(shape)
    numbers = reshape(slice_in_dim(iota(np.int32, size + 1), 1, None), shape)
    selected = select_and_gather_add_p.bind(numbers, x, select_prim=select_prim, **params)
    count = dims.size(aval_of(ct).shape)
    flat = scatter_add(
        zeros_of(intern_aval((size + 1,), t.dtype, False, None)),
        reshape(selected, (count, 1)),
        reshape(ct, (count,)),
        ScatterDimensionNumbers((), (0,), (0,)),
        mode=GatherScatterMode.PROMISE_IN_BOUNDS,
    )
    return reshape(slice_in_dim(flat, 1, None), shape), None


@select_and_gather_add_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    select_prim: Primitive,
    **params: Any,
) -> tuple:
    (t, x), d = align_mapped(args, in_dims, axis.size)
    params = window_of(**params).with_dimension(d).params()
    return select_and_gather_add_p.bind(t, x, select_prim=select_prim, **params), d


@select_and_gather_add_p.lower
def _(b: Any, t: Any, x: Any, *, select_prim: Primitive, **params: Any) -> Any:
    window = window_of(**params)
    in_steps = b.module.platform == "cpu" and dims.is_static(window.sizes)
    if in_steps and math.prod(window.sizes) <= tuning.WINDOW_MAX_SLICES:
        return _inlined(b, lambda t, x: _gather_in_steps(t, x, select_prim, window), [t, x])
    direction, _, worst = _SELECTIONS[select_prim]
    x_dtype, t_dtype = x.aval.dtype, t.aval.dtype
    value, tangent = (intern_aval((), d, False, None) for d in (x_dtype, t_dtype))

    def better(b: Any, v: Any, tv: Any, w: Any, tw: Any) -> list:
        stays = b.compare(direction, v, w)
        return [b.select(stays, v, w), b.select(stays, tv, tw)]

    avals = [value, tangent, value, tangent]
    inits = [b.constant(worst(x_dtype), x_dtype), b.constant(0, t_dtype)]
    outs = [intern_aval(b.out.shape, x_dtype, False, None), b.out]
    return lower_windows(b, [x, t], inits, window, avals, better, outs)[1]


select_and_scatter_add_p = Primitive(
    "select_and_scatter_add", family=WHOLE, shard_rule=_shard_selection, multilinear=True
)


@select_and_scatter_add_p.abstract
def _(source: ShapedArray, x: ShapedArray, *, select_prim: Primitive, **params: Any) -> ShapedArray:
    # select the extreme element of each window of `x`: add the source there
    function = "select_and_scatter_add"
    _check_selection(function, select_prim, x)
    same_dtypes(function, [source, x])
    window = window_of(**params)
    window.check(function, x.shape)
    counts = window.result(x.shape)
    if not dims.same_shape(source.shape, counts):
        raise ShapeError(
            function=function,
            argument="source",
            got=source,
            expected=f"shape {counts}, the number of windows of an operand of shape {x.shape}",
        )
    return intern_aval(x.shape, source.dtype, source.weak_type, None)


@select_and_scatter_add_p.reference
def _(source: np.ndarray, x: np.ndarray, *, select_prim: Primitive, **params: Any) -> np.ndarray:
    window = window_of(**params)
    _, stays, worst = _SELECTIONS[select_prim]
    windows = numpy_windows(x, window, worst(x.dtype))
    # a window starts with its first element, whatever it is
    flat = _flat(windows, x.ndim)
    first = flat[..., 0] if flat.size else np.zeros((), x.dtype)
    offset = np.maximum(_numpy_selected(windows, x.ndim, stays, first), 0)
    out = np.zeros(window.padded(x.shape), np.result_type(source.dtype, np.float32))
    numbers = np.indices(offset.shape)
    offsets = np.unravel_index(offset, window.sizes) if x.ndim else ()
    index = tuple([o * s + k for o, s, k in zip(numbers, window.strides, offsets)])
    np.add.at(out, index, source)
    back = tuple([(-lo, -hi, 0) for lo, hi in window.padding])
    cut = pad_p.rule("reference")(out, np.zeros((), out.dtype), padding_config=back)
    return cut.astype(source.dtype)


@select_and_scatter_add_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    (source, x), (t, _) = primals, tangents
    out = select_and_scatter_add_p.bind(source, x, **params)
    if is_zero(t):
        return out, Zero.like(aval_of(out))
    return out, select_and_scatter_add_p.bind(t, x, **params)


@select_and_scatter_add_p.transpose
def _(ct: Any, source: Any, x: Any, *, select_prim: Primitive, **params: Any) -> tuple:
    params = window_of(**params).params()
    return select_and_gather_add_p.bind(ct, x, select_prim=select_prim, **params), None


@select_and_scatter_add_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    select_prim: Primitive,
    **params: Any,
) -> tuple:
    (source, x), d = align_mapped(args, in_dims, axis.size)
    window = window_of(**params).with_dimension(d)
    out = select_and_scatter_add_p.bind(
        source,
        x,
        select_prim=select_prim,
        window_dimensions=window.sizes,
        window_strides=window.strides,
        padding=window.padding,
    )
    return out, d


@select_and_scatter_add_p.lower
def _(b: Any, source: Any, x: Any, *, select_prim: Primitive, **params: Any) -> Any:
    if not x.aval.shape:  # XLA's expansion pass aborts on scalars
        return source
    window = window_of(**params)
    if not dims.is_static((*window.sizes, *window.strides)):
        raise ArgumentValueError(
            "the compiler needs to know sizes and strides of windows",
            function="select_and_scatter_add",
            got=window,
            expected="no symbolic sizes among them; the operand and the padding may have them",
        )
    if b.module.platform == "cpu" and math.prod(window.sizes) <= tuning.WINDOW_MAX_SLICES:
        return _inlined(b, lambda s, x: _scatter_in_steps(s, x, select_prim, window), [source, x])
    direction, _, worst = _SELECTIONS[select_prim]
    dtype = x.aval.dtype
    scalar = intern_aval((), dtype, False, None)
    zero = b.constant(0, dtype)
    low, high = zip(*window.padding) if window.padding else ((), ())
    if window.is_padded:
        x = b.padded(x, b.constant(worst(dtype), dtype), low, high)
    out = b.op(
        "select_and_scatter",
        [x, source, zero],
        x.aval,
        regions=[
            b.region([scalar, scalar], lambda u, v: [b.compare(direction, u, v)]),
            b.region([scalar, scalar], lambda u, v: [b.op("add", [u, v], scalar)]),
        ],
        window_dimensions=b.ints(window.sizes),
        window_strides=b.ints(window.strides),
        padding=b.dense_ints(np.zeros((len(window.sizes), 2), int)),
    )
    if window.is_padded:
        out = b.padded(out, zero, [-p for p in low], [-p for p in high])
    return out


# In steps, one for each element of a window -------------------------------------------------------

# On the CPU XLA makes slow loops of both operations. For small windows, a selection from arrays that are
# slices of the operand is several times faster.


def _fits_slices(window: Window, x: ShapedArray, combine: str) -> bool:
    """Return whether a reduction is faster from slices: where windows have several dimensions."""
    fields = (window.sizes, window.strides, window.base_dilation, window.window_dilation, x.shape)
    if not dims.is_static([*[e for entries in fields for e in entries], *sum(window.padding, ())]):
        return False
    if 0 in x.shape or 0 in window.result(x.shape):
        return False
    if combine == "add" and dtype_predicates.is_narrow_float(x.dtype):  # XLA adds in float32
        return False
    wide = [(k, base) for k, base in zip(window.sizes, window.base_dilation) if k > 1]
    if len(wide) < 2 or builtins.max(wide)[0] > tuning.WINDOW_MAX_SLICES:
        return False
    return any(k > base for k, base in wide)  # else each window has one element


def _in_slices(x: Any, window: Window, step: Callable, neutral: Callable) -> Any:
    """Combine slices, one for each element of a window; of large windows one dimension after the other."""
    fill = np.asarray(neutral(aval_of(x).dtype), aval_of(x).dtype)[()]
    if window.is_padded or window.is_dilated:
        x, window = pad(x, fill, window.padding_config), window.without_padding()
    # written once: padding, as a condition for each slice, would keep the loop from SIMD vectors, and XLA would
    # compute what precedes for each slice
    x = optimization_barrier(x)
    if math.prod(window.sizes) <= tuning.WINDOW_MAX_SLICES_AT_ONCE:
        return functools.reduce(step, window_elements(x, window, fill))
    for d, size in enumerate(window.sizes):
        if size > 1 or window.strides[d] > 1:
            x = optimization_barrier(
                functools.reduce(step, window_elements(x, _along(window, d), fill))
            )
    return x


def _along(window: Window, d: int) -> Window:
    """Return the window that slides along one dimension only."""
    ones = (1,) * len(window.sizes)

    def only(entries: tuple) -> tuple:
        return (*ones[:d], entries[d], *ones[d + 1 :])

    none = ((0, 0),) * len(ones)
    return Window(
        only(window.sizes), only(window.strides), none, ones, only(window.window_dilation)
    )


def _gather_in_steps(t: Any, x: Any, select_prim: Primitive, window: Window) -> Any:
    worst = _SELECTIONS[select_prim][2](aval_of(x).dtype)
    zero = np.zeros((), aval_of(t).dtype)[()]
    counts = window.result(aval_of(x).shape)
    best, chosen = broadcast(worst, counts), broadcast(zero, counts)
    for value, tangent in zip(
        window_elements(x, window, worst), window_elements(t, window, zero), strict=True
    ):
        stays = select_prim.bind(best, value)
        best, chosen = select_n(stays, value, best), select_n(stays, tangent, chosen)
    return chosen


def _scatter_in_steps(source: Any, x: Any, select_prim: Primitive, window: Window) -> Any:
    shape = aval_of(x).shape
    zero = np.zeros((), aval_of(source).dtype)[()]
    best, *others = window_elements(x, window, _SELECTIONS[select_prim][2](aval_of(x).dtype))
    counts = aval_of(best).shape
    numbers = [broadcast(np.int32(k), counts) for k in range(len(others) + 1)]
    chosen = numbers[0]
    for k, value in zip(numbers[1:], others, strict=True):
        stays = select_prim.bind(best, value)
        best, chosen = select_n(stays, value, best), select_n(stays, k, chosen)
    # without the barrier each element of the result would repeat the selections
    chosen, source = optimization_barrier((chosen, source))
    nothing, total = broadcast(zero, counts), None
    for k, offset in zip(numbers, np.ndindex(*window.sizes), strict=True):
        part = select_n(eq(chosen, k), nothing, source)
        part = pad(part, zero, window.scatter_padding(offset, shape))
        total = part if total is None else add(total, part)
    return pad(total, zero, window.without_pad)


def _inlined(b: Any, fun: Callable, operands: Sequence[Any]) -> Any:
    """Inline the operations of a function of arrays in the jaxpr under construction."""
    jaxpr, consts = stage(lambda *xs: [fun(*xs)], [v.aval for v in operands])
    return b.inline(jaxpr, operands, [b.constant(c) for c in consts])[0]


# Samples ------------------------------------------------------------------------------------------


def _window(
    sizes: tuple,
    strides: tuple | None = None,
    padding: tuple | None = None,
    base: tuple | None = None,
    dilation: tuple | None = None,
) -> dict:
    ones = (1,) * len(sizes)
    return Window(
        sizes, strides or ones, padding or ((0, 0),) * len(sizes), base or ones, dilation or ones
    ).params()


_FORMS = [
    ((3, 4), _window((2, 2))),
    ((4, 5), _window((2, 3), (2, 1), ((1, 0), (1, 2)))),
    ((5,), _window((2,), (1,), ((1, -1),), (2,), (3,))),
    ((6,), _window((2,), (3,), ((-1, -2),), None, (2,))),
    ((4,), _window((3,), (2,), ((2, -1),), (3,), (2,))),
    ((3,), _window((4,))),
]
# some windows hold only padding, so that extrema are infinite
_EMPTY = [
    ((5,), _window((2,), (1,), ((2, 1),), (2,), (3,))),
    ((4,), _window((3,), (2,), ((5, -1),), (3,), (2,))),
    ((0, 2), _window((1, 2), None, ((1, 1), (0, 0)))),
]
reduce_window_sum_p.samples = [
    *[Sample(f32(*shape), **params) for shape, params in _FORMS + _EMPTY],
    Sample(i32(4, 3), **_window((2, 2))),
    Sample(u8(4), **_window((2,))),
    Sample(c64(4, 2), **_window((3, 1), (2, 1), ((1, 1), (0, 0)))),
    Sample(bf16(6), derivatives=False, **_window((3,))),
    Sample(f32(), **_window(())),
]
for _p in (reduce_window_max_p, reduce_window_min_p):
    _p.samples = [
        *[Sample(f32(*shape, unique=True), **params) for shape, params in _FORMS],
        *[Sample(f32(*shape), derivatives=False, **params) for shape, params in _EMPTY],
        Sample(i32(4, 3), **_window((2, 2), None, ((1, 0), (0, 1)))),
        Sample(boolean(5), **_window((2,))),
        Sample(bf16(6, unique=True), derivatives=False, **_window((3,))),
    ]
select_and_gather_add_p.samples = [
    *[
        Sample(f32(*shape), f32(*shape, unique=True), select_prim=ge_p, **params)
        for shape, params in _FORMS + _EMPTY
    ],
    Sample(f32(5), f32(5, unique=True), select_prim=le_p, **_window((3,), (2,), ((1, 0),))),
    Sample(i32(5), f32(5, unique=True), select_prim=le_p, **_window((3,))),
    Sample(f32(), f32(), select_prim=ge_p, **_window(())),
    Sample(f32(7, 6), f32(7, 6, unique=True), select_prim=ge_p, **_window((5, 4), (2, 1))),
    Sample(f32(20), f32(20, unique=True), select_prim=le_p, **_window((17,), None, ((3, 2),))),
]


def _undilated(params: dict) -> dict:
    return {k: v for k, v in params.items() if not k.endswith("dilation")}


select_and_scatter_add_p.samples = [
    Sample(
        f32(*window_of(**params).result(shape)),
        f32(*shape, unique=True),
        select_prim=select,
        **_undilated(params),
    )
    for shape, params, select in [
        ((3, 4), _window((2, 2)), ge_p),
        ((4, 5), _window((2, 3), (2, 1), ((1, 0), (1, 2))), le_p),
        ((6,), _window((2,), (3,), ((-1, -2),)), ge_p),
        ((5,), _window((2,), (3,)), ge_p),
        ((3,), _window((4,)), ge_p),
        ((), _window(()), ge_p),
        ((7, 6), _window((5, 4), (2, 1)), ge_p),
        ((20,), _window((17,), None, ((3, -2),)), le_p),
    ]
]
