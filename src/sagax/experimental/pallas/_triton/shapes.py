"""Lower primitives that move elements, reduce, or multiply matrices to Triton IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax._src.primitives.cumulative as cumulative
import sagax._src.primitives.reductions as reductions
import sagax._src.primitives.shaping as shaping
import sagax._src.primitives.slicing as slicing
import sagax._src.primitives.structural as structural
from sagax._src.core.avals import ShapedArray
from sagax._src.primitives.dot_general import dot_general_p
from sagax.experimental.pallas._triton.ir import (
    BOOL,
    F32,
    I32,
    Builder,
    Value,
    cannot,
    is_float,
    is_signed,
)
from sagax.experimental.pallas._triton.memory import transposed

# Shapes ------------------------------------------------------------------------------------------------


def reshape(b: Builder, x: Value, shape: tuple) -> Value:
    """Give a value another shape; dimensions of size 1 may come and go."""
    if x.shape == shape:
        return x
    if x.splat is not None:
        return b.constant(x.splat, x.dtype, shape)
    if not x.shape:
        return b.op("tt.splat", [x], [(shape, x.dtype)])
    if not shape:
        return b.op("tt.unsplat", [reshape(b, x, (1,))], [((), x.dtype)])
    added = _added_axes(x.shape, shape)
    if added is not None:
        for axis in added:
            x = b.expand(x, axis)
        return x
    return b.op("tt.reshape", [x], [(shape, x.dtype)])


def _added_axes(have: tuple, want: tuple) -> list[int] | None:
    """Return where dimensions of size 1 are inserted, if nothing else changes."""
    added, at = [], 0
    for axis, n in enumerate(want):
        if at < len(have) and have[at] == n and not (n == 1 and len(want) - axis > len(have) - at):
            at += 1
        elif n == 1:
            added.append(axis)
        else:
            return None
    return added if at == len(have) else None


def _reshape(b: Builder, x: Value, *, out: Any, **_: Any) -> Value:
    return reshape(b, x, out.shape)


def _broadcast(b: Builder, x: Value, *, out: Any, **params: Any) -> Value:
    axes = params["broadcast_dimensions"]
    return b.broadcast_in_dim(x, tuple(axes), out.shape) if x.shape else b.broadcast(x, out.shape)


def _transpose(b: Builder, x: Value, *, permutation: Sequence[int], **_: Any) -> Value:
    if tuple(permutation) == tuple(range(len(permutation))):
        return x
    return transposed(b, x, permutation)


def _iota(b: Builder, *, dtype: Any, dimension: int, out: Any, **_: Any) -> Value:
    return b.iota(out.shape, dimension, np.dtype(dtype))


# Slices: elements are gathered along one axis after the other --------------------------------------------


def gathered(b: Builder, x: Value, axis: int, index: Callable[[Value], Value], size: int) -> Value:
    """Return `size` elements of `x` along an axis: at the positions that `index` computes from 0, 1, ..."""
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    if x.dtype == BOOL:
        return b.convert(gathered(b, b.convert(x, I32), axis, index, size), BOOL)
    at = index(b.iota(shape, axis))
    return b.op("tt.gather", [x, at], [(shape, x.dtype)], f"axis = {axis} : i32")


def element_at(b: Builder, x: Value, axis: int, index: Value) -> Value:
    """Return `x` at one position along an axis, without that axis: the sum of it and of zeros."""
    chosen = b.compare("EQ", b.iota(x.shape, axis), index)
    if x.dtype == BOOL:
        return b.convert(element_at(b, b.convert(x, I32), axis, index), BOOL)
    only = b.select(chosen, x, b.constant(0, x.dtype))
    return reduced(b, [only], axis, lambda p, q: [b.add(p[0], q[0])])[0]


def _sliced(
    b: Builder, x: Value, starts: Sequence[Any], sizes: Sequence[int], steps: Sequence[int]
) -> Value:
    for axis, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
        n = x.shape[axis]
        if size == n and step == 1:
            continue
        if isinstance(start, Value):
            zero, last = b.constant(0), b.constant(n - size)
            start = b.extreme(b.extreme(b.convert(start, I32), zero, "max"), last, "min")
        else:
            start = b.constant(start)
        if size == 1:
            x = b.expand(element_at(b, x, axis, start), axis)
            continue

        def along(i: Value, start: Value = start, step: int = step) -> Value:
            return b.add(b.mul(i, b.constant(step)), start)

        x = gathered(b, x, axis, along, size)
    return x


def _slice(b: Builder, x: Value, *, out: Any, **params: Any) -> Value:
    starts, strides = params["start_indices"], params["strides"]
    return _sliced(b, x, starts, out.shape, strides or (1,) * len(starts))


def _dynamic_slice(b: Builder, x: Value, *starts: Value, out: Any, **_: Any) -> Value:
    return _sliced(b, x, starts, out.shape, (1,) * len(starts))


def _dynamic_update_slice(b: Builder, x: Value, update: Value, *starts: Value, **_: Any) -> Value:
    """Place `update` in `x`: gathered to the shape of `x`, and selected where it lies."""
    inside: Value | None = None
    for axis, start in enumerate(starts):
        n, size = x.shape[axis], update.shape[axis]
        if n == size:
            continue
        zero, last = b.constant(0), b.constant(n - size)
        start = b.extreme(b.extreme(b.convert(start, I32), zero, "max"), last, "min")
        own = b.sub(b.iota(x.shape, axis), b.broadcast(start, x.shape))
        here = b.bits("and", b.compare("GE", own, zero), b.compare("LT", own, b.constant(size)))
        inside = here if inside is None else b.bits("and", inside, here)
        if size == 1:
            update = b.broadcast(update, (*update.shape[:axis], n, *update.shape[axis + 1 :]))
            continue

        update = gathered(b, update, axis, _positions_from(b, start, size), n)
    return update if inside is None else b.select(inside, update, x)


def _positions_from(b: Builder, start: Value, size: int) -> Callable[[Value], Value]:
    """Return a function from positions to those counted from `start`, moved inside of `size` elements."""

    def positions(i: Value) -> Value:
        at = b.sub(i, b.broadcast(start, i.shape))
        return b.extreme(b.extreme(at, b.constant(0), "max"), b.constant(size - 1), "min")

    return positions


def _rev(b: Builder, x: Value, *, dimensions: Sequence[int], **_: Any) -> Value:
    for axis in dimensions:
        last = x.shape[axis] - 1

        def mirrored(i: Value, last: int = last) -> Value:
            return b.sub(b.constant(last, I32, i.shape), i)

        x = gathered(b, x, axis, mirrored, last + 1) if last else x
    return x


def _concatenate(b: Builder, *xs: Value, dimension: int, **_: Any) -> Value:
    """Join halves, and halves of halves: of equal sizes, since tensors have powers of two."""
    if len(xs) == 1:
        return xs[0]
    if len({x.shape for x in xs}) > 1 or len(xs) & (len(xs) - 1):
        raise cannot(
            "parts of different sizes are concatenated: in Triton they must be equal, and two, four, eight, ...",
            got=", ".join([str(x.shape) for x in xs]),
            fix="write the parts to the reference one by one: o_ref[:n] = a, o_ref[n:] = b",
            **b.facts(),
        )
    half = len(xs) // 2
    left = _concatenate(b, *xs[:half], dimension=dimension)
    right = _concatenate(b, *xs[half:], dimension=dimension)
    rank = len(left.shape)
    joined = b.op("tt.join", [left, right], [((*left.shape, 2), left.dtype)])
    order = [*range(dimension), rank, *range(dimension, rank)]
    shape = list(left.shape)
    shape[dimension] *= 2
    return reshape(b, transposed(b, joined, order), tuple(shape))


def _stack(b: Builder, *xs: Value, axis: int, **_: Any) -> Value:
    return _concatenate(b, *[b.expand(x, axis) for x in xs], dimension=axis)


def _split(b: Builder, x: Value, *, sizes: Sequence[int], axis: int) -> list[Value]:
    found, start = [], 0
    for n in sizes:
        starts = [start if k == axis else 0 for k in range(len(x.shape))]
        shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
        found.append(_sliced(b, x, starts, shape, (1,) * len(shape)))
        start += n
    return found


def _unstack(b: Builder, x: Value, *, axis: int) -> list[Value]:
    return [element_at(b, x, axis, b.constant(i)) for i in range(x.shape[axis])]


# Reductions ----------------------------------------------------------------------------------------------


def reduced(b: Builder, xs: Sequence[Value], axis: int, combine: Callable) -> list[Value]:
    """Reduce tensors of one shape along an axis; `combine` takes and returns one value of each."""
    shape = (*xs[0].shape[:axis], *xs[0].shape[axis + 1 :])
    return _folded(
        b, "tt.reduce", xs, [(shape, x.dtype) for x in xs], f"axis = {axis} : i32", combine
    )


def _folded(
    b: Builder, name: str, xs: Sequence[Value], results: list, attributes: str, combine: Callable
) -> list[Value]:
    scalars = [((), x.dtype) for x in xs]

    def body(*values: Value) -> Sequence[Value]:
        n = len(xs)
        return combine(values[:n], values[n:])

    region = b.region([*scalars, *scalars], body, f"{name}.return")
    found = b.op(name, xs, results, attributes, [region])
    return found if isinstance(found, list) else [found]


def _computed(x: Value) -> Any:
    """Return the dtype in which elements are combined."""
    if x.dtype == BOOL:
        return I32
    return F32 if is_float(x.dtype) and x.dtype.itemsize < 4 else x.dtype


def _reduction(combine: Callable) -> Callable:
    def rule(b: Builder, x: Value, *, axes: Sequence[int], out: Any, **_: Any) -> Value:
        dtype = _computed(x)
        wide = b.convert(x, dtype)
        for axis in sorted(axes, reverse=True):
            if wide.shape[axis] == 1:
                wide = reshape(b, wide, (*wide.shape[:axis], *wide.shape[axis + 1 :]))
            else:
                (wide,) = reduced(b, [wide], axis, lambda p, q: [combine(b, p[0], q[0])])
        return b.convert(wide, out.dtype)

    return rule


def _maximum(b: Builder, x: Value, y: Value) -> Value:
    return b.extreme(x, y, "max")


def _minimum(b: Builder, x: Value, y: Value) -> Value:
    return b.extreme(x, y, "min")


def _bits(name: str) -> Callable:
    return lambda b, x, y: b.bits(name, x, y)


def _position(direction: str) -> Callable:
    """Return the rule of argmax or argmin: of equal elements the first wins, and NaN before all others."""

    def rule(b: Builder, x: Value, *, axes: Sequence[int], index_dtype: Any, **_: Any) -> Value:
        (axis,) = axes
        values = b.convert(x, _computed(x))
        indices = b.iota(x.shape, axis)

        def beats(p: Value, q: Value) -> Value:
            found = b.compare(direction, p, q)
            if not is_float(p.dtype):
                return found
            nan = b.bits("and", b.compare("NE", p, p), b.compare("EQ", q, q))
            return b.bits("or", b.bits("and", found, b.compare("EQ", q, q)), nan)

        def combine(p: Sequence[Value], q: Sequence[Value]) -> list[Value]:
            first = b.extreme(p[1], q[1], "min")
            left, right = beats(p[0], q[0]), beats(q[0], p[0])
            index = b.select(left, p[1], b.select(right, q[1], first))
            return [b.select(left, p[0], b.select(right, q[0], p[0])), index]

        if x.shape[axis] == 1:
            return b.constant(0, index_dtype, (*x.shape[:axis], *x.shape[axis + 1 :]))
        return b.convert(reduced(b, [values, indices], axis, combine)[1], np.dtype(index_dtype))

    return rule


def _cumulative(combine: Callable) -> Callable:
    def rule(b: Builder, x: Value, *, axis: int, reverse: bool, out: Any, **_: Any) -> Value:
        wide = b.convert(x, _computed(x))
        attributes = f"axis = {axis} : i32, reverse = {'true' if reverse else 'false'}"
        result = [(wide.shape, wide.dtype)]
        (found,) = _folded(
            b, "tt.scan", [wide], result, attributes, lambda p, q: [combine(b, p[0], q[0])]
        )
        return b.convert(found, out.dtype)

    return rule


# Products of matrices --------------------------------------------------------------------------------------

_LEAST = 16  # rows and columns of a matrix that tensor cores multiply


def dot(
    b: Builder, x: Value, y: Value, total: Any, trans_a: bool, trans_b: bool, precision: Any
) -> Value:
    """Multiply two matrices, or their transposes."""
    numbers = ((0 if trans_a else 1,), (1 if trans_b else 0,)), ((), ())
    out = ShapedArray((x.shape[trans_a], y.shape[not trans_b]), total)
    return _dot_general(
        b,
        x,
        y,
        out=out,
        dimension_numbers=numbers,
        precision=precision,
        preferred_element_type=total,
    )


def _dot_general(b: Builder, x: Value, y: Value, *, out: Any, **params: Any) -> Value:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    preferred = params["preferred_element_type"]
    if x.dtype != y.dtype:
        x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
    total = np.dtype(preferred or out.dtype)
    total = F32 if is_float(total) and total.itemsize < 4 else total
    plain = not left_batch and len(left) == 1 and len(x.shape) == len(y.shape) == 2
    if plain:
        x = x if left[0] == 1 else transposed(b, x, (1, 0))
        y = y if right[0] == 0 else transposed(b, y, (1, 0))
        if min(*x.shape, *y.shape) >= _LEAST and _has_tensor_cores(x.dtype, total):
            return b.convert(_dot(b, x, y, total, params["precision"]), out.dtype)
        left, right = (1,), (0,)
    return b.convert(
        _sum_of_products(b, x, y, left, right, left_batch, right_batch, total), out.dtype
    )


def _has_tensor_cores(dtype: Any, total: Any) -> bool:
    if is_float(dtype):
        return is_float(total)
    return dtype.itemsize == 1 and dtype != BOOL and is_signed(dtype) and total == I32


def _dot(b: Builder, x: Value, y: Value, total: Any, precision: Any) -> Value:
    shape = x.shape[0], y.shape[1]
    zero = b.constant(0, total, shape)
    attributes = f"inputPrecision = {_precision(precision)} : i32, maxNumImpreciseAcc = 0 : i32"
    return b.op("tt.dot", [x, y, zero], [(shape, total)], attributes)


def _precision(precision: Any) -> int:
    """Return Triton's number of a precision: of products of 32-bit floats."""
    text = str(precision).upper()
    if "HIGHEST" in text or ("F32_F32_F32" in text and "TF32" not in text):
        return 2  # ieee
    return 1 if "HIGH" in text or "X3" in text else 0  # tf32x3, tf32


def _sum_of_products(
    b: Builder,
    x: Value,
    y: Value,
    left: Sequence[int],
    right: Sequence[int],
    left_batch: Sequence[int],
    right_batch: Sequence[int],
    total: Any,
) -> Value:
    """Multiply elements, and add up: for matrices that are too small, for vectors, and for batches."""
    mine = [k for k in range(len(x.shape)) if k not in (*left, *left_batch)]
    theirs = [k for k in range(len(y.shape)) if k not in (*right, *right_batch)]
    n, m, k = len(left_batch), len(mine), len(theirs)
    x = _transpose(b, b.convert(x, total), permutation=[*left_batch, *mine, *left])
    y = _transpose(b, b.convert(y, total), permutation=[*right_batch, *theirs, *right])
    shape = (*x.shape[: n + m], *y.shape[n : n + k], *x.shape[n + m :])
    rank = len(shape)
    summed = range(n + m + k, rank)
    x = b.broadcast_in_dim(x, (*range(n + m), *summed), shape) if x.shape else b.broadcast(x, shape)
    y = (
        b.broadcast_in_dim(y, (*range(n), *range(n + m, n + m + k), *summed), shape)
        if y.shape
        else b.broadcast(y, shape)
    )
    found = b.mul(x, y)
    for axis in reversed(summed):
        if found.shape[axis] == 1:
            found = reshape(b, found, (*found.shape[:axis], *found.shape[axis + 1 :]))
        else:
            (found,) = reduced(b, [found], axis, lambda p, q: [b.add(p[0], q[0])])
    return found


# Rules take the aval of the result as `out`.
RULES: dict[Any, Callable] = {
    structural.reshape_p: _reshape,
    structural.squeeze_p: _reshape,
    structural.broadcast_in_dim_p: _broadcast,
    structural.transpose_p: _transpose,
    shaping.iota_p: _iota,
    shaping.rev_p: _rev,
    shaping.concatenate_p: _concatenate,
    shaping.stack_p: _stack,
    slicing.slice_p: _slice,
    slicing.dynamic_slice_p: _dynamic_slice,
    slicing.dynamic_update_slice_p: _dynamic_update_slice,
    structural.reduce_sum_p: _reduction(Builder.add),
    reductions.reduce_max_p: _reduction(_maximum),
    reductions.reduce_min_p: _reduction(_minimum),
    reductions.reduce_prod_p: _reduction(Builder.mul),
    reductions.reduce_and_p: _reduction(_bits("and")),
    reductions.reduce_or_p: _reduction(_bits("or")),
    reductions.reduce_xor_p: _reduction(_bits("xor")),
    reductions.argmax_p: _position("GT"),
    reductions.argmin_p: _position("LT"),
    cumulative.cumsum_p: _cumulative(Builder.add),
    cumulative.cumprod_p: _cumulative(Builder.mul),
    cumulative.cummax_p: _cumulative(_maximum),
    cumulative.cummin_p: _cumulative(_minimum),
    dot_general_p: _dot_general,
}

# Rules with several results.
SEVERAL: dict[Any, Callable] = {shaping.split_p: _split, shaping.unstack_p: _unstack}
