"""Where a traced value comes from: which arguments, through which expressions of the user's.

Works on whatever has these attributes, so that it needs nothing of what lies above it:

- a tracer: `._trace` and `.aval`; its trace: `.debug_info` (`.func_name`, `.traced_for`,
  `.arg_names`, and `.code`, what Python runs) and `.parent`;
- a staged tracer: `._var`; its trace: `.equations` (each with `.primitive.name`, `.invars`,
  `.outvars`, `.traceback`), `.invars`, `.invar_paths` (variable -> "params['w']", as the user names
  the argument), `.argument_links` (variable -> the value outside that it stands for) and
  `.captured` (id -> (variable, value outside));
- any other tracer: `.inner`, the value that it wraps; maybe `.tangent`, a staged tracer that depends
  on the same arguments; maybe `.sources`, an int whose bit i says that it depends on argument i.

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
_DEEPEST = 100  # wrappers around a value


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
    return hasattr(value, "_trace") and hasattr(value, "aval")


def provenance(tracer: Any) -> Provenance:
    """The arguments that a traced value depends on and the steps by which it came about."""
    return provenance_of_all([tracer])


def provenance_of_all(values: Iterable[Any]) -> Provenance:
    """As `provenance`, of several values together."""
    groups: list[_Group] = []
    linear: list[_Group] = []
    arguments: tuple[str, ...] = ()
    function = ""
    level: list[Any] = list(values)
    seen: set[int] = set()
    while level:  # from the innermost trace outwards
        inside = _look_at(level, seen)
        groups[:0] = [group for found in inside for group in found.groups]
        linear[:0] = [group for found in inside for group in found.linear]
        if not arguments:
            arguments = tuple(dict.fromkeys(path for found in inside for path in found.paths))
            if arguments:
                function = next(f.function for f in inside if f.paths)
        level = [value for found in inside for value in found.outside]
    return Provenance(arguments, function, _steps(groups or linear))


def trace_names(tracer: Any) -> tuple[str, ...]:
    """What was being traced when `tracer` was made, outermost first: "tracing `loss` for jit"."""
    names: list[str] = []
    trace = getattr(tracer, "_trace", None)
    while trace is not None:
        info = getattr(trace, "debug_info", None)
        function, reason = getattr(info, "func_name", ""), getattr(info, "traced_for", "")
        if function:
            names.append(f"tracing `{function}`" + (f" for {reason}" if reason else ""))
        trace = getattr(trace, "parent", None)
    return tuple(reversed(names))


def creation(tracer: Any) -> tuple[Any, str]:
    """Where a traced value was made: the stack, or the path of the argument it stands for."""
    argument = None
    for _ in range(_DEEPEST):
        if tracer is None:
            break
        trace: Any = getattr(tracer, "_trace", None)
        variable: Any = getattr(tracer, "_var", None)
        info = getattr(trace, "debug_info", None)
        tangent: Any = getattr(tracer, "tangent", None)
        if variable is None and hasattr(tangent, "_var"):
            trace, variable = tangent._trace, tangent._var
        if variable is not None and hasattr(trace, "equations"):
            for eqn in trace.equations:
                if variable in eqn.outvars:
                    return eqn.traceback, ""
            path = _input_paths(trace, info).get(variable, "")
            return None, path if argument is None else argument
        if argument is None:  # what a wrapper stands for, if it wraps an input, is its own argument
            names = _own_names(tracer) if hasattr(tracer, "_trace") else []
            argument = names[0] if len(names) == 1 else ""
        tracer = getattr(tracer, "inner", None)
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
    paths: list[str] = []
    outside: list[Any] = []
    groups: list[_Group] = []
    function: str = ""
    linear: list[_Group] = []  # of the tangents: the same expressions, in other operations


def _look_at(values: Iterable[Any], seen: set[int]) -> list[_Found]:
    """What the traces that these values belong to know of them."""
    staged: dict[int, tuple[Any, list[Any]]] = {}
    found: list[_Found] = []
    for value in values:
        if value is None or id(value) in seen or not hasattr(value, "_trace"):
            continue
        seen.add(id(value))
        trace = value._trace
        if _is_staged(value):
            staged.setdefault(id(trace), (trace, []))[1].append(value._var)
            continue
        outside = [value.inner] if getattr(value, "inner", None) is not None else []
        tangent: Any = getattr(value, "tangent", None)
        if _is_staged(tangent):
            of_tangent = _look_into(tangent._trace, [tangent._var], trace.debug_info)
            found.append(of_tangent._replace(
                outside=[*outside, *of_tangent.outside], groups=[], linear=of_tangent.groups
            ))  # fmt: skip
        else:
            info = getattr(trace, "debug_info", None)
            names = _own_names(value)
            found.append(_Found(names, outside, [], getattr(info, "func_name", "")))
    recorded = [_look_into(trace, vs, trace.debug_info) for trace, vs in staged.values()]
    return [*recorded, *found]


def _own_names(value: Any) -> list[str]:
    """The arguments of its own function that a tracer depends on: by `sources`, and those that are
    as they were outside, among what made the value that it wraps.
    """
    sources = getattr(value, "sources", 0)
    names = getattr(getattr(value._trace, "debug_info", None), "arg_names", ()) if sources else ()
    given = [_unwrapped(x) for x in getattr(value._trace, "arguments", ())]
    plain = {x._var: i for i, x in enumerate(given) if _is_staged(x)}
    inner = _unwrapped(value)
    if plain and _is_staged(inner):
        for variable in _needed(inner._trace.equations, [inner._var])[1]:
            if variable in plain:
                sources |= 1 << plain[variable]
    return [name for i, name in enumerate(names) if sources >> i & 1]


def _unwrapped(value: Any) -> Any:
    """What the wrappers of a value hold inside of all."""
    for _ in range(_DEEPEST):
        if _is_staged(value) or getattr(value, "inner", None) is None:
            break
        value = value.inner
    return value


def _is_staged(value: Any) -> bool:
    return hasattr(value, "_var") and hasattr(value._trace, "equations")


def _needed(equations: list[Any], variables: list[Any]) -> tuple[set[int], dict[Any, None]]:
    """The equations that make some variables, and all variables that go into them, in order."""
    made_by = {out: i for i, eqn in enumerate(equations) for out in eqn.outvars}
    needed: set[int] = set()
    met: dict[Any, None] = {}
    todo = list(variables)
    while todo:
        atom = todo.pop()
        if hasattr(atom, "val"):  # a literal; it need not be hashable
            continue
        met[atom] = None
        at = made_by.get(atom)
        if at is not None and at not in needed:
            needed.add(at)
            todo.extend(equations[at].invars)
    return needed, met


def _input_paths(trace: Any, info: Any) -> dict[Any, str]:
    if trace.invar_paths:
        return trace.invar_paths
    return dict(zip(getattr(trace, "invars", ()), getattr(info, "arg_names", ()), strict=False))


def _look_into(trace: Any, variables: list[Any], info: Any) -> _Found:
    equations = trace.equations
    needed, inputs = _needed(equations, variables)
    links = dict(trace.argument_links)
    links.update(getattr(trace, "captured", {}).values())
    names = _input_paths(trace, info)
    paths = [path for atom, path in names.items() if atom in inputs]
    outside = [links[atom] for atom in inputs if atom in links]
    origins = {atom for atom in inputs if atom in names or is_tracer(links.get(atom))}
    groups = _groups([equations[i] for i in sorted(needed)], origins)
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
