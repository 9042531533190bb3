"""Implement reduce_window and select_and_scatter with user-defined computations.

Both primitives have jaxprs on scalars as parameters. They compile to XLA's operations; every other rule comes from
a composite that maps those jaxprs over arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import COMBINING, Fusion, operand_size
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import stage
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import (
    ArgumentError,
    DtypeError,
    NotAnArrayError,
    ShapeError,
    TreeError,
)
from sagax._src.primitives import reduce_window as w
from sagax._src.primitives import reductions, window_geometry
from sagax._src.primitives.arithmetic import add_p, max_p, min_p
from sagax._src.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from sagax._src.primitives.makers import operands
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import align_mapped, concatenate, full
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax._src.primitives.structural import broadcast, reshape, transpose
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.transforms.batch import BatchAxis, batch_flat, move_batch_dim
from sagax._src.weak_tables import WeakKeyTable

# Jaxprs on scalars, mapped over arrays ------------------------------------------------------------


def _mapped(fun: Callable[..., Sequence[Any]], arrays: Sequence[Any]) -> list:
    """Return the function of scalars `fun`, mapped over arrays of one shape."""
    shape = aval_of(arrays[0]).shape
    axis = BatchAxis(dims.size(shape))
    flat = [reshape(x, (axis.size,)) for x in arrays]
    outs, out_dims = batch_flat(fun, axis, flat, [0] * len(flat))
    return [reshape(move_batch_dim(x, d, 0, axis), shape) for x, d in zip(outs, out_dims)]


def _as_function(jaxpr: ClosedJaxpr) -> Callable[..., Sequence[Any]]:
    return functools.partial(eval_jaxpr, jaxpr.jaxpr, jaxpr.consts)


# reduce: its derivative is that of a tree of combinations ---------------------------------------------


@reductions.reduce_p.composite
def _(*args: Any, jaxpr: ClosedJaxpr, dimensions: tuple, computation: Any) -> list:
    n = len(args) // 2
    xs, inits = list(args[:n]), list(args[n:])
    ndim = aval_of(xs[0]).ndim
    remaining = [i for i in range(ndim) if i not in dimensions]
    shape = tuple([aval_of(xs[0]).shape[i] for i in remaining])
    count = dims.size(tuple([aval_of(xs[0]).shape[i] for i in dimensions]))
    if dims.is_dim(count):
        raise UnsupportedError(
            "the derivative of a reduction with a computation of your own needs sizes that are known",
            function="reduce",
            fix="use reduce_sum, reduce_max and their like",
        )
    combine = _as_function(jaxpr)
    xs = [reshape(transpose(x, (*dimensions, *remaining)), (count, *shape)) for x in xs]
    while count > 1:
        half = count // 2
        pairs = [slice_in_dim(x, k, 2 * half, 2) for k in (0, 1) for x in xs]
        joined = _mapped(combine, pairs)
        if count % 2:
            joined = [
                concatenate([y, slice_in_dim(x, count - 1, count)], 0)
                for x, y in zip(xs, joined, strict=True)
            ]
        xs, count = joined, half + count % 2
    starts = [broadcast(init, shape) for init in inits]
    if not count:
        return starts
    return _mapped(combine, [*starts, *[reshape(x, shape) for x in xs]])


# reduce_window ------------------------------------------------------------------------------------

reduce_window_p = Primitive(
    "reduce_window",
    family=COMBINING,
    fusion=Fusion.REDUCES,
    cost=operand_size,
    multiple_results=True,
    is_higher_order=True,
)


@reduce_window_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list:
    n = len(avals) // 2
    xs, inits = list(avals[:n]), list(avals[n:])
    for i, (x, init) in enumerate(zip(xs, inits, strict=True)):
        which = f"[{i}]" if len(xs) > 1 else ""
        if init.shape:
            raise ShapeError.about("reduce_window", "init_value" + which, init, "a scalar")
        if init.dtype != x.dtype:
            raise DtypeError(
                function="reduce_window",
                argument="init_value" + which,
                got=init,
                expected=f"dtype {dtypes.name(x.dtype)}, as the operand",
            )
        if not dims.same_shape(x.shape, xs[0].shape):
            raise ShapeError.about(
                "reduce_window", f"operand[{i}]", x, f"shape {xs[0].shape}, as the first operand"
            )
    window = window_geometry.window_of(**params)
    window.check("reduce_window", xs[0].shape)
    shape = window.result(xs[0].shape)
    return [intern_aval(shape, x.dtype, x.weak_type, None) for x in xs]


def _reduced(
    fun: Callable[..., Sequence[Any]], args: Sequence[Any], window: window_geometry.Window
) -> list:
    """Reduce windows of arrays by `fun`, in primitives that have all rules.

    From the first element to the last, as XLA does, although the order of `fun` should not matter.
    """
    n = len(args) // 2
    xs, inits = list(args[:n]), list(args[n:])
    shape = window.result(aval_of(xs[0]).shape)
    total = [broadcast(init, shape) for init in inits]
    each = [window_geometry.window_elements(x, window, init) for x, init in zip(xs, inits)]
    for elements in zip(*each, strict=True):
        total = _mapped(fun, [*total, *elements])
    return total


@reduce_window_p.composite
def _(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list:
    return _reduced(_as_function(jaxpr), args, window_geometry.window_of(**params))


@reduce_window_p.reference
def _(*args: np.ndarray, jaxpr: ClosedJaxpr, **params: Any) -> list:
    xs, inits = args[: len(args) // 2], args[len(args) // 2 :]
    window = window_geometry.window_of(**params)
    shape = window.result(xs[0].shape)
    views = [
        window_geometry.numpy_windows(x, window, init).reshape(*shape, -1)
        for x, init in zip(xs, inits, strict=True)
    ]
    outs = [np.empty(shape, x.dtype) for x in xs]
    for index in np.ndindex(*shape):
        values: Sequence[Any] = inits
        for k in range(views[0].shape[-1]):
            values = eval_jaxpr(
                jaxpr.jaxpr, jaxpr.consts, *values, *[v[(*index, k)] for v in views]
            )
        for out, value in zip(outs, values, strict=True):
            out[index] = np.asarray(value)
    return outs


@reduce_window_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any
) -> tuple:
    n = len(args) // 2
    window = window_geometry.window_of(**params)
    if any(d is not None for d in in_dims[n:]):  # each example has its own initial values
        fun = _as_function(jaxpr)
        return batch_flat(lambda *xs: _reduced(fun, xs, window), axis, args, in_dims)
    xs, d = align_mapped(args[:n], in_dims[:n], axis.size)
    outs = reduce_window_p.bind(*xs, *args[n:], jaxpr=jaxpr, **window.with_dimension(d).params())
    return outs, [d] * n


@reduce_window_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list:
    n = len(args) // 2
    scalars = [intern_aval((), x.aval.dtype, False, None) for x in args[n:]]
    window = window_geometry.window_of(**params)
    body = functools.partial(_inlined, jaxpr)
    return window_geometry.lower_windows(
        b, args[:n], args[n:], window, [*scalars, *scalars], body, b.outs
    )


def _inlined(jaxpr: ClosedJaxpr, b: Any, *values: Any) -> list:
    return b.inline(jaxpr.jaxpr, values, [b.constant(c) for c in jaxpr.consts])


def _region(b: Any, jaxpr: ClosedJaxpr, avals: Sequence[Any]) -> str:
    return b.region(avals, functools.partial(_inlined, jaxpr, b))


_KNOWN: dict[Primitive, tuple[Primitive, Callable[[Any], Any]]] = {
    add_p: (w.reduce_window_sum_p, lambda dtype: 0),
    max_p: (w.reduce_window_max_p, lambda dtype: dtype_predicates.bounds(dtype)[0]),
    min_p: (w.reduce_window_min_p, lambda dtype: dtype_predicates.bounds(dtype)[1]),
}


def _known(closed: ClosedJaxpr, x: ShapedArray, init: Any) -> Primitive | None:
    """Return the specialized primitive of a sum or an extremum, if `init` is its neutral element."""
    jaxpr = closed.jaxpr
    if len(jaxpr.invars) != 2 or len(jaxpr.eqns) != 1 or isinstance(init, Tracer):
        return None
    (eqn,) = jaxpr.eqns
    if eqn.primitive not in _KNOWN or jaxpr.outvars != list(eqn.outvars):
        return None
    if list(eqn.invars) not in (jaxpr.invars, jaxpr.invars[::-1]):
        return None
    p, neutral = _KNOWN[eqn.primitive]
    if p is not w.reduce_window_sum_p and dtype_predicates.is_complex(x.dtype):
        return None
    init = np.asarray(init)
    return p if init.shape == () and init == np.asarray(neutral(x.dtype)) else None


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Combine all elements of each window of `operand` by `computation`.

    Args:
      operand: an array, or a pytree of arrays of one shape that are reduced together.
      init_value: a scalar for each array, of its dtype: the initial value of a reduction, and the value of
          padding; a neutral element of `computation`.
      computation: an associative function of two scalars (two pytrees of scalars).
      window_dimensions: the size of the windows in each dimension.
      window_strides: the distance from one window to the next; 1 by default.
      padding: 'VALID', 'SAME', 'SAME_LOWER', or a pair (low, high) for each dimension.
      base_dilation: the distance between elements of the dilated operand; 1 by default.
      window_dilation: the distance between the elements of a window; 1 by default.

    Dimension i has `(padded - reach) // stride + 1` windows, where `padded` is its size after dilation and
    padding, and `reach` that of a dilated window. Sums, maxima and minima with their neutral elements become
    specialized primitives. All have derivatives.

    Raises ShapeError if sizes, strides or dilations do not fit the operand, TreeError if the trees of operand,
    initial values and results differ.

    >>> lax.reduce_window(np.array([1, 3, 2, 4]), 1, lax.mul, (2,))
    Array([3, 6, 8], dtype=int32)
    """
    xs, tree = trees.flatten(operand)
    inits, init_tree = trees.flatten(init_value)
    if not xs:
        raise ArgumentError.about("reduce_window", "operand", operand, "at least one array")
    if tree != init_tree:
        raise TreeError(
            "operand and init_value have different structures",
            function="reduce_window",
            got=f"{tree} and {init_tree}",
            expected="a scalar for each array, in the same structure",
        )
    for x in (*xs, *inits):
        if not is_operand(x):
            raise NotAnArrayError(x)
    inits = [_initial(x, init) for x, init in zip(xs, inits)]
    avals = [aval_of(x) for x in xs]
    params = window_geometry.window_params(
        "reduce_window",
        avals[0].shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    scalars = [intern_aval((), a.dtype, False, None) for a in avals]
    closed = _staged("reduce_window", "computation", computation, tree, scalars, scalars)
    known = _known(closed, avals[0], inits[0])
    if known is not None:
        return trees.unflatten(tree, [known.bind(xs[0], **params)])
    reduce_window_p.abstract_eval(
        (*avals, *[aval_of(i) for i in inits]), {"jaxpr": closed, **params}
    )
    if closed.consts:  # captured arrays, which are no operands
        outs = _reduced(_as_function(closed), [*xs, *inits], window_geometry.window_of(**params))
    else:
        outs = reduce_window_p.bind(*xs, *inits, jaxpr=closed, **params)
    return trees.unflatten(tree, outs)


def _initial(x: Any, init: Any) -> Any:
    """Return the initial value for the operand `x`: infinities are the bounds of integers."""
    dtype = aval_of(x).dtype
    if isinstance(init, float) and np.isinf(init) and dtypes.kind(dtype) in "iu":
        return dtype.type(dtype_predicates.bounds(dtype)[init > 0])
    return operands(x, init)[1]


# A function that combines scalars is staged once, so that caches of executables hit.
_staged_jaxprs: WeakKeyTable[Any, dict] = WeakKeyTable()


def _staged(
    function: str, argument: str, fun: Callable, tree: Any, scalars: list, results: list
) -> ClosedJaxpr:
    """Return the jaxpr of `fun`, which takes two pytrees of scalars."""
    key = (function, argument, tree, *scalars, config.current())
    try:
        known = _staged_jaxprs.setdefault(fun, {})
    except TypeError:  # unhashable, or without weak references
        known = {}
    found = known.get(key)
    if found is None:
        jaxpr, consts = stage(_on_leaves(function, argument, fun, tree), [*scalars, *scalars])
        _check_results(function, argument, jaxpr.out_avals, results)
        found = ClosedJaxpr(jaxpr, consts)
        if not consts:  # captured values may be tracers, or change
            known[key] = found
    return found


def _on_leaves(function: str, argument: str, fun: Callable, tree: Any) -> Callable:
    """Convert a function of two pytrees to one of flat scalars."""
    n = tree.num_leaves

    def combine(*values: Any) -> list:
        out = fun(trees.unflatten(tree, values[:n]), trees.unflatten(tree, values[n:]))
        leaves, out_tree = trees.flatten(out)
        if out_tree != tree:
            raise TreeError(
                f"the result of {argument} has another structure than operand",
                function=function,
                got=str(out_tree),
                expected=str(tree),
            )
        return leaves

    return combine


def _check_results(
    function: str, argument: str, have: Sequence[Any], expected: Sequence[Any]
) -> None:
    for i, (h, target) in enumerate(zip(have, expected, strict=True)):
        if h.shape != target.shape or h.dtype != target.dtype:
            raise DtypeError(
                f"{argument} does not return what it is given",
                function=function,
                argument=f"{argument} (result {i})",
                got=h,
                expected=f"a scalar of dtype {dtypes.name(target.dtype)}",
            )


# select_and_scatter -------------------------------------------------------------------------------

select_and_scatter_p = Primitive("select_and_scatter", family=COMBINING, is_higher_order=True)


def select_and_scatter(
    operand: Any,
    select: Callable,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    source: Any,
    init_value: Any,
    scatter: Callable,
) -> Any:
    """Select an element of each window of `operand`, and add one of `source` at its index.

    An element stays selected as long as `select(it, next one)` is true; padding is never selected. The result has
    the shape of `operand` and is `init_value` combined by `scatter` with the elements of `source`, in no particular
    order. `source` has an element for each window.
    """
    params = window_geometry.window_params(
        "select_and_scatter", aval_of(operand).shape, window_dimensions, window_strides, padding
    )
    _, source = operands(operand, source)
    _, init_value = operands(source, init_value)
    scalar = intern_aval((), aval_of(operand).dtype, False, None)
    added = intern_aval((), aval_of(source).dtype, False, None)
    function, leaf = "select_and_scatter", trees.structure(0)
    flag = intern_aval((), dtypes.bool_, False, None)
    jaxprs = {
        "select_jaxpr": _staged(function, "select", select, leaf, [scalar], [flag]),
        "scatter_jaxpr": _staged(function, "scatter", scatter, leaf, [added], [added]),
    }
    args = (operand, source, init_value)
    params = {k: params[k] for k in window_geometry.REDUCTION_NAMES[:3]}
    select_and_scatter_p.abstract_eval(tuple(map(aval_of, args)), {**jaxprs, **params})
    if any(closed.consts for closed in jaxprs.values()):
        funs = [_as_function(closed) for closed in jaxprs.values()]
        return _scattered(funs[0], funs[1], args, window_geometry.window_of(**params))
    return select_and_scatter_p.bind(*args, **jaxprs, **params)


@select_and_scatter_p.abstract
def _(
    x: ShapedArray,
    source: ShapedArray,
    init: ShapedArray,
    *,
    select_jaxpr: ClosedJaxpr,
    scatter_jaxpr: ClosedJaxpr,
    **params: Any,
) -> ShapedArray:
    function = "select_and_scatter"
    window = window_geometry.window_of(**params)
    window.check(function, x.shape)
    counts = window.result(x.shape)
    if not dims.same_shape(source.shape, counts):
        raise ShapeError(
            function=function,
            argument="source",
            got=source,
            expected=f"shape {counts}, the number of windows of an operand of shape {x.shape}",
        )
    if init.shape or init.dtype != source.dtype:
        raise DtypeError(
            function=function,
            argument="init_value",
            got=init,
            expected=f"a scalar of dtype {dtypes.name(source.dtype)}, as source",
        )
    if source.dtype != x.dtype:
        raise DtypeError.about(
            function, "source", source, f"dtype {dtypes.name(x.dtype)}, as operand"
        )
    return intern_aval(x.shape, source.dtype, False, None)


def _scattered(
    select: Callable, scatter: Callable, args: Sequence[Any], window: window_geometry.Window
) -> Any:
    """Scatter in one step for each offset in a window: the targets of a step are distinct."""
    x, source, init = args
    shape = aval_of(x).shape
    nothing = np.zeros((), aval_of(source).dtype)[()]
    values = window_geometry.window_elements(x, window, np.zeros((), aval_of(x).dtype)[()])
    inside = window_geometry.window_elements(full(shape, True), window, np.bool_(False))
    best, found, selected = values[0], inside[0], [inside[0]]
    for value, there in zip(values[1:], inside[1:], strict=True):
        (stays,) = _mapped(select, [best, value])
        wins = bitwise_and(there, bitwise_not(bitwise_and(found, stays)))
        selected = [bitwise_and(s, bitwise_not(wins)) for s in selected] + [wins]
        best, found = select_n(wins, best, value), bitwise_or(found, there)
    total = broadcast(init, shape)
    for which, element in zip(selected, np.ndindex(*window.sizes), strict=True):
        config = window.scatter_padding(element, shape)
        there = pad(pad(which, np.bool_(False), config), np.bool_(False), window.without_pad)
        added = pad(pad(source, nothing, config), nothing, window.without_pad)
        (changed,) = _mapped(scatter, [total, added])
        total = select_n(there, total, changed)
    return total


@select_and_scatter_p.composite
def _(*args: Any, select_jaxpr: ClosedJaxpr, scatter_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    window = window_geometry.window_of(**params)
    return _scattered(_as_function(select_jaxpr), _as_function(scatter_jaxpr), args, window)


@select_and_scatter_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    *arrays, init = args
    if in_dims[2] is not None:
        composite = select_and_scatter_p.rule("composite")
        (out,), (d,) = batch_flat(lambda *xs: [composite(*xs, **params)], axis, args, in_dims)
        return out, d
    arrays, d = align_mapped(arrays, in_dims[:2], axis.size)
    names = window_geometry.REDUCTION_NAMES[:3]
    window = window_geometry.window_of(**{k: params[k] for k in names}).with_dimension(d).params()
    params = {**params, **{k: window[k] for k in names}}
    return select_and_scatter_p.bind(*arrays, init, **params), d


@select_and_scatter_p.lower
def _(
    b: Any,
    x: Any,
    source: Any,
    init: Any,
    *,
    select_jaxpr: ClosedJaxpr,
    scatter_jaxpr: ClosedJaxpr,
    **params: Any,
) -> Any:
    if not x.aval.shape:  # XLA's expansion pass aborts on scalars
        return b.inline(scatter_jaxpr.jaxpr, [init, source])[0]
    window = window_geometry.window_of(**params)
    operand_aval, source_aval = (intern_aval((), v.aval.dtype, False, None) for v in (x, source))
    return b.op(
        "select_and_scatter",
        [x, source, init],
        b.out,
        regions=[
            _region(b, select_jaxpr, [operand_aval, operand_aval]),
            _region(b, scatter_jaxpr, [source_aval, source_aval]),
        ],
        window_dimensions=b.ints(window.sizes),
        window_strides=b.ints(window.strides),
        padding=b.dense_ints(np.reshape(window.padding, (-1, 2))),
    )
