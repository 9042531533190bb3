"""Run a kernel program by program on NumPy arrays, and check each read and write.

It finds blocks and indices out of bounds, reads of memory that was never written, races between programs along
parallel axes of the grid, and writes that programs with other blocks overwrite before anything reads them.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.experimental.pallas._expand as _expand
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from sagax._src.diagnostics.base import Details
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.model import Label
from sagax._src.diagnostics.spans import user_span
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.references import (
    BlockIndex,
    addupdate_p,
    free_ref_p,
    freeze_p,
    get_p,
    new_ref_p,
    read_part,
    swap_p,
)
from sagax.experimental.checkify._errors import Error, check_p
from sagax.experimental.pallas._accesses import MASKED
from sagax.experimental.pallas._blocks import Blocked, BlockMapping
from sagax.experimental.pallas._memory import filler, is_semaphore

_NONE = -1  # no program
_SEVERAL = -2


class KernelCheckError(SagaxError, ValueError):
    """A kernel reads or writes memory that it must not, or waits for ever: found by the checking interpreter, or by tracing."""

    __module__ = "sagax.experimental.pallas"
    code = "SX0132"
    during_tracing = False

    def details(self) -> Details:
        """Return the other access, if two are at odds."""
        other = user_span(self.facts.get("other"))
        return Details(labels=(Label(other, self.facts["other_text"]),) if other else ())


class KernelRaceWarning(UserWarning):
    """Warn of a race between programs, with on_race="warn"."""


class _Array:
    """An operand or scratch memory: its contents, and who wrote and read which elements."""

    def __init__(self, contents: np.ndarray, name: str, written: bool, kind: str) -> None:
        self.contents = contents
        self.name = name
        self.kind = kind  # "input", "output" or "scratch"
        self.written = np.full(contents.shape, written)
        # the program that wrote an element last, and the one that read it since; where it wrote
        self.writer = np.full(contents.shape, _NONE, np.int64)
        self.reader = np.full(contents.shape, _NONE, np.int64)
        self.lines: dict[int, Any] = {}
        # the block that the last writer saw, and when: its number among all blocks of this operand
        self.visits: dict[int, tuple] = {}


class _View:
    """The part of an array that a reference of the kernel sees, as indices of its elements."""

    __slots__ = ("array", "indices", "values")

    def __init__(self, array: _Array, indices: np.ndarray, values: np.ndarray | None) -> None:
        self.array = array
        self.indices = indices  # flat
        self.values = values  # a copy: what an input's block held when the program started


def check(kernel: Any, operands: Sequence[Any]) -> list[np.ndarray]:
    """Run a kernel on concrete operands, and return its outputs; raise `KernelCheckError` for a mistake."""
    return _Run(kernel, operands).run()


class _Run:
    """One interpretation of a kernel."""

    def __init__(self, kernel: Any, operands: Sequence[Any]) -> None:
        given = iter(operands)
        self.kernel, self.params = kernel, kernel.interpret
        self.grid = tuple([int(next(given)) if g is None else int(g) for g in kernel.grid])
        values = [np.asarray(x) for x in given]
        n_pre = kernel.n_captured + len(kernel.prefetched)
        self.captured = values[: kernel.n_captured]
        self.prefetched = values[kernel.n_captured : n_pre]
        self.zero = self.params.uninitialized_memory == "zero"
        self.parallel = [k for k, s in enumerate(kernel.semantics) if s != "arbitrary"]
        self.ids: tuple[int, ...] = ()
        self.program = 0  # its number
        self.lane = 0  # its number along the parallel axes
        self.inputs = [
            _Array(self._extended(x, m), m.origin, True, "input")
            for x, m in zip(values[n_pre:], kernel.inputs, strict=True)
        ]
        self.outputs = [
            _Array(self._blank(_expand.padded_shape(m), m.array_aval.dtype), m.origin, False, "output")
            for m in kernel.outputs
        ]  # fmt: skip
        for i, o in kernel.aliases:
            out = self.outputs[o]
            out.contents[...] = self._extended(values[n_pre + i], kernel.outputs[o])
            out.written[...] = True
            if self.inputs[i].contents.shape == out.contents.shape:
                self.inputs[i] = out
        self.scratch = [
            _Array(
                self._blank(a.shape, a.dtype, is_semaphore(a)),
                f"scratch_shapes[{i}]",
                is_semaphore(a),
                "scratch",
            )
            for i, a in enumerate(kernel.scratch)
        ]

    def _blank(self, shape: tuple, dtype: Any, zero: bool = False) -> np.ndarray:
        return np.full(shape, 0 if self.zero or zero else filler(dtype), dtype)

    def _extended(self, value: np.ndarray, m: BlockMapping) -> np.ndarray:
        whole = self._blank(_expand.padded_shape(m), value.dtype)
        first = [getattr(d, "padding", (0, 0))[0] for d in m.dims]
        whole[tuple(slice(lo, lo + n) for lo, n in zip(first, value.shape, strict=True))] = value
        return whole

    def run(self) -> list[np.ndarray]:
        kernel = self.kernel
        for number, ids in enumerate(itertools.product(*map(range, self.grid))):
            self.ids, self.program = ids, number
            self.lane = 0
            for k in self.parallel:
                self.lane = self.lane * self.grid[k] + ids[k]
            if self.params.grid_point_recorder is not None:
                self.params.grid_point_recorder(ids, tuple(map(np.int32, ids)), np.int32(0))
            views = [
                *[self._block(m, a, True) for m, a in zip(kernel.inputs, self.inputs, strict=True)],
                *[self._block(m, a) for m, a in zip(kernel.outputs, self.outputs, strict=True)],
                *[
                    _View(a, np.arange(a.contents.size).reshape(a.contents.shape), None)
                    for a in self.scratch
                ],
            ]
            scalars = [
                _View(
                    _Array(x.copy(), f"prefetched operand {i}", True, "input"),
                    np.arange(x.size).reshape(x.shape),
                    x,
                )
                for i, x in enumerate(self.prefetched)
            ]
            args = [
                *self.captured,
                *[np.int32(i) for i in ids],
                *[np.int32(n) for n in self.grid],
                *scalars,
                *views,
            ]
            self._eval(kernel.jaxpr.jaxpr, kernel.jaxpr.consts, args)
        outs = []
        for a, m in zip(self.outputs, kernel.outputs, strict=True):
            first = [getattr(d, "padding", (0, 0))[0] for d in m.dims]
            parts = zip(first, m.array_aval.shape, strict=True)
            outs.append(a.contents[tuple(slice(lo, lo + n) for lo, n in parts)])
        return outs

    # Blocks ------------------------------------------------------------------------------------------

    def _block(self, m: BlockMapping, array: _Array, is_input: bool = False) -> _View:
        found = _expand.block_index(m, [np.int32(i) for i in self.ids], self.prefetched)
        index = [int(i) for i in found[: len(m.dims)]]
        shape = array.contents.shape
        at = []
        for j, (i, d, n) in enumerate(zip(index, m.dims, shape, strict=True)):
            size = m.sizes[j]
            start = i * size if type(d) is Blocked else i
            if start < 0 or start + size > n:
                if self.params.out_of_bounds_reads == "raise":
                    counts = f"{n // size} blocks" if type(d) is Blocked else f"{n} elements"
                    raise KernelCheckError(
                        f"{self._who()} selects a block of {m.origin} that is out of bounds: its index map returns "
                        f"{_tuple(index)}, and dimension {j} has {counts}",
                        argument=f"the index map of {m.origin}",
                        got=_tuple(index),
                        fix="let the index map stay below the number of blocks, or make the grid smaller",
                    )
                start = min(max(start, 0), n - size)
            at.append(slice(start, start + size))
        indices = np.arange(array.contents.size).reshape(shape)[tuple(at)].reshape(m.ref_shape)
        if not is_input:
            array.visits[self.program] = tuple(s.start for s in at)
        copy = array.contents.reshape(-1)[indices] if is_input else None
        return _View(array, indices, copy)

    def _who(self, program: int | None = None) -> str:
        ids = self.ids if program is None else np.unravel_index(program, self.grid)
        where = f"program {_tuple([int(i) for i in ids])}" if self.grid else "the program"
        return f"{where} of {self.kernel.name}"

    # Equations ---------------------------------------------------------------------------------------

    def _eval(self, jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list:
        env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        used = {v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is not Literal}
        used.update(v for v in jaxpr.outvars if type(v) is not Literal)
        for eqn in jaxpr.eqns:
            ins = [
                np.asarray(v.val, v.aval.dtype)[()] if type(v) is Literal else env[v]
                for v in eqn.invars
            ]
            outs = self._apply(eqn, ins, bool(eqn.outvars) and eqn.outvars[0] in used)
            env.update(zip(eqn.outvars, outs, strict=True))
        return [
            np.asarray(v.val, v.aval.dtype)[()] if type(v) is Literal else env[v]
            for v in jaxpr.outvars
        ]

    def _apply(self, eqn: Any, ins: list, used: bool) -> list:
        p, params = eqn.primitive, eqn.params
        if p is get_p:
            return [self._read(eqn, ins[0], ins[1:])]
        if p is swap_p:
            before = self._values(ins[0])[self._selected(eqn, ins[0], ins[2:])]
            if used:
                before = self._read(eqn, ins[0], ins[2:])
            self._write(eqn, ins[0], ins[2:], ins[1])
            return [before]
        if p is addupdate_p:
            before = self._read(eqn, ins[0], ins[2:])
            self._write(eqn, ins[0], ins[2:], before + ins[1])
            return []
        if p is new_ref_p:
            value = np.array(ins[0], copy=True)
            known = not (np.issubdtype(value.dtype, np.floating) and np.isnan(value).all())
            array = _Array(value, "memory of a scope", known or not value.size, "scratch")
            return [_View(array, np.arange(value.size).reshape(value.shape), None)]
        if p is freeze_p:
            return [self._values(ins[0])]
        if p is free_ref_p:
            return []
        if p is check_p:
            self._check_condition(eqn, ins)
            return []
        if p is cond_p:
            branch = params["branches"][int(ins[0])]
            return self._eval(branch.jaxpr, branch.consts, ins[1:])
        if p is while_p:
            return self._while(ins, params)
        if p is scan_p:
            return self._scan(ins, params)
        inner = params.get("jaxpr")
        if inner is None:
            inner = getattr(params.get("inner"), "jaxpr", None)
        if p.is_call and inner is not None:
            if isinstance(inner, ClosedJaxpr):
                return self._eval(inner.jaxpr, inner.consts, ins)
            return self._eval(inner, (), ins)
        if p.reference_rule is not None and not p.is_higher_order:
            found = p.reference_rule(*ins, **params)
        else:
            found = p.bind(*ins, **params)
        outs = found if p.multiple_results else [found]
        return [np.asarray(x, v.aval.dtype) for x, v in zip(outs, eqn.outvars, strict=True)]

    def _check_condition(self, eqn: Any, ins: list) -> None:
        error = Error(np.asarray(ins[0]), tuple(ins[1:]), eqn.params["sites"])
        found = error.get()
        if found is not None:
            raise KernelCheckError(f"{self._who()} fails a check: {found}", traceback=eqn.traceback)

    def _while(self, ins: list, params: dict) -> list:
        n, m = params["cond_nconsts"], params["body_nconsts"]
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]
        carry = ins[n + m :]
        while bool(self._eval(condition.jaxpr, condition.consts, [*ins[:n], *carry])[0]):
            carry = self._eval(body.jaxpr, body.consts, [*ins[n : n + m], *carry])
        return carry

    def _scan(self, ins: list, params: dict) -> list:
        n, m, length = params["num_consts"], params["num_carry"], params["length"]
        body = params["jaxpr"]
        consts, carry, rows = ins[:n], ins[n : n + m], ins[n + m :]
        found: list[Any] = [None] * length
        for i in reversed(range(length)) if params["reverse"] else range(length):
            outs = self._eval(body.jaxpr, body.consts, [*consts, *carry, *[x[i] for x in rows]])
            carry, found[i] = outs[:m], outs[m:]
        avals = body.out_avals[m:]
        stacked = [
            np.stack([r[k] for r in found]) if length else np.zeros((0, *a.shape), a.dtype)
            for k, a in enumerate(avals)
        ]
        return [*carry, *stacked]

    # Memory ------------------------------------------------------------------------------------------

    def _values(self, view: _View) -> np.ndarray:
        if view.values is not None:
            return view.values
        return view.array.contents.reshape(-1)[view.indices]

    def _selected(self, eqn: Any, view: _View, operands: list) -> Any:
        """Return which elements of a view the transforms of an equation select, as an index of it."""
        transforms = eqn.params["transforms"]
        if not transforms:
            return ...
        self._check_bounds(eqn, view, operands)
        flat = np.arange(view.indices.size, dtype=np.int32).reshape(view.indices.shape)
        picked = np.asarray(read_part(flat, transforms, operands))
        return np.unravel_index(picked, view.indices.shape)

    def _check_bounds(self, eqn: Any, view: _View, operands: list) -> None:
        first = eqn.params["transforms"][0]
        if type(first) is not BlockIndex or self.params.out_of_bounds_reads != "raise":
            return
        given = iter(operands)
        for j, (e, n) in enumerate(zip(first.entries, view.indices.shape, strict=True)):
            if type(e) is tuple or isinstance(e, int):
                continue
            start = np.asarray(next(given))
            size, stride = getattr(e, "size", 1), getattr(e, "stride", 1)
            last = start + (size - 1) * stride
            if start.size and ((start < 0).any() or (last >= n).any()):
                raise KernelCheckError(
                    f"{self._who()} accesses elements of {view.array.name} that are out of bounds: index "
                    f"{int(start.max() if (last >= n).any() else start.min())}"
                    + (f" and {size - 1} more" if size > 1 else "")
                    + f" along dimension {j}, whose size is {n}",
                    traceback=eqn.traceback,
                    fix="mask what is out of bounds: pl.triton.load(ref.at[...], mask=..., other=...)",
                )

    def _read(self, eqn: Any, view: _View, operands: list) -> np.ndarray:
        at = self._selected(eqn, view, operands)
        found = self._values(view)[at]
        if MASKED in eqn.scope:  # what is read in vain is not used
            return np.array(found)
        array, indices = view.array, view.indices[at]
        written = array.written.reshape(-1)[indices]
        if not written.all():
            count = int((~written).sum())
            what = "element" if count == 1 else "elements"
            raise KernelCheckError(
                f"{self._who()} reads {count} {what} of {array.name} that no program has written",
                traceback=eqn.traceback,
                fix="write it first: under pl.when(pl.program_id(axis) == 0) if programs share it, or give an "
                "input that the output is an alias of"
                if array.kind != "scratch"
                else "write it first, where pl.program_id(axis) is 0",
            )
        if self.params.detect_races and array.kind != "input":
            writer = array.writer.reshape(-1)[indices]
            self._check_race(eqn, array, indices, writer, "reads", "wrote")
            reader = array.reader.reshape(-1)
            before = reader[indices]
            reader[indices] = np.where(
                (before == _NONE) | (before == self.lane), self.program, _SEVERAL
            )
        return np.array(found)

    def _write(self, eqn: Any, view: _View, operands: list, value: Any) -> None:
        at = self._selected(eqn, view, operands)
        array, indices = view.array, view.indices[at]
        value = np.broadcast_to(np.asarray(value), np.shape(indices))
        if view.values is not None:
            view.values[at] = value
            return
        contents = array.contents.reshape(-1)
        changed = np.ones(np.shape(indices), bool)
        if MASKED in eqn.scope:
            before = contents[indices]
            with np.errstate(invalid="ignore"):
                changed = (before != value) & ~((before != before) & (value != value))
        mine = np.asarray(indices)[changed]
        if self.params.detect_races and array.kind == "output":
            writer, reader = array.writer.reshape(-1), array.reader.reshape(-1)
            self._check_race(eqn, array, mine, writer[mine], "writes", "wrote")
            self._check_race(eqn, array, mine, reader[mine], "writes", "read")
            self._check_lost(eqn, array, mine)
        contents[indices] = value
        array.written.reshape(-1)[mine] = True
        array.writer.reshape(-1)[mine] = self.program
        array.reader.reshape(-1)[mine] = _NONE
        array.lines[self.program] = eqn.traceback

    def _lane_of(self, program: int) -> int:
        ids = np.unravel_index(program, self.grid)
        lane = 0
        for k in self.parallel:
            lane = lane * self.grid[k] + int(ids[k])
        return lane

    def _check_race(
        self, eqn: Any, array: _Array, indices: Any, others: Any, does: str, did: str
    ) -> None:
        if not self.parallel:
            return
        for other in np.unique(others):
            if other < 0 or self._lane_of(int(other)) == self.lane:
                continue
            count = int((others == other).sum())
            axes = ", ".join(map(str, self.parallel))
            elements = "element" if count == 1 else "elements"
            order = f"and the order of programs along parallel axes ({axes}) is not defined"
            error = KernelCheckError(
                f"race: {self._who()} reads {count} {elements} of {array.name} that {self._who(int(other))} wrote, {order}"
                if does == "reads"
                else f"race: {self._who()} writes {count} {elements} of {array.name} that {self._who(int(other))} "
                f"{'wrote' if did == 'wrote' else 'read'}, {order}",
                traceback=eqn.traceback,
                other=array.lines.get(int(other)),
                other_text=f"{did} here",
                fix="give each of them a block of its own, or call the axis 'arbitrary' in dimension_semantics",
            )
            if self.params.on_race == "warn":
                warnings.warn(str(error), KernelRaceWarning, stacklevel=2)
                return
            raise error

    def _check_lost(self, eqn: Any, array: _Array, indices: Any) -> None:
        """Raise where a block overwrites what another block wrote, which nothing has read."""
        writer = array.writer.reshape(-1)[indices]
        unread = array.reader.reshape(-1)[indices] == _NONE
        for other in np.unique(writer[unread]) if np.size(writer) else ():
            other = int(other)
            if other < 0 or other == self.program:
                continue
            same = array.visits.get(other) == array.visits.get(self.program)
            steady = all(
                array.visits.get(p) == array.visits[self.program]
                for p in range(other, self.program)
            )
            if same and steady:  # an accumulator that the last program of a loop completes
                continue
            count = int(((writer == other) & unread).sum())
            elements = "element" if count == 1 else "elements"
            error = KernelCheckError(
                f"lost writes: {self._who()} overwrites {count} {elements} of {array.name} that "
                f"{self._who(other)} wrote, and nothing has read them",
                traceback=eqn.traceback,
                other=array.lines.get(other),
                other_text="written here",
                fix="let the index map of the output give each program a block of its own, or add to the block",
            )
            if self.params.on_race == "warn":
                warnings.warn(str(error), KernelRaceWarning, stacklevel=2)
                return
            raise error


def _tuple(index: Sequence[int]) -> str:
    return f"({', '.join(map(str, index))}{',' if len(index) == 1 else ''})"


__all__ = ["KernelCheckError", "KernelRaceWarning", "check"]
