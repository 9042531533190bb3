"""Implement lazy masks: views `x[mask]` for traced masks, with the shape of `x`.

The number of elements that a mask selects is known at run time only. With the option `masks='lazy'` the view has
a symbolic size, and holds all elements of `x` together with the mask. The trace here runs operations of the view
on these. Elementwise operations compute all elements, and reductions fill in their
neutral element where the mask is False. The size of the view as a number is the count of the mask. Operations that
need the selected elements contiguously are refused.

The trace sits on top of the one that records a jaxpr, so that recorded shapes are static.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE, Default
from sagax._src.core.jaxpr import Literal
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import StagedTracer, StageTrace
from sagax._src.core.trace import Trace, Tracer, current, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import (
    InconclusiveDimensionOperation,
    NonConcreteBooleanIndexError,
    SagaxError,
)
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.custom_derivative_primitives import custom_jvp_p, custom_vjp_p
from sagax._src.primitives.arithmetic import max_p, sub
from sagax._src.primitives.bitwise import bitwise_and, bitwise_not
from sagax._src.primitives.cumulative import cumsum
from sagax._src.primitives.gathering import GatherDimensionNumbers, GatherScatterMode, gather
from sagax._src.primitives.reductions import argmax_p, argmin_p, reduce_sum_p
from sagax._src.primitives.scattering import (
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from sagax._src.primitives.selection import clamp, select_n_p
from sagax._src.primitives.shaping import dim_as_value_p, iota, iota_p
from sagax._src.primitives.slicing import dynamic_slice_in_dim, dynamic_slice_p, slice_p
from sagax._src.primitives.sorting import sort_p
from sagax._src.primitives.structural import broadcast_in_dim, convert, full_of, reshape, zeros_of
from sagax._src.transforms.derived import run_composite

_INT32 = np.dtype(np.int32)
_BOOL = np.dtype(bool)

# The view, and its inverse ------------------------------------------------------------------------

# `masked_view(x, mask)`: the elements of `x` that the mask selects from its dimensions at `axis`; there
# are `size` of them. `masked_fill(v, mask)`: zeros with the elements of such a view at their indices.
masked_view_p = Primitive("masked_view", family=WHOLE, multilinear=True)
masked_fill_p = Primitive("masked_fill", family=WHOLE, multilinear=True)


@masked_view_p.abstract
def _(x: ShapedArray, mask: ShapedArray, *, axis: int, size: Any) -> ShapedArray:
    shape = (*x.shape[:axis], size, *x.shape[axis + mask.ndim :])
    return intern_aval(shape, x.dtype, x.weak_type, None)


@masked_fill_p.abstract
def _(v: ShapedArray, mask: ShapedArray, *, axis: int) -> ShapedArray:
    shape = (*v.shape[:axis], *mask.shape, *v.shape[axis + 1 :])
    return intern_aval(shape, v.dtype, v.weak_type, None)


@masked_view_p.reference
def _(x: np.ndarray, mask: np.ndarray, *, axis: int, size: Any) -> np.ndarray:
    return x[(slice(None),) * axis + (mask,)]


@masked_fill_p.reference
def _(v: np.ndarray, mask: np.ndarray, *, axis: int) -> np.ndarray:
    out = np.zeros((*v.shape[:axis], *mask.shape, *v.shape[axis + 1 :]), v.dtype)
    out[(slice(None),) * axis + (mask,)] = v
    return out


def _linear_in_first(p: Primitive) -> None:
    @p.jvp
    def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        return p.bind(*primals, **params), p.bind(tangents[0], primals[1], **params)


_linear_in_first(masked_view_p)
_linear_in_first(masked_fill_p)


@masked_view_p.transpose
def _(ct: Any, x: Any, mask: Any, *, axis: int, size: Any) -> tuple:
    return masked_fill_p.bind(ct, mask, axis=axis), None


@masked_fill_p.transpose
def _(ct: Any, v: Any, mask: Any, *, axis: int) -> tuple:
    return masked_view_p.bind(ct, mask, axis=axis, size=v.aval.shape[axis]), None


# The trace ----------------------------------------------------------------------------------------


class MaskTracer(Tracer):
    """A value with sizes that masks determine: `padded` has the sizes of the masks instead."""

    __slots__ = ("padded",)

    def __init__(self, trace: MaskTrace, aval: Any, padded: Any) -> None:
        self._trace = trace
        self.aval = aval
        self.padded = padded

    def __len__(self) -> int:
        trace: Any = self._trace
        raise trace.refusal(self.aval, "len() needs a number while the function is traced")

    def __repr__(self) -> str:
        return f"MaskedView({self._parts()})"


class _Selection:
    """A flat mask: the size of its views, all its elements, and a count of numberings."""

    __slots__ = ("length", "mask", "size", "source")

    def __init__(self, mask: Any, length: int, size: Any, source: Any) -> None:
        self.mask, self.length, self.size, self.source = mask, length, size, source


class MaskTrace(Trace):
    """Run operations on views; forward all others to the trace that records the jaxpr."""

    __slots__ = ("_by_mask", "_selections", "scope", "values")

    def __init__(self, parent: StageTrace) -> None:
        super().__init__(parent)
        self.debug_info = parent.debug_info
        self.scope = dims.SymbolicScope()
        self._selections: dict[str, _Selection] = {}  # by the name of the size
        self._by_mask: dict[Any, _Selection] = {}  # by the mask
        self.values = _Values(parent)

    # -- views ---------------------------------------------------------------------------------------

    def select(self, mask: Any) -> _Selection:
        """Return the selection of a mask; masks that are computed alike share it."""
        within = None
        key = mask
        if type(mask) is MaskTracer:  # a mask of a view selects among the selected elements
            within = self.selection_of(mask.aval.shape[0])
            key = mask.padded
        number = (self.values.number(key), within and within.size)
        found = self._by_mask.get(number)
        if found is None:
            with current(self.parent):
                flat = reshape(key, (aval_of(key).size,))
                if within is not None:
                    flat = bitwise_and(flat, within.mask)
            name = f"selected{len(self._selections) + 1}"
            (size,) = dims.symbolic_shape(name, scope=self.scope)
            found = _Selection(flat, aval_of(key).size, size, mask)
            self._selections[name] = self._by_mask[number] = found
        return found

    def selection_of(self, size: Any) -> _Selection:
        """Return the selection that has this size."""
        return self._selections[str(size)]

    def is_view_size(self, x: Any) -> bool:
        """Return whether a mask of this trace determines a size."""
        return dims.is_dim(x) and x.scope is self.scope

    def static(self, x: Any) -> Any:
        """Replace sizes of views by those of all elements; also inside of tuples."""
        if dims.is_dim(x):
            if x.scope is not self.scope:
                return x
            return dims.evaluate(x, {n: s.length for n, s in self._selections.items()})
        if type(x) is tuple:
            return tuple([self.static(v) for v in x])
        return x

    def wrap(self, aval: Any, padded: Any) -> Any:
        """Wrap a result of this type."""
        sized = [size for size in aval.shape if self.is_view_size(size)]
        if not sized:
            return padded
        if any(str(size) not in self._selections for size in sized):
            raise self.refusal(
                aval, f"an array of shape {dims.shape_text(aval.shape)} is no view of one"
            )
        return MaskTracer(self, aval, padded)

    def padded(self, x: Any) -> Any:
        return x.padded if type(x) is MaskTracer and x._trace is self else x

    def refusal(self, aval: Any, why: str) -> NonConcreteBooleanIndexError:
        """Return the error for an operation that a view of this type does not support."""
        sized = [size for size in getattr(aval, "shape", ()) if self.is_view_size(size)]
        known = [self._selections[str(s)] for s in sized if str(s) in self._selections]
        chosen = known[0] if known else next(iter(self._selections.values()))
        view = f"a lazy view of shape {dims.shape_text(aval.shape)}" if sized else "a lazy view"
        return NonConcreteBooleanIndexError(chosen.source).attach(
            got=f"{view}: {why}",
            expected="a use of the selected elements that needs no static size",
        )

    # -- operations ----------------------------------------------------------------------------------

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        for a in args:
            if type(a) is MaskTracer and a._trace is self:
                return self.apply(primitive, args, params)
        if primitive is masked_view_p or (self._selections and self._mentions(params)):
            return self.apply(primitive, args, params)
        with current(self.parent):
            return primitive.bind(*args, **params)

    def _mentions(self, value: Any) -> bool:
        """Return whether a size of a view occurs among the parameters."""
        if type(value) is dict:
            return any(self._mentions(v) for v in value.values())
        if type(value) is tuple:
            return any(self._mentions(v) for v in value)
        return self.is_view_size(value)

    def apply(self, primitive: Any, args: tuple, params: dict) -> Any:
        rule = primitive.mask_rule
        if rule is _inlined:
            return _inlined(self, primitive, args, params, None)
        if type(rule) is Default:
            if primitive.composite_rule is not None:
                return run_composite(self, primitive, args, params)
            raise self.refused(primitive, args)
        avals = tuple([aval_of(a) for a in args])
        try:
            out = primitive.abstract_eval(avals, params)
        except SagaxError as error:
            if not self._fits_all(primitive, args, params):
                raise
            raise self.refused(primitive, args) from error
        with current(self.parent):
            return rule(self, primitive, args, params, out)

    def _fits_all(self, primitive: Any, args: Sequence[Any], params: dict) -> bool:
        """Return whether the operation works on all elements, so that only the sizes of views prevent it."""
        avals = tuple([aval_of(self.padded(a)) for a in args])
        try:
            primitive.abstract_eval(avals, {k: self.static(v) for k, v in params.items()})
        except SagaxError:
            return False
        return True

    def refused(self, primitive: Any, args: Sequence[Any]) -> SagaxError:
        views = [a for a in args if type(a) is MaskTracer]
        aval = views[0].aval if views else aval_of(args[0])
        return self.refusal(
            aval,
            f"{primitive.name} needs the selected elements side by side, however many there are",
        )

    def bind(self, primitive: Any, args: Sequence[Any], params: dict, out: Any) -> Any:
        """Apply the operation to all elements."""
        found = primitive.bind(
            *[self.padded(a) for a in args], **{k: self.static(v) for k, v in params.items()}
        )
        if primitive.multiple_results:
            return [self.wrap(a, x) for a, x in zip(out, found, strict=True)]
        return self.wrap(out, found)

    def bind_other_axes(
        self, axes: Sequence[int], primitive: Any, args: tuple, params: dict, out: Any
    ) -> Any:
        """Apply the operation to all elements; it must leave the dimensions of views as they are."""
        for axis in axes:
            if any(self.along(aval_of(a), axis) for a in args if aval_of(a).ndim):
                raise self.refused(primitive, args)
        return self.bind(primitive, args, params, out)

    def along(self, aval: Any, axis: int) -> _Selection | None:
        """Return the selection along an axis of a value."""
        size = aval.shape[axis]
        return self.selection_of(size) if self.is_view_size(size) else None

    def filled(self, x: Any, axes: Sequence[int], value: Any) -> Any:
        """Fill unselected elements of a view along these axes with `value`; return other arrays as they are."""
        if type(x) is not MaskTracer:
            return x
        padded = x.padded
        for axis in axes:
            chosen = self.along(x.aval, axis)
            if chosen is not None:
                aval = aval_of(padded)
                mask = broadcast_in_dim(chosen.mask, aval.shape, (axis,))
                padded = select_n_p.bind(mask, full_of(aval, value), padded)
        return MaskTracer(self, x.aval, padded)


class _Values:
    """Number the values of a jaxpr under construction: equal numbers for equal computations."""

    def __init__(self, trace: StageTrace) -> None:
        self.trace = trace
        self.done = 0
        self.of: dict[Any, Any] = {}
        self.known: dict[Any, int] = {}

    def number(self, x: Any) -> Any:
        while self.done < len(self.trace.equations):
            eqn = self.trace.equations[self.done]
            self.done += 1
            try:
                ins = tuple([self._atom(v) for v in eqn.invars])
                key = (eqn.primitive, ins, *eqn.params.items())
                first = self.known.setdefault(key, self.done)
            except TypeError:
                first = self.done
            if eqn.effects:
                first = self.done
            for k, v in enumerate(eqn.outvars):
                self.of[v] = (first, k)
        return self._atom(self.trace.atom(x))

    def _atom(self, v: Any) -> Any:
        if type(v) is Literal:
            return (v.aval, np.asarray(v.val).tobytes())
        return self.of.get(v, v)


# Rules that need more than a trace offers: the indices of the selected elements, or their number ---------


@masked_view_p.mask
def _view(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    x, mask = args
    axis, aval = params["axis"], aval_of(x)
    rank = aval_of(mask).ndim
    chosen = t.selection_of(params["size"])
    shape = (*aval.shape[:axis], chosen.length, *aval.shape[axis + rank :])
    return t.wrap(out, reshape(t.padded(x), t.static(shape)))


@masked_fill_p.mask
def _fill(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    v, mask = args
    axis = params["axis"]
    inside = t.filled(v, [axis], 0).padded
    return t.wrap(out, reshape(inside, t.static(out.shape)))


@dim_as_value_p.mask
def _size(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    """Convert a polynomial of sizes to a number."""
    dim = params["dim"]
    counts = {
        name: reduce_sum_p.bind(convert(s.mask, out.dtype), axes=(0,))
        for name, s in t._selections.items()
        if name in dims.variables(dim)
    }
    total = _polynomial(dim, counts)
    if total is None:
        raise t.refusal(out, f"the size {dim} is not a polynomial of sizes")
    return convert(total, out.dtype, out.weak_type)


def _polynomial(dim: Any, values: dict[str, Any]) -> Any:
    """Return the value of a size; None unless it consists of sums and products."""
    total: Any = dim.const
    for monomial, c in dim.terms:
        term: Any = c
        for atom, exponent in monomial.factors:
            if atom.kind != "var":
                return None
            for _ in range(exponent):
                term = values[atom.name] * term
        total = term + total
    return total


def _position(extreme: int) -> Callable:
    def rule(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
        (x,) = args
        (axis,) = params["axes"]
        chosen = t.along(x.aval, axis)
        if chosen is None:
            return t.bind(p, args, params, out)
        filler = dtype_predicates.bounds(x.dtype)[extreme]
        at = t.padded(t.bind(p, [t.filled(x, [axis], filler)], params, out))
        # an unselected element wins only if all selected ones equal the filler: count the first
        rank = convert(_taken(_ranks(chosen.mask), at), out.dtype)
        return t.wrap(out, select_n_p.bind(_taken(chosen.mask, at), zeros_of(aval_of(rank)), rank))

    return rule


argmax_p.mask(_position(0))
argmin_p.mask(_position(1))


@jit_p.mask
@custom_jvp_p.mask
@custom_vjp_p.mask
def _inlined(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    """Apply the operations of its jaxpr, each by its own rule."""
    with current(t):
        return p.rule("reference")(*args, **params)


def _ranks(mask: Any) -> Any:
    """Return for each element of a mask the number of selected elements before it."""
    before = sub(cumsum(convert(mask, _INT32), 0), np.int32(1))
    return max_p.bind(before, np.int32(0))


def _selected_indices(mask: Any) -> Any:
    """Return the indices of the selected elements of a mask, in order, followed by the others."""
    return sort_p.bind(
        bitwise_not(mask),
        iota(_INT32, aval_of(mask).shape[0]),
        dimension=0,
        is_stable=True,
        num_keys=1,
    )[1]


def _taken(x: Any, indices: Any, axis: int = 0) -> Any:
    """Take the slices of `x` at an array of in-bounds indices along an axis."""
    shape, where = aval_of(x).shape, aval_of(indices)
    window = tuple([1 if d == axis else size for d, size in enumerate(shape)])
    offset = [d if d < axis else d + where.ndim - 1 for d in range(len(shape)) if d != axis]
    numbers = GatherDimensionNumbers(offset, (axis,), (axis,))
    vectors = reshape(indices, (*where.shape, 1))
    return gather(x, vectors, numbers, window, mode=GatherScatterMode.PROMISE_IN_BOUNDS)


@sort_p.mask
def _sort(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    axis = params["dimension"]
    chosen = t.along(aval_of(args[0]), axis)
    if chosen is None:
        return t.bind(p, args, params, out)
    padded = [t.padded(a) for a in args]
    last = broadcast_in_dim(bitwise_not(chosen.mask), aval_of(padded[0]).shape, (axis,))
    changed = params | {"num_keys": params["num_keys"] + 1}
    _, *ordered = p.bind(last, *padded, **changed)
    ranks = _ranks(
        chosen.mask
    )  # the first in order goes to the index of the first selected element
    return [t.wrap(a, _taken(x, ranks, axis)) for a, x in zip(out, ordered, strict=True)]


@iota_p.mask
def _iota(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    chosen = t.along(out, params["dimension"])
    if chosen is None:
        return t.bind(p, args, params, out)
    ranks = convert(_ranks(chosen.mask), out.dtype)
    return t.wrap(out, broadcast_in_dim(ranks, t.static(out.shape), (params["dimension"],)))


@slice_p.mask
def _slice(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    (x,) = args
    starts, limits = params["start_indices"], params["limit_indices"]
    strides = params["strides"] or (1,) * len(starts)
    single = {}
    for axis, size in enumerate(x.aval.shape):
        if not t.is_view_size(size):
            continue
        if dims.same(starts[axis], 0) and dims.same(limits[axis], size) and strides[axis] == 1:
            continue
        if not dims.same(limits[axis] - starts[axis], 1):
            raise t.refused(p, args)
        single[axis] = starts[axis]
    padded = x.padded
    for axis, start in single.items():
        chosen = t.selection_of(x.aval.shape[axis])
        if dims.is_dim(start):
            start = _size(t, p, (), {"dim": start}, intern_aval((), _INT32, False, None))
        start_index = _taken(
            _selected_indices(chosen.mask),
            np.asarray(start, _INT32) if type(start) is int else start,
        )
        padded = dynamic_slice_in_dim(padded, start_index, 1, axis)
    if single:
        sliced = [d not in single for d in range(len(starts))]
        starts = tuple([s if k else 0 for s, k in zip(starts, sliced, strict=True)])
        limits = tuple([s if k else 1 for s, k in zip(limits, sliced, strict=True)])
    changed = {"start_indices": t.static(starts), "limit_indices": t.static(limits)}
    return t.wrap(out, p.bind(padded, **(params | changed)))


@dynamic_slice_p.mask
def _dynamic_slice(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    x, *starts = args
    sizes = params["slice_sizes"]
    starts = [t.padded(s) for s in starts]
    for axis, size in enumerate(aval_of(x).shape):
        if not t.is_view_size(size) or dims.same(sizes[axis], size):
            continue
        if sizes[axis] != 1:
            raise t.refused(p, args)
        chosen = t.selection_of(size)
        last = sub(reduce_sum_p.bind(convert(chosen.mask, _INT32), axes=(0,)), np.int32(1))
        rank = clamp(np.int32(0), convert(starts[axis], _INT32), max_p.bind(last, np.int32(0)))
        starts[axis] = convert(
            _taken(_selected_indices(chosen.mask), rank), aval_of(starts[axis]).dtype
        )
    return t.bind(p, (x, *starts), params, out)


@scatter_p.mask
@scatter_add_p.mask
@scatter_sub_p.mask
@scatter_mul_p.mask
@scatter_min_p.mask
@scatter_max_p.mask
def _scatter(t: MaskTrace, p: Primitive, args: tuple, params: dict, out: Any) -> Any:
    """Write unselected elements out of bounds, which drops them."""
    x, indices, _ = args
    if type(x) is MaskTracer or type(indices) is not MaskTracer:
        raise t.refused(p, args)
    beyond = dtype_predicates.bounds(indices.dtype)[1]
    outside = t.filled(indices, range(indices.ndim), beyond)
    changed = {
        "mode": GatherScatterMode.FILL_OR_DROP,
        "indices_are_sorted": False,
    }
    return t.bind(p, (x, outside, args[2]), params | changed, out)


# Creation of views ----------------------------------------------------------------------------------


def nearest(trace: Trace | None) -> MaskTrace | None:
    """Return the innermost current trace of masks."""
    while trace is not None and type(trace) is not MaskTrace:
        trace = trace.parent
    return trace


def lazy_view(x: Any, mask: Any, axis: int = 0) -> Any:
    """Return `x[mask]` as a lazy view, the mask selecting from the dimensions of `x` from `axis` on.

    None without a trace of masks, for a mask mapped by vmap, and for one of an outer jaxpr.
    """
    trace = nearest(state.trace)
    value = mask
    while isinstance(value, Tracer) and value.inner is not None:
        value = value.inner
    if trace is None or not dims.is_static(aval_of(trace.padded(value)).shape):
        return None
    is_view = type(value) is MaskTracer and value._trace is trace
    if type(value) is StagedTracer and value._trace.alive and value._trace.encloses(trace.parent):
        value = trace.parent.lift(value)  # maybe of an outer jaxpr
    elif not is_view:
        return None
    if is_view and (value.ndim != 1 or not trace.is_view_size(value.aval.shape[0])):
        return None
    have = aval_of(x).shape[axis : axis + value.ndim]
    if not dims.same_shape(have, value.aval.shape):
        return None
    return masked_view_p.bind(x, value, axis=axis, size=trace.select(value).size)


def lazy_fill(view: Any, mask: Any, axis: int = 0) -> Any:
    """Return zeros of the shape of the array behind a lazy view, with its elements at their indices."""
    return masked_fill_p.bind(view, mask, axis=axis)


def _concerns(error: SagaxError, masks: MaskTrace) -> bool:
    """Return whether an inconclusive comparison involves sizes of views."""
    sides = [error.facts.get("lhs"), error.facts.get("rhs")]
    known = [x for x in sides if dims.is_dim(x)]
    return not known or any(masks.is_view_size(x) for x in known)


@contextlib.contextmanager
def enter_mask_trace(trace: StageTrace) -> Generator[Callable[[Sequence[Any]], None], None, None]:
    """Enter a trace of masks on top of `trace`. Yields the check that no output is a view."""
    masks = MaskTrace(trace)

    def check(outs: Sequence[Any]) -> None:
        for x in outs:
            value = x
            while isinstance(value, Tracer) and value.inner is not None:
                value = value.inner
            if type(value) is MaskTracer and value._trace is masks:
                raise masks.refusal(value.aval, "results of traced functions have static sizes")

    try:
        with current(masks), dims.no_assumptions_on(masks.scope):
            yield check
    except InconclusiveDimensionOperation as error:
        if not (masks._selections and _concerns(error, masks)):
            raise
        (first, *_) = masks._selections.values()
        refusal = masks.refusal(first.mask, "the program asks how many elements are selected")
        refusal._stack = error._stack  # the stack of the comparison
        raise refusal from error
    finally:
        masks.alive = False


__all__ = ["MaskTrace", "lazy_fill", "lazy_view", "enter_mask_trace"]
