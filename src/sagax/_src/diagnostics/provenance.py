"""Where a traced value comes from: which arguments, through which expressions of the user's.

Works on whatever has these attributes, so that it needs nothing of what lies above it:

- a staged tracer: `.var` and `.trace`; its trace: `.equations` (each with `.primitive.name`,
  `.invars`, `.outvars`, `.traceback`), `.invar_paths` (variable -> "params['w']", as the user names
  the argument), `.argument_links` (variable -> the value outside that it stands for), `.captured`
  (id -> (variable, value outside)) and `.debug_info` (`.func_name`, `.traced_for`);
- any other tracer: `.inner`, the value that it wraps.

Nothing here runs until somebody looks at an error; then it is linear in the size of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from sagax._src.diagnostics.model import Step, type_text
from sagax._src.diagnostics.spans import Place, span_at, user_place

__all__ = ["Provenance", "creation", "is_tracer", "provenance", "provenance_of_all", "trace_names"]

_MOST_STEPS = 5


class Provenance(NamedTuple):
    """What is known about where a value comes from.

    `arguments` are those of the innermost traced function that has any among the value's origins;
    `function` is that function's name; `steps` run from the arguments to the value.
    """

    arguments: tuple[str, ...] = ()
    function: str = ""
    steps: tuple[Step, ...] = ()


def is_tracer(value: object) -> bool:
    """Whether `value` is traced, by the protocol above."""
    return hasattr(value, "trace") and hasattr(value, "aval")


def provenance(tracer: Any) -> Provenance:
    """The arguments that a traced value depends on and the steps by which it came about."""
    return provenance_of_all([tracer])


def provenance_of_all(values: Iterable[Any]) -> Provenance:
    """As `provenance`, of several values together."""
    groups: list[_Group] = []
    arguments: tuple[str, ...] = ()
    function = ""
    level = _staged(values)
    while level:  # from the innermost trace outwards
        inside = [_look_into(trace, variables) for trace, variables in level]
        groups[:0] = [group for found in inside for group in found.groups]
        if not arguments:
            arguments = tuple(dict.fromkeys(path for found in inside for path in found.paths))
            if arguments:
                function = next(f.function for f in inside if f.paths)
        level = _staged(value for found in inside for value in found.outside)
    return Provenance(arguments, function, _steps(groups))


def trace_names(tracer: Any) -> tuple[str, ...]:
    """What was being traced when `tracer` was made, outermost first: "tracing `loss` for jit"."""
    names: list[str] = []
    trace = getattr(tracer, "trace", None)
    while trace is not None:
        info = getattr(trace, "debug_info", None)
        function, reason = getattr(info, "func_name", ""), getattr(info, "traced_for", "")
        if function:
            names.append(f"tracing `{function}`" + (f" for {reason}" if reason else ""))
        trace = getattr(trace, "parent", None)
    return tuple(reversed(names))


def creation(tracer: Any) -> tuple[Any, str]:
    """Where a traced value was made: the stack, or the path of the argument it stands for."""
    for trace, variables in _staged([tracer]):
        for eqn in trace.equations:
            if variables[0] in eqn.outvars:
                return eqn.traceback, ""
        return None, trace.invar_paths.get(variables[0], "")
    return None, ""


# --- one trace ---------------------------------------------------------------------------------


class _Group:
    """The equations that came from one instruction of the user's."""

    __slots__ = ("names", "place", "result", "runs")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.names: Counter[str] = Counter()
        self.runs = 0
        self.result: Any = None

    @property
    def times(self) -> int:
        # A loop comes back to the instruction from others, or consists of it alone.
        return self.runs if self.runs > 1 else min(self.names.values())


class _Found(NamedTuple):
    paths: list[str]
    outside: list[Any]
    groups: list[_Group]
    function: str


def _staged(values: Iterable[Any]) -> list[tuple[Any, list[Any]]]:
    """The staged variables inside of `values`, by their trace."""
    found: dict[int, tuple[Any, list[Any]]] = {}
    seen: set[int] = set()
    for value in values:
        while value is not None and id(value) not in seen:
            seen.add(id(value))
            trace = getattr(value, "trace", None)
            if hasattr(value, "var") and hasattr(trace, "equations"):
                found.setdefault(id(trace), (trace, []))[1].append(value.var)
                break
            value = getattr(value, "inner", None)
    return list(found.values())


def _look_into(trace: Any, variables: list[Any]) -> _Found:
    equations = trace.equations
    made_by = {out: i for i, eqn in enumerate(equations) for out in eqn.outvars}
    needed: set[int] = set()
    inputs: dict[Any, None] = {}  # a set that keeps the order
    todo = list(variables)
    while todo:
        atom = todo.pop()
        if hasattr(atom, "val"):  # a literal; it need not be hashable
            continue
        at = made_by.get(atom)
        if at is None:
            inputs[atom] = None
        elif at not in needed:
            needed.add(at)
            todo.extend(equations[at].invars)
    links = dict(trace.argument_links)
    links.update(getattr(trace, "captured", {}).values())
    paths = [path for atom, path in trace.invar_paths.items() if atom in inputs]
    outside = [links[atom] for atom in inputs if atom in links]
    origins = {atom for atom in inputs if atom in trace.invar_paths or is_tracer(links.get(atom))}
    groups = _groups([equations[i] for i in sorted(needed)], origins)
    info = getattr(trace, "debug_info", None)
    return _Found(paths, outside, groups, getattr(info, "func_name", ""))


def _groups(equations: list[Any], origins: set[Any]) -> list[_Group]:
    """The equations by the user's instruction; those that no argument reaches are left out."""
    reached = set(origins)
    groups: dict[tuple[int, int], _Group] = {}
    before = None
    for eqn in equations:
        if origins:
            if not any(not hasattr(atom, "val") and atom in reached for atom in eqn.invars):
                continue
            reached.update(eqn.outvars)
        place = user_place(eqn.traceback)
        if place is None:
            continue
        key = id(place.code), place.offset  # to hash a code object is to read all of it
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group(place)
        group.runs += before is not group
        before = group
        group.names[eqn.primitive.name] += 1
        group.result = eqn.outvars[-1]
    return list(groups.values())


# --- from groups to steps ----------------------------------------------------------------------


def _steps(groups: list[_Group]) -> tuple[Step, ...]:
    """At most five: the first, which touches an argument, and the last, which make the value."""
    # Parts of an expression merge into the whole, so look at a few more than are shown.
    if len(groups) > 40:
        groups = [*groups[:8], *groups[-32:]]
    steps: list[Step] = []
    for group in groups:
        span = span_at(group.place)
        what, times = ", ".join(group.names), group.times
        while steps and steps[-1].times == times and span.contains(steps[-1].span):
            names = dict.fromkeys([*steps.pop().what.split(", "), *what.split(", ")])
            what = ", ".join(names)
        steps.append(Step(span, what, type_text(group.result), times))
    if len(steps) > _MOST_STEPS:
        steps = [steps[0], *steps[len(steps) - _MOST_STEPS + 1 :]]
    return tuple(steps)
