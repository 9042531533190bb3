"""Try meshes and shardings for a step, and rank them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sagax._plan.constraints import BatchCut
from sagax._plan.hardware import Hardware, resolve
from sagax._plan.memory import OTHER, PARAMETERS, STATE, argument_roles
from sagax._plan.partition import Leaf, all_eqns, partition, trace
from sagax._plan.pipeline import AXIS as PIPELINE
from sagax._plan.planner import Plan, plan_of
from sagax._plan.report import duration
from sagax._plan.roles import Role, give_state_the_roles_of_parameters, roles_of
from sagax._plan.warnings import BATCH_GIVEN_UP, spec_text
from sagax._report.page import format_bytes
from sagax._src import trees
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.shardings import ShardingError
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.diagnostics.spans import display_path
from sagax._src.diagnostics.wording import in_users_language as say
from sagax._src.diagnostics.wording import localized
from sagax._src.languages.widths import pad

AXES = ("data", "fsdp", "tensor", "sequence", PIPELINE)
_SMALL = 1 << 16  # arrays with fewer elements are not cut


@dataclass(frozen=True)
class Candidate:
    """A mesh and its shardings. `plan` is None if it was excluded before it was partitioned.

    `batch` is the spec that scans keep the batch in, if it needs constraints.
    """

    mesh: dict[str, int]
    in_shardings: Any
    plan: Plan | None
    reason: str  # why it is not the best
    batch: PartitionSpec | None = None

    @property
    def name(self) -> str:
        """The axes with more than one device."""
        return ", ".join([f"{a} {n}" for a, n in self.mesh.items() if n > 1]) or "1 device"


@dataclass(frozen=True)
class Search:
    """The candidates of a search, the best first. `str` shows them, `code` gives the best one's specs."""

    candidates: Sequence[Candidate]

    @property
    def best(self) -> Plan:
        """The plan of the best candidate."""
        found = self.candidates[0].plan
        assert found is not None
        return found

    def code(self) -> str:
        """Return the best mesh, its shardings, and the constraints that the step needs, as code."""
        best = self.candidates[0]
        mesh = {a: n for a, n in best.mesh.items() if n > 1} or {"data": 1}
        auto = ", ".join(["AxisType.Auto"] * len(mesh))
        return (
            "from sagax.sharding import AxisType, PartitionSpec as P\n\n"
            f"mesh = sagax.make_mesh({tuple(mesh.values())!r}, {tuple(mesh)!r}, axis_types=({auto},))\n"
            f"in_shardings = {_tree_code(best.in_shardings)}\n{_constraints_code(best)}"
        )

    def __str__(self) -> str:
        lines = [_row(say("mesh"), say("best case"), say("worst case"), say("memory"))]
        for c in self.candidates:
            if c.plan is None:
                lines.append(c.name)
            else:
                t, size = c.plan.timing, c.plan.memory.without_widening
                lines.append(_row(c.name, duration(t.best), duration(t.worst), format_bytes(size)))
            if c.reason:
                lines += [f"  {localized(c.reason)}"]
        return "\n".join([line.rstrip() for line in lines])


def _row(name: str, best: str, worst: str, memory: str) -> str:
    cells = pad(best, 11, right=True), pad(worst, 12, right=True), pad(memory, 11, right=True)
    return pad(name, 34) + "".join(cells)


def search(
    step: Callable,
    args: tuple,
    hardware: Any,
    axes: Sequence[str] = AXES[:3],
    limit: int = 12,
) -> Search:
    """Plan a step for several meshes, and rank them by the worst case of those that fit."""
    unknown = [a for a in axes if a not in AXES]
    if unknown or not axes:
        raise ArgumentValueError(
            function="plan.search",
            argument="axes",
            got=tuple(axes),
            expected=f"some of {', '.join(map(repr, AXES))}",
            fix="leave the axis out, and plan shardings over it yourself with sagax.plan",
        )
    chosen = Hardware.named(hardware) if isinstance(hardware, str) else hardware
    chosen = resolve(chosen, getattr(chosen, "devices", 0))
    traced = trace(step, args)
    categories = argument_roles(traced.jaxpr, traced.leaves)
    roles = roles_of(traced.jaxpr, categories)[traced.hidden :]
    leaves = traced.leaves[traced.hidden :]
    give_state_the_roles_of_parameters(roles, [leaf.name for leaf in leaves])
    batches = frozenset(
        [x.shape[0] for x, r in zip(leaves, roles, strict=True) if r.category == OTHER and x.shape]
    )
    tree = trees.flatten(args)[1]
    planned: list[Candidate] = []
    excluded: list[Candidate] = []
    for mesh in _meshes(chosen, axes):
        specs = [_spec(leaf, role, mesh) for leaf, role in zip(leaves, roles, strict=True)]
        shardings = tree.unflatten([PartitionSpec(*s) for s in specs])
        reason = _excluded(leaves, roles, specs, mesh, chosen)
        if not reason and len(planned) < limit and PIPELINE in mesh:
            reason = _without_pipeline(step, args, mesh)
        if not reason and len(planned) < limit:
            planned.append(_planned(step, args, mesh, shardings, chosen, batches))
        else:
            excluded.append(
                Candidate(mesh, shardings, None, reason or "not tried: beyond the limit")
            )
    if not planned:
        raise ArgumentValueError(
            f"no mesh of {chosen.devices} devices suits the step: {excluded[0].reason}",
            function="plan.search",
            argument="hardware",
            got=chosen.name,
            fix="use more devices, or a batch that they divide",
        )
    ordered = sorted(planned, key=_rank)
    best = ordered[0]
    ranked = [
        best,
        *[Candidate(c.mesh, c.in_shardings, c.plan, _why(c, best)) for c in ordered[1:]],
    ]
    return Search([*ranked, *excluded])


def _planned(
    step: Callable, args: tuple, mesh: dict, shardings: Any, chosen: Hardware, batches: frozenset
) -> Candidate:
    """Plan a candidate: with constraints of the batch if XLA gives it up, and they help."""
    rows = tuple([a for a in ("data", "fsdp") if a in mesh])
    spec = PartitionSpec(rows, "sequence") if "sequence" in mesh else PartitionSpec(rows)
    free = Candidate(mesh, shardings, plan_of(partition(step, args, mesh, shardings), chosen), "")
    assert free.plan is not None
    given_up = any(w.kind == BATCH_GIVEN_UP for w in free.plan.warnings)
    if not (given_up and rows) and "sequence" not in mesh:
        return free
    program = partition(step, args, mesh, shardings, batch=BatchCut(spec, batches))
    kept = Candidate(mesh, shardings, plan_of(program, chosen), "", spec)
    return min(free, kept, key=_rank)


def _without_pipeline(step: Callable, args: tuple, mesh: dict[str, int]) -> str:
    """Return why a step cannot be a pipeline on this mesh, or nothing."""
    try:
        traced = trace(step, args, mesh)
    except (ArgumentValueError, ShardingError) as error:
        return f"excluded: {error.args[0].splitlines()[0]}"
    mapped = [e for e in all_eqns(traced.jaxpr) if e.primitive.name == "shard_map"]
    if any(PIPELINE in e.params["manual_axes"] for e in mapped):
        return ""
    return "excluded: the step is no pipeline; apply its layers by sagax.plan.pipeline(layer, x, params, microbatches=...)"


def _rank(c: Candidate) -> tuple[bool, float]:
    assert c.plan is not None
    return not c.plan.fits, c.plan.seconds


def _meshes(hardware: Hardware, axes: Sequence[str]) -> list[dict[str, int]]:
    """Return meshes to try: tensor and sequence within a node, FSDP within a node or over all, stages over nodes."""
    count, node = hardware.devices, hardware.chips_per_node
    inside = _divisors(node)
    stages = _divisors(hardware.nodes if hardware.nodes > 1 else node)
    found = []
    for pipeline, tensor, sequence in itertools.product(
        stages if PIPELINE in axes else [1],
        inside if "tensor" in axes else [1],
        inside if "sequence" in axes else [1],
    ):
        if (node // tensor) % sequence or count % (tensor * sequence * pipeline):
            continue
        rest = count // (tensor * sequence * pipeline)
        within = node // (tensor * sequence)
        for fsdp in sorted({1, within, rest}) if "fsdp" in axes else [1]:
            data = rest // fsdp
            if rest % fsdp or (data > 1 and "data" not in axes):
                continue
            sizes = {PIPELINE: pipeline, "data": data, "fsdp": fsdp}
            sizes |= {"sequence": sequence, "tensor": tensor}
            found.append({a: n for a, n in sizes.items() if n > 1} or {axes[0]: 1})
    return found


def _divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def _spec(leaf: Leaf, role: Role, mesh: dict[str, int]) -> list[Any]:
    """Return the entries of a PartitionSpec for an argument."""
    entries: list[list[str]] = [[] for _ in leaf.shape]
    if role.category == OTHER:
        rows = [a for a in ("data", "fsdp") if a in mesh]
        if leaf.shape and rows and leaf.shape[0] > 1:
            entries[0] = rows
        if len(leaf.shape) > 1 and "sequence" in mesh and leaf.shape[1] % mesh["sequence"] == 0:
            entries[1] = ["sequence"]
        return _entries(entries)
    if PIPELINE in mesh and role.layers and leaf.shape[min(role.layers)] % mesh[PIPELINE] == 0:
        entries[min(role.layers)] = [PIPELINE]
    if math.prod(leaf.shape) >= _SMALL:
        tensor = role.tensor
        if "tensor" in mesh and tensor is not None and leaf.shape[tensor] % mesh["tensor"] == 0:
            entries[tensor] = ["tensor"]
        if "fsdp" in mesh:
            fitting = [
                i
                for i, n in enumerate(leaf.shape)
                if not entries[i] and i not in role.layers and n % mesh["fsdp"] == 0
            ]
            if fitting:
                entries[max(fitting, key=lambda i: leaf.shape[i])] = ["fsdp"]
    return _entries(entries)


def _entries(entries: list[list[str]]) -> list[Any]:
    while entries and not entries[-1]:
        entries.pop()
    return [tuple(e) if len(e) > 1 else e[0] if e else None for e in entries]


def _excluded(
    leaves: Sequence[Leaf],
    roles: Sequence[Role],
    specs: Sequence[list],
    mesh: dict[str, int],
    hardware: Hardware,
) -> str:
    """Return why a mesh need not be partitioned, or nothing."""
    total = 0.0
    for leaf, role, spec in zip(leaves, roles, specs, strict=True):
        parts = 1
        for i, entry in enumerate(spec):
            names = entry if isinstance(entry, tuple) else (entry,) if entry else ()
            cut = math.prod([mesh[a] for a in names])
            if leaf.shape[i] % cut:
                return f"excluded: {leaf.name} has {leaf.shape[i]} rows, which {cut} devices do not divide"
            parts *= cut
        if role.category in (PARAMETERS, STATE, OTHER):
            total += math.prod(leaf.shape) * leaf.itemsize / parts
    if total > hardware.memory:
        return f"excluded: the arguments alone take {format_bytes(total)} of {format_bytes(hardware.memory)}"
    return ""


def _why(c: Candidate, best: Candidate) -> str:
    """Say why a candidate is not the best."""
    assert c.plan is not None and best.plan is not None
    if not c.plan.fits and best.plan.fits:
        largest = c.plan.memory.largest(1)[0]
        return (
            f"does not fit: {format_bytes(c.plan.memory.without_widening)}, of which "
            f"{largest.name} {format_bytes(largest.bytes)}"
        )
    mine, theirs = c.plan.timing.waits, best.plan.timing.waits
    worst = max(mine, key=lambda name: mine[name] - theirs[name])
    more = duration(mine[worst] - theirs[worst])
    found = [s for s in c.plan.timing.spans if s.event.collective is not None]
    text = f"{more} more of {worst}"
    if worst.startswith("links") and found:
        costly = max(found, key=lambda s: s.network if "between" in worst else s.link)
        one = costly.event.collective
        if one is not None:
            text += f": {one.kind} along {one.axis}, {format_bytes(one.total_bytes)} in a step"
    return text


def _constraints_code(best: Candidate) -> str:
    """Return the constraints that scans need as code, with their places."""
    if best.batch is None or best.plan is None:
        return ""
    places = [display_path(p.file) + f":{p.line}" for p in best.plan.program.constrained if p.file]
    where = ", ".join(places) or "the step"
    return (
        "\n\ndef keep_batch(x):\n"
        f'    """Apply to what these scans carry, first in their bodies, and to their results: {where}."""\n'
        f"    return sagax.lax.with_sharding_constraint(x, P({spec_text(_spec_axes(best.batch))}))\n"
    )


def _spec_axes(spec: PartitionSpec) -> list[tuple[str, ...]]:
    return [spec.axes(i) for i in range(len(spec))]


def _tree_code(tree: Any, indent: int = 0) -> str:
    """Return a tree of specs as code, a line for each entry of a dict."""
    inside, end = " " * (indent + 4), " " * indent
    if isinstance(tree, PartitionSpec):
        return f"P({', '.join(map(repr, tree))})"
    if isinstance(tree, dict):
        rows = [f"{inside}{k!r}: {_tree_code(v, indent + 4)},\n" for k, v in tree.items()]
        return "{\n" + "".join(rows) + end + "}"
    if type(tree) in (tuple, list):
        rows = [f"{inside}{_tree_code(v, indent + 4)},\n" for v in tree]
        return "(\n" + "".join(rows) + end + ")"
    return repr(tree)
