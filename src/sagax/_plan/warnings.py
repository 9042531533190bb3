"""Find what the user of a plan hardly meant: values laid out anew, large copies, idle axes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sagax._plan.counts import Collective, Counts
from sagax._plan.hardware import Hardware
from sagax._plan.hlo import NOWHERE, SourceLine
from sagax._plan.memory import OTHER, Memory, argument_roles
from sagax._plan.partition import Leaf, Partitioned, all_eqns
from sagax._report.page import format_bytes
from sagax._src.diagnostics.spans import user_span
from sagax._src.diagnostics.wording import in_users_language as say
from sagax._src.diagnostics.wording import localized

_SHARE_OF_MEMORY = 0.01  # copies smaller than this share of the memory are not worth a warning
_SHARE_OF_TRAFFIC = 0.05  # nor are exchanges below this share of all exchanged bytes
BATCH_GIVEN_UP = "batch given up"
_RELAYOUTS = frozenset(("all-gather", "all-to-all", "collective-permute"))
# Operations by which the user asks for an exchange.
_ASKED = re.compile(
    r"sharding_constraint|reshard|all_gather|all_to_all|ppermute|psum|pshuffle|pcast|shard_map"
)


@dataclass(frozen=True)
class Warning:
    """Something in a plan that was hardly meant: what, where, what it costs, and what would avoid it."""

    kind: str
    message: str
    fix: str
    source: SourceLine
    bytes: int

    def __str__(self) -> str:
        message, fix = localized(self.message), localized(self.fix)
        if self.source != NOWHERE:
            return say("{message} at {source}; {fix}", message=message, source=self.source, fix=fix)
        return say("{message}; {fix}", message=message, fix=fix)


def find(program: Partitioned, counts: Counts, memory: Memory, hardware: Hardware) -> list[Warning]:
    """Return the warnings, the costliest first."""
    found = [
        *_relayouts(program, counts),
        *_undivided(program, counts),
        *_abandoned_batch(program, counts),
        *_copies(program, memory, hardware),
        *_idle_axes(program, counts),
        *_unknown(counts),
        *_too_large(memory, hardware),
    ]
    return sorted(found, key=lambda w: -w.bytes)


def _is_relayout(c: Collective) -> bool:
    """Return whether an exchange only changes where the parts of a computed value are, without being asked for."""
    return c.kind in _RELAYOUTS and not c.of_argument and not _ASKED.search(c.operation)


def _relayouts(program: Partitioned, counts: Counts) -> Iterator[Warning]:
    """Find exchanges that only change where the parts of a computed value are."""
    total = sum(c.total_bytes for c in counts.collectives)
    merged: dict[tuple, list[Collective]] = {}
    for c in filter(_is_relayout, counts.collectives):
        merged.setdefault((c.source, c.axes), []).append(c)
    for (source, axes), several in merged.items():
        size = sum(c.total_bytes for c in several)
        if size < _SHARE_OF_TRAFFIC * total:
            continue
        largest = max(several, key=lambda c: c.total_bytes)
        kinds = ", ".join(sorted({c.kind for c in several}))
        yield Warning(
            "resharding",
            f"{largest.types[0]} is laid out anew along {', '.join(axes) or 'parts of the mesh'}: "
            f"{kinds} of {format_bytes(size)} in a step, for {largest.operation or 'an operation'}",
            _other_cut(program, largest),
            source,
            size,
        )


def _other_cut(program: Partitioned, c: Collective) -> str:
    """Return what keeps a value in place: the cut of another dimension, if one is known that divides."""
    size = math.prod([program.mesh.shape[a] for a in c.axes])
    local = _sizes(c.types[0])
    cut, shape = c.dimensions[:1], local
    if c.kind != "all-gather":  # the type is that of a part: compare with the values of the program
        cut, shape = _cut_of(program, c, local, size)
    fitting = [i for i, n in enumerate(shape) if cut and i not in cut and n % size == 0]
    if not fitting:
        return "keep it in one layout: sagax.lax.with_sharding_constraint(x, P(...)) where it is computed, with the spec of its use"
    best = max(fitting, key=lambda i: shape[i])
    entries = [c.axes if i == best else () for i in range(len(shape))]
    return (
        f"cut another dimension: sagax.lax.with_sharding_constraint(x, P({spec_text(entries)})) where it is computed, and the "
        "same in in_shardings for what it is computed from"
    )


def _sizes(text: str) -> tuple[int, ...]:
    return tuple([int(n) for n in text.partition("[")[2].rstrip("]").split(",") if n])


def _cut_of(
    program: Partitioned, c: Collective, local: tuple[int, ...], size: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the dimension that is cut into `size` parts, and the whole shape, of the value that an operation makes."""
    for eqn in all_eqns(program.jaxpr):
        if eqn.primitive.name != c.operation:
            continue
        shape = tuple(getattr(eqn.outvars[0].aval, "shape", ()))
        cut = [i for i, (n, k) in enumerate(zip(shape, local, strict=False)) if n == k * size]
        if len(shape) == len(local) and len(cut) == 1:
            return tuple(cut), shape
    return (), ()


def _undivided(program: Partitioned, counts: Counts) -> Iterator[Warning]:
    """Find reshapes that split a dimension so that an axis, which cut it, does not divide the parts."""
    lost: dict[str, list[Collective]] = {}
    for c in filter(_is_relayout, counts.collectives):
        for axis in c.axes:
            lost.setdefault(axis, []).append(c)
    seen = set()
    for eqn in all_eqns(program.jaxpr) if lost else ():
        if eqn.primitive.name != "reshape":
            continue
        before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
        span = user_span(eqn.traceback)
        place = SourceLine(span.file, span.line) if span is not None else NOWHERE
        for whole, parts in _splits(before, after):
            for axis, several in lost.items():
                size, first = program.mesh.shape[axis], parts[0]
                moved = [
                    c for c in several if math.prod(after) % math.prod(_sizes(c.types[0])) == 0
                ]
                if whole % size or first % size == 0 or not moved or (place, axis) in seen:
                    continue
                seen.add((place, axis))
                shared = math.gcd(first, size)
                use = f"an axis {axis!r} of {shared} devices, or " if shared > 1 else ""
                yield Warning(
                    "not divided",
                    f"a reshape splits a dimension of {whole} into {' x '.join(map(str, parts))}; the {size} devices along {axis!r} "
                    f"divide {whole} and not {first}, so that the cut is lost",
                    f"use {use}{-(-first // size) * size} in place of {first}",
                    place,
                    sum(c.total_bytes for c in moved),
                )


def _splits(before: tuple, after: tuple) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Return the dimensions that a reshape splits, with their parts.

    >>> list(_splits((4, 6), (4, 2, 3)))
    [(6, (2, 3))]
    """
    at = 0
    for n in before:
        parts: list[int] = []
        while at < len(after) and math.prod(parts) < n:
            parts.append(after[at])
            at += 1
        if math.prod(parts) != n:
            return
        if len(parts) > 1:
            yield n, tuple(parts)


def _abandoned_batch(program: Partitioned, counts: Counts) -> Iterator[Warning]:
    """Find sums of activations along axes that cut the batch: XLA gave up the cut of the batch there."""
    roles = argument_roles(program.jaxpr, program.leaves)
    batch: set[str] = set()
    slices: set[tuple[int, ...]] = (
        set()
    )  # the sizes of parameters, and of their parts for one layer
    for leaf, role, parameter in zip(
        program.leaves, roles, program.module.entry.parameters(), strict=False
    ):
        if role == OTHER and leaf.sharding is not None:
            batch |= set(leaf.sharding.spec.axes(0))
        elif role != OTHER:
            for sizes in (parameter.shape.sizes, leaf.shape):
                slices |= {tuple(sorted(sizes[i:])) for i in range(len(sizes))}
    total = sum(c.total_bytes for c in counts.collectives)
    merged: dict[tuple, list[Collective]] = {}
    for c in counts.collectives:
        if c.kind == "all-reduce" and c.axes and batch >= set(c.axes):
            sizes = [
                tuple(sorted([int(n) for n in re.findall(r"\d+", t.partition("[")[2]) if n != "1"]))
                for t in c.types
            ]
            if any(len(s) > 1 and s not in slices for s in sizes):
                merged.setdefault((c.source, c.axes), []).append(c)
    for (source, axes), several in merged.items():
        size = sum(c.total_bytes for c in several)
        if size < _SHARE_OF_TRAFFIC * total:
            continue
        largest = max(several, key=lambda c: c.total_bytes)
        rows = sorted(batch, key=program.mesh.axis_names.index)
        yield Warning(
            BATCH_GIVEN_UP,
            f"{largest.types[0]} is summed along {', '.join(axes)}, which cuts the batch: {format_bytes(size)} in "
            "a step. XLA cut the activations by the axis of the parameters there, and not the batch",
            "keep the batch cut: sagax.lax.with_sharding_constraint(x, "
            f"P({spec_text([tuple(rows)])})) before it, in each layer",
            source,
            size,
        )


def _copies(program: Partitioned, memory: Memory, hardware: Hardware) -> Iterator[Warning]:
    """Find large arguments that are copied to each device along an axis."""
    mesh = program.mesh
    sizes = {b.name: b.bytes for b in memory.buffers}
    for leaf in program.leaves:
        size = sizes.get(leaf.name, 0)
        if leaf.sharding is None or size < _SHARE_OF_MEMORY * hardware.memory:
            continue
        used = set(leaf.sharding.spec.used_axes())
        unused = [a for a in mesh.axis_names if a not in used and mesh.shape[a] > 1]
        if not unused:
            continue
        axis = max(unused, key=lambda a: mesh.shape[a])
        spec = spec_with(leaf, axis, mesh.shape)
        copies = math.prod([mesh.shape[a] for a in unused])
        if spec is None:
            fix = f"no dimension of {leaf.shape} is divisible by the {mesh.shape[axis]} devices of {axis!r}: pad one"
        else:
            saved = size - size // mesh.shape[axis]
            fix = f"P({spec}) frees {format_bytes(saved)} of each device"
        yield Warning(
            "replicated",
            f"{leaf.name}, {format_bytes(size)} on each device, is there in {copies} copies, along "
            f"{', '.join(unused)}",
            fix,
            NOWHERE,
            size,
        )


def spec_with(leaf: Leaf, axis: str, sizes: dict) -> str | None:
    """Return the spec of an argument, as code, with one more axis on its largest dimension that fits."""
    assert leaf.sharding is not None
    spec = leaf.sharding.spec
    entries = [spec.axes(i) for i in range(len(leaf.shape))]
    left = [
        n // math.prod([sizes[a] for a in cut]) for n, cut in zip(leaf.shape, entries, strict=True)
    ]
    fitting = [i for i, n in enumerate(left) if n % sizes[axis] == 0]
    if not fitting:
        return None
    best = max(fitting, key=lambda i: left[i])
    entries[best] = (*entries[best], axis)
    return spec_text(entries)


def spec_text(entries: list[tuple[str, ...]]) -> str:
    """Return the arguments of a PartitionSpec as code.

    >>> spec_text([("data", "fsdp"), (), ("tensor",)])
    "('data', 'fsdp'), None, 'tensor'"
    """
    shown = [repr(e) if len(e) > 1 else repr(e[0]) if e else "None" for e in entries]
    while shown and shown[-1] == "None":
        shown.pop()
    return ", ".join(shown)


def _idle_axes(program: Partitioned, counts: Counts) -> Iterator[Warning]:
    """Find axes of the mesh along which all devices do the same."""
    mesh = program.mesh
    used = {a for c in counts.collectives for a in c.axes}
    for leaf in program.leaves:
        if leaf.sharding is not None:
            used |= set(leaf.sharding.spec.used_axes())
        else:
            return  # chosen by XLA
    for axis in mesh.axis_names:
        if mesh.shape[axis] > 1 and axis not in used:
            yield Warning(
                "idle axis",
                f"nothing is cut along {axis!r}: its {mesh.shape[axis]} devices all do the same work",
                f"name {axis!r} in in_shardings, on the batch or on parameters, or leave it out of the mesh",
                NOWHERE,
                0,
            )


def _unknown(counts: Counts) -> Iterator[Warning]:
    for place in counts.unknown_loops:
        yield Warning(
            "loop",
            "how often a while loop runs is not known; it counts once",
            "write it as fori_loop or scan with a fixed number of steps",
            place,
            0,
        )
    for target in sorted(set(counts.uncounted)):
        yield Warning(
            "library call",
            f"the operations of the library call {target!r} are not counted",
            "count them apart",
            NOWHERE,
            0,
        )


def _too_large(memory: Memory, hardware: Hardware) -> Iterator[Warning]:
    if memory.without_widening > hardware.memory:
        yield Warning(
            "memory",
            f"the step needs {format_bytes(memory.without_widening)} on each device, which has "
            f"{format_bytes(hardware.memory)}",
            "cut the largest entries along more axes, or use sagax.checkpoint for activations",
            NOWHERE,
            memory.without_widening,
        )
