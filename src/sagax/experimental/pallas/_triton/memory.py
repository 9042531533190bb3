"""Read and write blocks of operands through pointers: indices, slices, masks, atomics."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims as symbolic
from sagax._src.frozen_class import record
from sagax._src.primitives.references import OPERAND, Bitcast, Index, Reshape, Transpose, Window
from sagax.experimental.pallas._blocks import Blocked, BlockMapping, BoundedSlice, Element, Squeezed
from sagax.experimental.pallas._memory import filler
from sagax.experimental.pallas._triton.ir import (
    BOOL,
    I8,
    I32,
    I64,
    Builder,
    Value,
    cannot,
    check_shape,
    element,
    is_float,
    is_signed,
)


@record(eq=False)
class Axis:
    """A dimension of a view: its size, and how many elements apart its neighbors lie in memory.

    `first` is the position of element 0 in the array, neighbors are `step` apart. Positions below 0 (with
    `lower`), from `limit` on and from `end` on are out of bounds.
    """

    size: int
    stride: int
    first: Any = 0
    step: int = 1
    limit: int | None = None
    lower: bool = False
    end: Any = None

    @property
    def is_checked(self) -> bool:
        """True if elements may be out of bounds."""
        return self.limit is not None or self.lower or self.end is not None


@record(eq=False)
class View:
    """Elements that a reference of a kernel stands for: a pointer to the first, and dimensions.

    `offset` (of the whole shape) is added where arrays select elements; `mask` marks elements that are there.
    `origin` names the operand, `reference` is the shape of the reference that the kernel sees, and `memory` the
    name of the pointer to the operand.
    """

    pointer: Value
    axes: tuple
    origin: str
    reference: tuple
    memory: str
    offset: Value | None = None
    mask: Value | None = None

    @property
    def shape(self) -> tuple:
        """The shape of the selected elements."""
        return tuple([a.size for a in self.axes])

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.pointer.dtype


# Blocks of operands ----------------------------------------------------------------------------------


def block_view(b: Builder, pointer: Value, mapping: BlockMapping, index: Sequence[Any]) -> View:
    """Return the block of an operand that a program sees; `index` holds what the index map returns."""
    shape = mapping.array_aval.shape
    if not symbolic.is_static(shape) or not symbolic.is_static(mapping.sizes):
        raise cannot(
            f"{mapping.origin} has a symbolic size, and Triton needs to know it", argument=mapping.origin,
            got=shape, fix="export for fixed sizes, or pass interpret=True",
        )  # fmt: skip
    lengths = iter(index[len(mapping.dims) :])
    axes, offset = [], (b.constant(0), 0)
    stride = int(np.prod(shape, dtype=np.int64))
    wide = stride >= 1 << 31
    for i, d, size in zip(index, mapping.dims, shape, strict=False):
        stride //= max(size, 1)
        if type(d) is Blocked:
            first = scaled(b, i, d.block_size)
        else:
            first = shifted(b, i, -d.padding[0]) if type(d) is Element else i
        offset = _moved(b, offset, first, stride, wide)
        if type(d) is Squeezed:
            continue
        n = d.block_size
        partial = size % n != 0 if type(d) is Blocked else True
        padded = type(d) is Element and d.padding != (0, 0)
        axes.append(
            Axis(
                n,
                stride,
                first,
                limit=size if (partial and type(d) is not Element) or padded else None,
                lower=padded,
                end=next(lengths) if type(d) is BoundedSlice else None,
            )
        )
    origin = f"the block of {mapping.origin}"
    return View(
        _pointer(b, pointer, offset, wide), tuple(axes), origin, mapping.ref_shape, pointer.name
    )


def array_view(b: Builder, pointer: Value, shape: tuple, origin: str) -> View:
    """Return the whole of an operand."""
    axes, stride = [], int(np.prod(shape, dtype=np.int64))
    for size in shape:
        stride //= max(size, 1)
        axes.append(Axis(size, stride))
    return View(pointer, tuple(axes), origin, shape, pointer.name)


def scaled(b: Builder, index: Any, factor: int) -> Any:
    """Return an index times a number; indices are ints or scalars."""
    return index * factor if isinstance(index, int) else b.mul(index, b.constant(factor))


def shifted(b: Builder, index: Any, by: Any) -> Any:
    """Return the sum of two indices."""
    if isinstance(index, int) and isinstance(by, int):
        return index + by
    return b.add(as_value(b, index), as_value(b, by))


def as_value(b: Builder, index: Any) -> Value:
    """Return an index as a scalar."""
    return b.constant(index) if isinstance(index, int) else b.convert(index, I32)


def _moved(b: Builder, offset: tuple, first: Any, stride: int, wide: bool) -> tuple:
    """Add to an offset, of a scalar and a known number, what lies before `first`."""
    value, known = offset
    if isinstance(first, int):
        return value, known + first * stride
    if wide:
        return b.add(
            b.convert(value, I64), b.mul(b.convert(first, I64), b.constant(stride, I64))
        ), known
    return b.add(value, b.mul(b.convert(first, I32), b.constant(stride))), known


def _pointer(b: Builder, pointer: Value, offset: tuple, wide: bool) -> Value:
    value, known = offset
    if wide:
        value = b.add(b.convert(value, I64), b.constant(known, I64))
    else:
        value = b.add(value, b.constant(known))
    return pointer if value.splat == 0 else _add_pointer(b, pointer, value)


def _add_pointer(b: Builder, pointer: Value, offset: Value) -> Value:
    return b.op("tt.addptr", [pointer, offset], [(pointer.shape, pointer.dtype, True)])


# Parts of views --------------------------------------------------------------------------------------


def part(
    b: Builder, view: View, transforms: Sequence[Any], operands: Sequence[Any]
) -> tuple[View, list]:
    """Select a part of a view; return it, and the transforms that apply to its values."""
    given = iter(operands)
    after: list[Any] = []
    for t in transforms:
        if isinstance(t, Index) and not after:
            view = _indexed(b, view, t, given)
        elif type(t) is Transpose and not after and view.offset is None:
            axes = tuple([view.axes[p] for p in t.permutation])
            view = dataclasses.replace(view, axes=axes)
        elif type(t) in (Reshape, Transpose, Bitcast):
            after.append(t)
        else:
            raise cannot(
                f"{view.origin} is indexed after it was reshaped or its bits were read as another dtype",
                fix="index it first: ref.at[...].reshape(...)", **b.facts(),
            )  # fmt: skip
    return view, after


def _indexed(b: Builder, view: View, index: Index, given: Iterator[Any]) -> View:
    if view.offset is not None:
        raise cannot(
            f"{view.origin} is indexed twice, first by an array", fix="index it once", **b.facts()
        )
    entries: list[Any] = [
        next(given) if e is OPERAND else (e, next(given)) if type(e) is Window else e
        for e in index.entries
    ]
    arrays = [e for e in entries if type(e) is Value and e.shape]
    rank = max([len(x.shape) for x in arrays], default=0)
    together = [1] * rank
    for x in arrays:
        for i, n in enumerate(reversed(x.shape)):
            together[rank - 1 - i] = max(together[rank - 1 - i], n)
    at = _axis_of_arrays(entries) if arrays else 0
    axes: list[Axis] = []
    selected: list[tuple[Value, Axis]] = []
    pointer, mask = view.pointer, view.mask
    wide = _is_wide(view)
    offset = b.constant(0), 0
    for e, axis in zip(entries, view.axes, strict=True):
        if type(e) is Value and e.shape:
            selected.append((e, axis))
            continue
        start: Any = e
        size, step = None, 1
        if type(e) is tuple and type(e[0]) is Window:
            window, start = e
            size, step = window.size, window.stride
        elif type(e) is tuple:
            start, step, size = e[0], e[2], len(range(*e))
        if type(start) is Value and start.splat is not None:
            start = int(start.splat)
        offset = _moved(b, offset, start, axis.stride, wide)
        first = shifted(b, axis.first, scaled(b, start, axis.step)) if axis.is_checked else 0
        kept = dataclasses.replace(
            axis, size=size or 1, stride=axis.stride * step, first=first, step=axis.step * step
        )
        if size is None:
            mask = _both(b, mask, _inside(b, kept, None))
        else:
            axes.append(kept)
    pointer = _pointer(b, pointer, offset, wide)
    axes[at:at] = [Axis(n, 0) for n in together]
    found = dataclasses.replace(view, pointer=pointer, axes=tuple(axes), mask=mask)
    if not selected:
        return found
    shape = found.shape
    check_shape(
        shape, f"what is read or written of {view.origin}", argument=view.origin, **b.facts()
    )
    kind = I64 if wide else I32
    total = b.constant(0, kind)
    for x, axis in selected:
        x = b.convert(x, I32)
        place = range(at + rank - len(x.shape), at + rank)
        x = b.broadcast_in_dim(x, tuple(place), shape)
        total = b.add(
            b.convert(total, kind), b.mul(b.convert(x, kind), b.constant(axis.stride, kind))
        )
        if axis.is_checked:
            mask = _both(b, mask, _inside(b, axis, x))
    return dataclasses.replace(found, offset=b.broadcast(total, shape), mask=mask)


def _is_wide(view: View) -> bool:
    """Return whether positions within a view take 64 bits."""
    return sum([a.stride * a.size for a in view.axes]) >= 1 << 31


def _axis_of_arrays(entries: Sequence[Any]) -> int:
    """Return where the dimensions of index arrays go: in their place if they are neighbors, else first."""
    advanced = [type(e) is not tuple for e in entries]
    where = [i for i, a in enumerate(advanced) if a]
    if where != list(range(where[0], where[-1] + 1)):
        return 0
    return where[0]


def _inside(b: Builder, axis: Axis, index: Value | None) -> Value | None:
    """Return which positions along an axis are in bounds; `index` counts from its first element."""
    if not axis.is_checked:
        return None
    position = as_value(b, axis.first)
    if index is not None:
        position = b.add(b.mul(index, b.constant(axis.step)), position)
    found = None
    if axis.limit is not None:
        found = b.compare("LT", position, b.constant(axis.limit))
    if axis.lower:
        found = _both(b, found, b.compare("GE", position, b.constant(0)))
    if axis.end is not None and index is not None:
        found = _both(b, found, b.compare("LT", index, as_value(b, axis.end)))
    return found


def _both(b: Builder, x: Value | None, y: Value | None) -> Value | None:
    return y if x is None else x if y is None else b.bits("and", x, y)


def addresses(b: Builder, view: View) -> tuple[Value, Value | None]:
    """Return the pointers to the elements of a view, and which of them are in bounds."""
    shape = view.shape
    facts = {**b.facts(), "argument": view.origin}
    check_shape(shape, _what(view), **facts)
    offset, mask = view.offset, view.mask
    kind = I64 if _is_wide(view) or (offset is not None and offset.dtype == I64) else I32
    offset = None if offset is None else b.convert(offset, kind)
    for k, axis in enumerate(view.axes):
        if axis.size == 1 and not axis.is_checked:
            continue
        at = b.iota(shape, k)
        if axis.stride:
            step = b.mul(b.convert(at, kind), b.constant(axis.stride, kind))
            offset = step if offset is None else b.add(offset, step)
        mask = _both(b, mask, _inside(b, axis, at))
    pointers = b.broadcast(view.pointer, shape)
    if offset is not None:
        pointers = _add_pointer(b, pointers, b.broadcast(offset, shape))
    return pointers, None if mask is None else b.broadcast(mask, shape)


def _what(view: View) -> str:
    if view.shape == view.reference:
        return view.origin
    return f"what is read or written of {view.origin}, which has the shape {view.reference},"


# Reads and writes --------------------------------------------------------------------------------------


def read(
    b: Builder,
    view: View,
    after: Sequence[Any] = (),
    mask: Value | None = None,
    other: Value | None = None,
) -> Value:
    """Read the elements of a view; those out of bounds or masked are `other`."""
    b.before_read(view.memory)
    pointers, inside = addresses(b, view)
    shape, dtype = view.shape, view.dtype
    if mask is not None:
        inside = _both(b, inside, b.broadcast(mask, shape))
    stored = I8 if dtype == BOOL else dtype
    operands = [pointers]
    if inside is not None:
        fill = b.constant(filler(stored), stored) if other is None else b.convert(other, stored)
        operands += [b.broadcast(inside, shape), b.broadcast(fill, shape)]
    counts = ", ".join(["1" if len(operands) > i else "0" for i in range(3)])
    found = b.op(
        "tt.load", operands, [(shape, stored)], f"operandSegmentSizes = array<i32: {counts}>", effect=True
    )  # fmt: skip
    found = b.convert(found, dtype)
    for t in after:
        found = _transformed(b, found, t)
    return found


def _transformed(b: Builder, x: Value, t: Any) -> Value:
    if type(t) is Reshape:
        return b.op("tt.reshape", [x], [(t.shape, x.dtype)])
    if type(t) is Transpose:
        return transposed(b, x, t.permutation)
    return bitcast(b, x, np.dtype(t.dtype))


def transposed(b: Builder, x: Value, order: Sequence[int]) -> Value:
    shape = tuple([x.shape[p] for p in order])
    text = ", ".join(map(str, order))
    return b.op("tt.trans", [x], [(shape, x.dtype)], f"order = array<i32: {text}>")


def bitcast(b: Builder, x: Value, dtype: Any) -> Value:
    """Read the bits of `x` as another dtype of the same width."""
    if element(x.dtype) == element(dtype):
        return Value(x.name, x.shape, dtype)
    return b.op("tt.bitcast", [x], [(x.shape, dtype)])


def write(
    b: Builder, view: View, value: Value, after: Sequence[Any] = (), mask: Value | None = None
) -> None:
    """Write the elements of a view; those out of bounds or masked stay."""
    b.before_write(view.memory)
    for t in reversed(after):
        if type(t) is Reshape:
            value = b.op("tt.reshape", [value], [(view.shape, value.dtype)])
        elif type(t) is Transpose:
            value = transposed(b, value, np.argsort(t.permutation).tolist())
        else:
            value = bitcast(b, value, view.dtype)
    pointers, inside = addresses(b, view)
    if mask is not None:
        inside = _both(b, inside, b.broadcast(mask, view.shape))
    stored = I8 if view.dtype == BOOL else view.dtype
    operands = [pointers, b.broadcast(b.convert(value, stored), view.shape)]
    if inside is not None:
        operands.append(b.broadcast(inside, view.shape))
    b.op("tt.store", operands, (), effect=True)


# Atomics -----------------------------------------------------------------------------------------------

# Numbers of Triton's operations, by what they do to integers (signed, unsigned) and floats.
_OPERATIONS = {
    "and": 1,
    "or": 2,
    "xor": 3,
    "add": 4,
    "fadd": 5,
    "max": 6,
    "min": 7,
    "umax": 8,
    "umin": 9,
    "xchg": 10,
}
# With the memory order "acquire and release", among all programs on the GPU.
_ORDER = "scope = 1 : i32, sem = 4 : i32"


def atomic(b: Builder, kind: str, view: View, value: Value, mask: Value | None = None) -> Value:
    """Combine values with the elements of a view, one program at a time; return what these were."""
    b.before_write(view.memory)
    pointers, inside = addresses(b, view)
    shape, dtype = view.shape, view.dtype
    if mask is not None:
        inside = _both(b, inside, b.broadcast(mask, shape))
    value = b.broadcast(b.convert(value, dtype), shape)
    if dtype == BOOL or (
        dtype.itemsize < 4 and not (is_float(dtype) and dtype.itemsize == 2 and kind == "add")
    ):
        raise cannot(
            f"atomic_{kind} of {dtype}: GPUs have atomic operations for 32 and 64 bits, and additions of 16-bit floats",
            argument=view.origin, got=dtype, expected="32 or 64 bits", **b.facts(),
        )  # fmt: skip
    if kind in ("max", "min") and is_float(dtype):
        return _float_extreme(b, kind, pointers, value, inside)
    if is_float(dtype) and kind in ("and", "or", "xor"):
        raise cannot(
            f"atomic_{kind} of floats",
            argument=view.origin,
            got=dtype,
            expected="integers",
            **b.facts(),
        )
    name = kind
    if kind == "add" and is_float(dtype):
        name = "fadd"
    elif kind in ("max", "min") and not is_signed(dtype):
        name = f"u{kind}"
    return _atomic(b, name, pointers, value, inside)


def _atomic(b: Builder, name: str, pointers: Value, value: Value, mask: Value | None) -> Value:
    operands = [pointers, value] if mask is None else [pointers, value, mask]
    return b.op(
        "tt.atomic_rmw", operands, [(value.shape, value.dtype)],
        f"atomic_rmw_op = {_OPERATIONS[name]} : i32, {_ORDER}", effect=True,
    )  # fmt: skip


def _float_extreme(
    b: Builder, kind: str, pointers: Value, value: Value, mask: Value | None
) -> Value:
    """Compare floats as integers: their bits are ordered as they are, from -0 on the other way round."""
    bits, signless = np.dtype(f"i{value.dtype.itemsize}"), np.dtype(f"u{value.dtype.itemsize}")
    as_bits = b.op("tt.bitcast", [pointers], [(pointers.shape, bits, True)])
    number = bitcast(b, value, bits)
    zero = b.constant(0, bits, value.shape)
    plain, reverse = b.compare("GE", number, zero), b.compare("LT", number, zero)
    inverse = "umin" if kind == "max" else "umax"
    above = _atomic(b, kind, as_bits, number, _both(b, mask, plain))
    unsigned = Value(number.name, number.shape, signless)
    below = _atomic(b, inverse, as_bits, unsigned, _both(b, mask, reverse))
    found = b.select(plain, above, Value(below.name, below.shape, bits))
    return bitcast(b, found, value.dtype)


def compare_and_swap(b: Builder, view: View, expected: Value, value: Value) -> Value:
    """Write `value` to one element if it holds `expected`; return what it held."""
    b.before_write(view.memory)
    pointers, _ = addresses(b, view)
    dtype = view.dtype
    values = [b.broadcast(b.convert(x, dtype), view.shape) for x in (expected, value)]
    return b.op("tt.atomic_cas", [pointers, *values], [(view.shape, dtype)], _ORDER, effect=True)
