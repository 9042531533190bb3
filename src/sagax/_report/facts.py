"""Collect facts of compiled functions: times, causes, constants, source lines, stacks, memory."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sagax._report.costs as costs
from sagax._report.measured import UNKNOWN, Location, Profile
from sagax._src.api.compile_log import Compilation, Counter
from sagax._src.core import pretty_print
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.spans import (
    display_path,
    is_installed,
    is_sagax,
    span_at,
    user_positions,
)

_MIN_CONSTANT_BYTES = 1024  # smaller captured constants are not listed
_MAX_OPERATIONS = 40  # shown for one line
_MOST_FIT = 0.9  # of the measured time at lines of the text
_FLOPS_PER_BYTE = 8  # that a core computes while it moves a byte: 80 GFLOP/s beside 10 GB/s


@dataclass
class Line:
    """Describe a source line: its operations, and their costs in each run."""

    file: str
    number: int
    text: str
    operations: list[str] = field(default_factory=list)
    more: int = 0
    flops: float = 0.0
    moved: float = 0.0
    results: float = 0.0  # bytes of its results
    alive: float = 0.0  # the peak of bytes alive while it runs
    seconds: float | None = None  # measured for one run, over all threads

    @property
    def weight(self) -> float:
        """The estimated cost in bytes: what it moves, or what could be moved while it computes."""
        return max(self.moved, self.flops / _FLOPS_PER_BYTE)


@dataclass
class Frame:
    """A part of a flame graph: a function or a line on the stack, its measured seconds, and what it calls."""

    name: str
    seconds: float = 0.0
    called: dict[str, Frame] = field(default_factory=dict)

    def add(self, path: Sequence[str], seconds: float) -> None:
        """Add the seconds of a path of names below this frame."""
        here = self
        here.seconds += seconds
        for name in path:
            here = here.called.setdefault(name, Frame(name))
            here.seconds += seconds


@dataclass(frozen=True)
class Constant:
    """Describe a captured array."""

    kind: str
    size: float


@dataclass(frozen=True)
class FunctionFacts:
    """Describe a compiled function."""

    name: str
    place: str
    runs: int
    run_seconds: float
    compilations: Sequence[Compilation]
    causes: Sequence[str]
    times: int
    compile_seconds: float
    constants: Sequence[Constant]
    lines: Sequence[Line]
    peak: float
    alive: Sequence[float] = ()  # estimated bytes in use, from the first operation to the last
    flame: Frame | None = None  # of one run

    @property
    def total(self) -> float:
        return self.run_seconds + self.compile_seconds


def collect_facts(
    counters: Sequence[Counter], profiles: Mapping[int, Profile] | None = None
) -> list[FunctionFacts]:
    """Return the facts of all functions, the costliest first; `profiles` are by the ids of the counters."""
    found = [_function_facts(c, (profiles or {}).get(id(c))) for c in counters]
    return sorted(found, key=lambda f: f.total, reverse=True)


def _function_facts(counter: Counter, profile: Profile | None) -> FunctionFacts:
    programs = [c.jaxpr for c in counter.compilations if c.jaxpr is not None]
    last: ClosedJaxpr | None = programs[-1] if programs else None
    steps = [] if last is None else list(costs.execution_steps(last.jaxpr))
    locations = profile.by_location() if profile is not None and profile.runs else None
    if locations and counter.compilations[-1].loaded and not _fits(steps, locations):
        locations = None
    lines, flame = ([], None) if last is None else _source_lines(last.jaxpr, steps, locations)
    return FunctionFacts(
        name=counter.name,
        place=_shown_location(counter.location, lines),
        runs=counter.runs,
        run_seconds=counter.run_seconds,
        compilations=tuple(counter.compilations),
        causes=counter.causes(),
        times=counter.times,
        compile_seconds=counter.seconds.total,
        constants=[] if last is None else _constants(last),
        lines=lines,
        peak=max([line.alive for line in lines], default=0.0),
        alive=[step.alive for step in steps],
        flame=flame,
    )


def _shown_location(location: str, lines: Sequence[Line]) -> str:
    """Return where a function is defined; of sagax's own functions, the user's line that calls them."""
    file = os.path.abspath(location.rpartition(":")[0])
    called = next((line for line in lines if line.number), None)
    if called is None or not (is_sagax(file) or is_installed(file)):
        return location
    return f"called at {called.file}:{called.number}"


def _constants(closed: ClosedJaxpr) -> list[Constant]:
    found = [
        Constant(v.aval.str_short(short_dtypes=False), costs.size_in_bytes(v.aval))
        for v in closed.jaxpr.constvars
    ]
    return sorted([c for c in found if c.size >= _MIN_CONSTANT_BYTES], key=lambda c: -c.size)


def _fits(steps: Sequence[costs.Step], locations: Mapping[Location, float]) -> bool:
    """Return whether the locations are of this text: the disk cache finds executables of one with other lines, too."""
    known = {_stack(step.eqn)[0] for step in steps}
    fitting = sum(seconds for location, seconds in locations.items() if location in known)
    return fitting >= _MOST_FIT * sum(locations.values())


class _Origin:
    """The stack, the source line and the estimated work of operations that were written at one location."""

    __slots__ = ("line", "path", "weight")

    def __init__(self, line: tuple[str, int], path: tuple[str, ...]) -> None:
        self.line, self.path, self.weight = line, path, 0.0


def _source_lines(
    jaxpr: Jaxpr, steps: Sequence[costs.Step], locations: Mapping[Location, float] | None = None
) -> tuple[list[Line], Frame | None]:
    """Return the source lines of a jaxpr, the costliest first, and its flame graph.

    With `locations`, the measured seconds of the locations of operations, the order is by time.
    """
    found: dict[tuple[str, int], Line] = {}
    names: dict[Any, str] = {}
    origins: dict[Location, dict[Any, _Origin]] = defaultdict(dict)
    for v in (*jaxpr.constvars, *jaxpr.invars):
        _variable_text(v, names)
    for step in steps:
        span = _own_span(step.eqn.traceback)
        file, number = key = ("", 0) if span is None else (span.file, span.line)
        line = found.get(key)
        if line is None:
            text = span.source[0].strip() if span is not None and span.source else ""
            line = found[key] = Line(_shown_file(file), number, text)
        _add_step(line, step, names)
        if locations is not None:
            location, path = _stack(step.eqn)
            origin = origins[location].setdefault(path, _Origin(key, path))
            cost = costs.equation_cost(step.eqn).times(step.times)
            origin.weight += max(cost.bytes, cost.flops / _FLOPS_PER_BYTE) + 1.0
    if locations is None:
        return sorted(found.values(), key=lambda line: line.weight, reverse=True), None
    flame = Frame("")
    for line in found.values():
        line.seconds = 0.0
    for location, seconds in locations.items():
        for origin, part in _split(location, seconds, origins):
            line = found.setdefault(
                origin.line, Line(_shown_file(origin.line[0]), origin.line[1], "")
            )
            line.seconds = (line.seconds or 0.0) + part
            flame.add(origin.path, part)
    order = sorted(found.values(), key=lambda line: (line.seconds, line.weight), reverse=True)
    return order, flame if flame.seconds else None


def _shown_file(file: str) -> str:
    return display_path(os.path.abspath(file)) if file else "(not written by the user)"


def _split(
    location: Location, seconds: float, origins: Mapping[Location, Mapping[Any, _Origin]]
) -> list[tuple[_Origin, float]]:
    """Split the seconds of a location among the stacks that operations there have, by their estimated work."""
    known = list(origins.get(location, {}).values())
    if not known:  # loops count to their line: what the body has is there by itself
        known = [
            one
            for other, some in origins.items()
            if other[:2] == location[:2]
            for one in some.values()
        ]
    if not known or not location.file:
        primitive = location.primitive or "not known to the compiler"
        return [(_Origin((UNKNOWN.file, UNKNOWN.line), (primitive,)), seconds)]
    whole = sum(one.weight for one in known)
    return [(one, seconds * one.weight / whole) for one in known]


def _stack(eqn: Eqn) -> tuple[Location, tuple[str, ...]]:
    """Return the place of an equation in optimized modules, and its stack: outermost call first, its name last."""
    positions = user_positions(eqn.traceback)
    name = eqn.primitive.name
    if not positions:
        return Location("", 0, name), (name,)
    spans = [span_at(at) for at in positions]
    calls = [f"{s.function} ({os.path.basename(s.file)}:{s.line})" for s in reversed(spans)]
    return Location(spans[0].file, spans[0].line, name), (*calls, name)


def _own_span(traceback: Any) -> Span | None:
    """Return the innermost expression outside of installed packages: the line that calls the library."""
    positions = user_positions(traceback)
    own = [at for at in positions if not is_installed(at.code.co_filename)]
    return span_at((own or positions)[0]) if positions else None


def _add_step(line: Line, step: costs.Step, names: dict[Any, str]) -> None:
    cost = costs.equation_cost(step.eqn).times(step.times)
    text = _equation_text(step.eqn, names)
    if step.times != 1:
        text += f"   ({step.times:g} times)"
    if len(line.operations) < _MAX_OPERATIONS:
        line.operations.append(text)
    else:
        line.more += 1
    line.flops += cost.flops
    line.moved += cost.bytes
    line.results += step.times * sum(costs.size_in_bytes(v.aval) for v in step.eqn.outvars)
    line.alive = max(line.alive, step.alive)


def _equation_text(eqn: Eqn, names: dict[Any, str]) -> str:
    """Format an equation on one line, without long parameters."""
    ins = " ".join([_variable_text(v, names) for v in eqn.invars])
    outs = " ".join(
        [f"{_variable_text(v, names)}:{v.aval.str_short(short_dtypes=True)}" for v in eqn.outvars]
    )
    rule = eqn.primitive.show_rule
    params = rule(**eqn.params) if rule is not None else eqn.params
    inside = " ".join([f"{k}={pretty_print.param_text(v)}" for k, v in sorted(params.items())])
    inside = f"[{inside}]" if inside and len(inside) <= pretty_print.WIDTH else ""
    return f"{outs} = {eqn.primitive.name}{inside} {ins}".rstrip()


def _variable_text(v: Any, names: dict[Any, str]) -> str:
    if type(v) is Literal:
        return f"{pretty_print.literal_text(v.val)}:{v.aval.str_short(short_dtypes=True)}"
    if v not in names:
        names[v] = pretty_print.variable_name(len(names))
    return names[v]
