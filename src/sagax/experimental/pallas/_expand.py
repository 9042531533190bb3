"""Run a kernel over its grid: as one vectorized program where that is the same, else in a loop.

A program along a *parallel* axis of the grid sees nothing that others along it write. Such axes become
batch axes of the kernel, and a block is a slice of a reshaped operand, not a copy. The other axes are loops,
whose carry holds outputs and scratch memory.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.experimental.pallas._plan as _plan
import sagax.experimental.pallas._sums as _sums
from sagax._src.core import dims
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.references import AbstractRef
from sagax._src.core.value import aval_of
from sagax._src.frozen_class import record
from sagax._src.higher_order.while_loop import fori_loop
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.makers import broadcast_to
from sagax._src.primitives.references import as_array
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import broadcasted_iota, iota
from sagax._src.primitives.slicing import dynamic_slice, dynamic_update_slice, pad
from sagax._src.primitives.slicing import slice as slice_static
from sagax._src.primitives.structural import convert, reshape
from sagax._src.transforms.batch import BatchAxis, batch_flat, move_batch_dim
from sagax._src.transforms.discharge import discharge_jaxpr
from sagax.experimental.pallas._blocks import Blocked, BlockMapping, BoundedSlice, Element, Squeezed
from sagax.experimental.pallas._memory import empty_value, filler, first_contents, uninitialized


@record
class Layout:
    """Describe how the blocks of an operand lie in it.

    `axes` holds for each dimension the parallel axis along which it is cut into consecutive blocks, or None.
    """

    mapping: BlockMapping
    axes: tuple

    def positions(self, parallel: Sequence[int]) -> list[int | None]:
        """Return the dimension of each parallel axis in the split operand."""
        found: dict[int, int] = {}
        at = 0
        for axis in self.axes:
            if axis is not None:
                found[axis] = at
                at += 1
            at += 1
        return [found.get(k) for k in parallel]

    def split(self, value: Any, grid: tuple) -> Any:
        """Give dimensions that are split along parallel axes a dimension of blocks before them."""
        shape: list[Any] = []
        for size, n, axis in zip(aval_of(value).shape, self.mapping.sizes, self.axes, strict=True):
            shape += [size] if axis is None else [grid[axis], n]
        return reshape(value, tuple(shape))

    def starts(self, indices: Sequence[Any]) -> list:
        """Return the first element of a block along each dimension, as seen by one batch element."""
        return [
            0 if axis is not None else (i * d.block_size if type(d) is Blocked else i)
            for i, d, axis in zip(indices, self.mapping.dims, self.axes, strict=True)
        ]

    def read(self, value: Any, starts: list, sizes: Sequence[Any]) -> Any:
        """Return the block at `starts`; slices have `sizes` of their own, and what lies behind was never written."""
        block = self._at(value, starts)
        for inside in self._inside(sizes):
            block = select_n(
                inside,
                broadcast_to(empty_value(self.mapping.array_aval.dtype), self.mapping.sizes),
                block,
            )
        return reshape(block, self.mapping.ref_shape)

    def _at(self, value: Any, starts: list) -> Any:
        sizes = self.mapping.sizes
        if not all(map(dims.same, sizes, aval_of(value).shape)):
            value = dynamic_slice(value, _indices(starts), sizes, allow_negative_indices=False)
        return reshape(value, sizes)

    def _inside(self, sizes: Sequence[Any]) -> list:
        """Return for each slice which elements of the block belong to it."""
        given, shape, found = iter(sizes), self.mapping.sizes, []
        for j, d in enumerate(self.mapping.dims):
            if type(d) is BoundedSlice:
                at = broadcasted_iota(np.dtype(np.int32), shape, j)
                found.append(lt(at, broadcast_to(convert(next(given), np.dtype(np.int32)), shape)))
        return found

    def write(self, value: Any, block: Any, starts: list, sizes: Sequence[Any]) -> Any:
        """Return `value` with the block at `starts` replaced; slices have `sizes` of their own."""
        block = reshape(block, self.mapping.sizes)
        for inside in self._inside(sizes):
            block = select_n(inside, self._at(value, starts), block)
        if all(map(dims.same, self.mapping.sizes, aval_of(value).shape)):
            return block
        return dynamic_update_slice(value, block, _indices(starts), allow_negative_indices=False)


def _indices(starts: list) -> list:
    return [convert(s, np.dtype(np.int32)) for s in starts]


def padded_shape(mapping: BlockMapping) -> tuple:
    """Return the shape of an operand after it was extended to whole blocks."""
    shape = []
    for size, d in zip(mapping.array_aval.shape, mapping.dims, strict=True):
        if type(d) is Element:
            size = size + sum(d.padding)
        elif type(d) is Blocked and not dims.same(size, d.block_size):
            size = -(-size // d.block_size) * d.block_size
        elif type(d) is BoundedSlice:  # a slice of fewer elements may lie at the end
            size = size + d.block_size
        shape.append(size)
    return tuple(shape)


def extended(value: Any, mapping: BlockMapping) -> Any:
    """Extend an operand to whole blocks, by elements that were never written."""
    shape = padded_shape(mapping)
    have = mapping.array_aval.shape
    if all(map(dims.same, shape, have)):
        return as_array(value)
    ends = [(d.padding[0] if type(d) is Element else 0) for d in mapping.dims]
    config = [(lo, n - size - lo, 0) for lo, n, size in zip(ends, shape, have, strict=True)]
    dtype = mapping.array_aval.dtype
    return pad(as_array(value), np.asarray(filler(dtype), dtype)[()], config)


def trimmed(value: Any, mapping: BlockMapping) -> Any:
    """Drop what `extended` added."""
    have = mapping.array_aval.shape
    if all(map(dims.same, aval_of(value).shape, have)):
        return value
    first = [d.padding[0] if type(d) is Element else 0 for d in mapping.dims]
    return slice_static(value, first, [lo + n for lo, n in zip(first, have, strict=True)])


def run(kernel: Any, *operands: Any) -> list:
    """Run the programs of a traced kernel on values; `operands` begin with traced sizes of the grid, and captured arrays."""
    given = iter(operands)
    grid = tuple([next(given) if g is None else g for g in kernel.grid])
    values = list(given)
    captured, values = values[: kernel.n_captured], values[kernel.n_captured :]
    n_pre, n_in = len(kernel.prefetched), len(kernel.inputs)
    prefetched, inputs = values[:n_pre], values[n_pre:]
    # it also runs where one program at a time was asked for: with interpret=True
    parallel = () if kernel.interpret else _plan.parallel_axes(kernel)
    loops = [k for k in range(len(grid)) if k not in parallel]
    whole = _whole_sums(kernel, loops)
    mappings = kernel.inputs if whole is None else whole[0]
    layouts = [_layout(m, parallel, grid) for m in (*mappings, *kernel.outputs)]
    ins = [
        layout.split(extended(x, layout.mapping), grid)
        for x, layout in zip(inputs, layouts[:n_in], strict=True)
    ]
    starts_with = {o: i for i, o in kernel.aliases}
    outs = []
    for o, layout in enumerate(layouts[n_in:]):
        m = layout.mapping
        if o in starts_with:
            first = extended(inputs[starts_with[o]], m)
        else:
            first = uninitialized(m.array_aval.update(shape=padded_shape(m)))
        outs.append(layout.split(first, grid))
    step, scratch = _step(kernel, grid, parallel, layouts, captured, prefetched, ins)
    sizes = [grid[k] for k in loops]
    if whole is not None:
        found = step(whole[1])([0] * len(loops), outs, scratch)[0]
    elif all(type(n) is int and n == 1 for n in sizes):
        once = discharged(kernel, resolved(kernel, loops, 0, 1))
        found = step(once)([0] * len(loops), outs, scratch)[0]
    else:
        found = _loop(kernel, step, loops, sizes, outs, scratch)
    return [
        trimmed(reshape(x, padded_shape(m)), m) for x, m in zip(found, kernel.outputs, strict=True)
    ]


def _loop(kernel: Any, step: Callable, loops: list, sizes: list, outs: list, scratch: list) -> list:
    """Run the programs of all indices of the loops, the last one fastest."""
    total: Any = math.prod(sizes) if all(type(n) is int for n in sizes) else None

    def over(body: Callable) -> Callable:
        def iteration(i: Any, carry: tuple) -> tuple:
            indices = []
            for n in reversed(sizes[1:]):
                n = n if type(n) is int else _as_int32(n)
                indices.append(i % n)
                i = i // n
            indices.append(i)
            return body(indices[::-1], *carry)

        return iteration

    carry = outs, scratch
    if total is None:
        total = convert(1, np.dtype(np.int32))
        for n in sizes:
            total = total * _as_int32(n)
        return fori_loop(0, total, over(step(discharged(kernel, kernel.jaxpr))), carry)[0]
    start, stop, inner = apart(kernel, loops, total)

    def one(i: int) -> Callable:
        return over(step(discharged(kernel, resolved(kernel, loops, i, i + 1))))

    for i in range(start):
        carry = one(i)(i, carry)
    if stop > start:
        carry = fori_loop(start, stop, over(step(discharged(kernel, inner))), carry)
    for i in range(stop, total):
        carry = one(i)(i, carry)
    return carry[0]


def _whole_sums(kernel: Any, loops: list) -> tuple[tuple, ClosedJaxpr] | None:
    """Return wider mappings of inputs and a kernel on values that does all iterations of a loop that adds up.

    None: there is no such loop.
    """
    if kernel.interpret or kernel.aliases or any(type(kernel.grid[k]) is not int for k in loops):
        return None
    counted = [k for k in loops if kernel.grid[k] != 1]
    if len(counted) != 1:
        return None
    (axis,) = counted
    n = kernel.grid[axis]
    wide = [w for m in kernel.inputs if (w := _sums.widened(m, axis, n)) is not None]
    fixed = [_sums.widened(m, axis, n) == (m, None) for m in kernel.outputs]
    if len(wide) < len(kernel.inputs) or not all(fixed) or all(at is None for _, at in wide):
        return None
    begin = kernel.n_captured + 2 * len(kernel.grid) + len(kernel.prefetched)
    cuts = {begin + i: (at, m.ref_shape[at]) for i, (m, at) in enumerate(wide) if at is not None}
    start, stop, inner = apart(kernel, loops, n)
    middle = discharged(kernel, inner)
    first = discharged(kernel, resolved(kernel, loops, 0, 1)) if start else middle
    last = discharged(kernel, resolved(kernel, loops, n - 1, n)) if stop < n else middle
    phases = _sums.Phases(first, middle if stop > start else None, last)
    n_memory = len(kernel.outputs) + len(kernel.scratch)
    whole = _sums.in_one(phases, kernel.n_captured + axis, cuts, n_memory)
    return None if whole is None else (tuple([m for m, _ in wide]), whole)


def apart(kernel: Any, loops: list, total: int) -> tuple[int, int, ClosedJaxpr]:
    """Return which iterations form a loop, and the kernel for these.

    The first or the last iteration runs apart if it does what others do not, as conditions on indices show.
    """
    found = 0, total, kernel.jaxpr
    least = _plan.count_conditions(kernel.jaxpr.jaxpr)
    if kernel.interpret or not least or total < 2:
        return found
    for start, stop in ((0, total), (1, total), (0, total - 1), (1, total - 1)):
        inner = resolved(kernel, loops, start, stop) if stop > start else None
        count = 0 if inner is None else _plan.count_conditions(inner.jaxpr)
        if count < least:
            least, found = count, (start, stop, inner or kernel.jaxpr)
    return found


def resolved(kernel: Any, loops: list, start: int, stop: int) -> ClosedJaxpr:
    """Return the kernel for iterations from `start` up to `stop`, without conditions that are decided there."""
    sizes = [kernel.grid[k] for k in loops]
    at = np.unravel_index(np.arange(start, stop), sizes) if sizes else ()
    first = kernel.n_captured
    known = {first + k: i.astype(np.int32) for k, i in zip(loops, at, strict=True)}
    for k, n in enumerate(kernel.grid):
        known[first + len(kernel.grid) + k] = np.asarray(n, np.int32)
    if not _plan.count_conditions(kernel.jaxpr.jaxpr):
        return kernel.jaxpr
    return _plan.resolved(kernel.jaxpr, known)


def _as_int32(n: Any) -> Any:
    return convert(n, np.dtype(np.int32))


def _layout(mapping: BlockMapping, parallel: tuple, grid: tuple) -> Layout:
    return Layout(mapping, tuple(_plan.cut_axes(mapping, parallel, grid)))


def discharged(kernel: Any, closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return a form of the kernel as a jaxpr on values, whose results are those of outputs and scratch."""
    avals = closed.in_avals
    owned = [type(a) is AbstractRef for a in avals]
    last = len(kernel.outputs) + len(kernel.scratch)
    returned = [False] * (len(avals) - last) + [True] * last
    return discharge_jaxpr(closed, owned, returned).jaxpr


def block_index(mapping: BlockMapping, ids: Sequence[Any], prefetched: Sequence[Any]) -> list:
    """Return the index of the block along each dimension for the program `ids`, then the sizes of slices."""
    if mapping.forms is not None:
        return [mapping.form(j).at(ids) for j in range(len(mapping.dims))]  # type: ignore[union-attr]
    closed = mapping.index_jaxpr
    owned = [type(a) is AbstractRef for a in closed.in_avals]
    pure = discharge_jaxpr(closed, owned, [False] * len(owned)).jaxpr
    given = [convert(i, np.dtype(np.int32)) for i in ids]
    return eval_jaxpr(pure.jaxpr, pure.consts, *given, *prefetched)


def _step(
    kernel: Any,
    grid: tuple,
    parallel: tuple,
    layouts: list,
    captured: list,
    prefetched: list,
    ins: list,
) -> tuple[Callable, list]:
    """Return a maker of steps, and the first contents of scratch memory.

    A step takes loop indices, outputs and scratch, and returns the latter two; it is made of a form of the kernel on values.
    """
    n_in, n_out = len(kernel.inputs), len(kernel.outputs)
    loops = [k for k in range(len(grid)) if k not in parallel]
    sizes = [_as_int32(n) if type(n) is not int else n for n in grid]

    def program(pure: ClosedJaxpr, values: Sequence[Any]) -> list:
        ids = [convert(i, np.dtype(np.int32)) for i in values[: len(grid)]]
        blocks = list(values[len(grid) : len(grid) + n_in + n_out])
        for i, o in kernel.aliases:  # they are one memory
            blocks[i] = blocks[n_in + o]
            if padded_shape(kernel.inputs[i]) != padded_shape(kernel.outputs[o]):
                blocks[i] = extended(trimmed(blocks[i], kernel.outputs[o]), kernel.inputs[i])
        memory = values[len(grid) + n_in + n_out :]
        found = [block_index(layout.mapping, ids, prefetched) for layout in layouts]
        ranks = [len(layout.mapping.dims) for layout in layouts]
        places = [layout.starts(i[:n]) for layout, i, n in zip(layouts, found, ranks, strict=True)]
        lengths = [i[n:] for i, n in zip(found, ranks, strict=True)]
        given = [
            layout.read(x, at, n)
            for layout, x, at, n in zip(layouts, blocks, places, lengths, strict=True)
        ]
        found = eval_jaxpr(
            pure.jaxpr,
            pure.consts,
            *captured,
            *ids,
            *[convert(n, np.dtype(np.int32)) for n in sizes],
            *prefetched,
            *given,
            *memory,
        )
        written = [
            layout.write(x, block, at, n)
            for layout, x, block, at, n in zip(
                layouts[n_in:],
                blocks[n_in:],
                found[:n_out],
                places[n_in:],
                lengths[n_in:],
                strict=True,
            )
        ]
        return [*written, *found[n_out:]]

    homes = [layout.positions(parallel) for layout in layouts]
    spread = [_spread(a, layouts[n_in:], parallel) for a in kernel.scratch]
    id_homes = [[0 if p == k else None for p in parallel] for k in range(len(grid))]
    in_dims = [*id_homes, *homes, *spread]
    out_dims = [*homes[n_in:], *spread]
    scratch = []
    for aval, dims_of in zip(kernel.scratch, spread, strict=True):
        shape = list(aval.shape)
        for at, k in sorted(zip(dims_of, parallel, strict=True)):
            shape.insert(at, grid[k])
        scratch.append(first_contents(aval, tuple(shape)))

    def step(pure: ClosedJaxpr) -> Callable:
        run_program = functools.partial(program, pure)
        batched = _batched(run_program, [grid[k] for k in parallel], in_dims, out_dims)

        def run_step(indices: Sequence[Any], outs: list, memory: list) -> tuple[list, list]:
            ids = [
                iota(np.dtype(np.int32), grid[k]) if k in parallel else indices[loops.index(k)]
                for k in range(len(grid))
            ]
            found = batched([*ids, *ins, *outs, *memory])
            return found[:n_out], found[n_out:]

        return run_step

    return step, scratch


def _spread(aval: AbstractRef, outputs: list, parallel: tuple) -> list[int]:
    """Return where scratch memory has the parallel axes: as an output with blocks of its shape, or first."""
    for layout in outputs:
        at = layout.positions(parallel)
        if layout.mapping.ref_shape == aval.shape == layout.mapping.sizes and None not in at:
            return at  # type: ignore[return-value]
    return list(range(len(parallel)))


def _batched(
    program: Callable, sizes: list, in_dims: list[list], out_dims: list[list]
) -> Callable[[list], list]:
    """Map a flat function over several axes, the first one outermost.

    `in_dims` and `out_dims` hold for each operand and result its dimension of each axis, counted with all of them.
    """

    def level(depth: int, values: Sequence[Any]) -> list:
        if depth == len(sizes):
            return program(values)
        axis = BatchAxis(sizes[depth])
        now = [_within(d, depth) for d in in_dims]
        outs, found = batch_flat(lambda *xs: level(depth + 1, xs), axis, values, now)
        return [
            move_batch_dim(x, d, _within(target, depth), axis)
            for x, d, target in zip(outs, found, out_dims, strict=True)
        ]

    return lambda values: level(0, values)


def _within(positions: Sequence[int | None], depth: int) -> int | None:
    """Return the dimension of one axis, where those of the axes around it are taken off."""
    at = positions[depth]
    if at is None:
        return None
    return at - sum(1 for p in positions[:depth] if p is not None and p < at)


__all__ = ["Squeezed", "block_index", "discharged", "run"]
