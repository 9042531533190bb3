"""What is known of the functions that a program compiled: time, causes, constants, source lines, memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sagax._report.costs as costs
from sagax._src.api.compile_log import Compilation, Counter
from sagax._src.core import pretty_print
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal
from sagax._src.diagnostics.spans import shown_path, user_span

__all__ = ["Constant", "FunctionFacts", "Line", "gather"]

_LARGE = 1024  # bytes from which on a captured constant is listed
_MOST_OPERATIONS = 40  # of one line that are shown


@dataclass
class Line:
    """A line of the source: the operations that it became, and what these cost at each run."""

    file: str
    number: int
    text: str
    operations: list[str] = field(default_factory=list)
    more: int = 0
    flops: float = 0.0
    moved: float = 0.0
    made: float = 0.0  # bytes of the values that it makes
    alive: float = 0.0  # the most bytes that were alive beside and with them


@dataclass(frozen=True)
class Constant:
    """An array that a function reads from outside."""

    kind: str
    size: float


@dataclass(frozen=True)
class FunctionFacts:
    """A function that was compiled."""

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

    @property
    def total(self) -> float:
        return self.run_seconds + self.compile_seconds


def gather(counters: Sequence[Counter]) -> list[FunctionFacts]:
    """The functions, the costliest first."""
    found = [_of(c) for c in counters]
    return sorted(found, key=lambda f: f.total, reverse=True)


def _of(counter: Counter) -> FunctionFacts:
    programs = [c.program for c in counter.compilations if c.program is not None]
    last: ClosedJaxpr | None = programs[-1] if programs else None
    lines = [] if last is None else _lines(last.jaxpr)
    return FunctionFacts(
        name=counter.name,
        place=counter.place,
        runs=counter.runs,
        run_seconds=counter.run_seconds,
        compilations=tuple(counter.compilations),
        causes=counter.causes(),
        times=counter.times,
        compile_seconds=counter.seconds.total,
        constants=[] if last is None else _constants(last),
        lines=lines,
        peak=max([line.alive for line in lines], default=0.0),
    )


def _constants(closed: ClosedJaxpr) -> list[Constant]:
    found = [
        Constant(v.aval.str_short(short_dtypes=False), costs.size_in_bytes(v.aval))
        for v in closed.jaxpr.constvars
    ]
    return sorted([c for c in found if c.size >= _LARGE], key=lambda c: -c.size)


def _lines(jaxpr: Jaxpr) -> list[Line]:
    """The source lines of a program in the order in which they first come up."""
    found: dict[tuple[str, int], Line] = {}
    names: dict[Any, str] = {}
    for v in (*jaxpr.constvars, *jaxpr.invars):
        _name(v, names)
    for step in costs.steps(jaxpr):
        span = user_span(step.eqn.traceback)
        file, number = ("", 0) if span is None else (span.file, span.line)
        line = found.get((file, number))
        if line is None:
            text = span.source[0].strip() if span is not None and span.source else ""
            shown = shown_path(os.path.abspath(file)) if file else "(not written by the user)"
            line = found[file, number] = Line(shown, number, text)
        _add(line, step, names)
    return list(found.values())


def _add(line: Line, step: costs.Step, names: dict[Any, str]) -> None:
    cost = costs.cost_of(step.eqn).times(step.times)
    text = _text(step.eqn, names)
    if step.times != 1:
        text += f"   ({step.times:g} times)"
    if len(line.operations) < _MOST_OPERATIONS:
        line.operations.append(text)
    else:
        line.more += 1
    line.flops += cost.flops
    line.moved += cost.bytes
    line.made += step.times * sum(costs.size_in_bytes(v.aval) for v in step.eqn.outvars)
    line.alive = max(line.alive, step.alive)


def _text(eqn: Eqn, names: dict[Any, str]) -> str:
    """An equation in one line, its parameters left out where they are long."""
    ins = " ".join([_name(v, names) for v in eqn.invars])
    outs = " ".join([f"{_name(v, names)}:{v.aval.str_short()}" for v in eqn.outvars])
    rule = eqn.primitive.show_rule
    params = rule(**eqn.params) if rule is not None else eqn.params
    inside = " ".join([f"{k}={pretty_print.param_text(v)}" for k, v in sorted(params.items())])
    inside = f"[{inside}]" if inside and len(inside) <= pretty_print.WIDTH else ""
    return f"{outs} = {eqn.primitive.name}{inside} {ins}".rstrip()


def _name(v: Any, names: dict[Any, str]) -> str:
    if type(v) is Literal:
        return f"{pretty_print.literal_text(v.val)}:{v.aval.str_short()}"
    if v not in names:
        names[v] = pretty_print.variable_name(len(names))
    return names[v]
