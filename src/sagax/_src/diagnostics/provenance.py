"""Trace a value back to arguments, through the user's expressions.

Values are read through these attributes, so that the module imports nothing above it:

- a tracer: `._trace` and `.aval`; its trace: `.debug_info` (`.func_name`, `.traced_for`,
  `.arg_names`, and `.code`, what Python runs) and `.parent`;
- a staged tracer: `._var`; its trace: `.equations` (each with `.primitive.name`, `.invars`,
  `.outvars`, `.traceback`), `.invars`, `.invar_paths` (variable -> "params['w']", as the user names
  the argument), `.argument_links` (variable -> the value outside that it stands for) and
  `.captured` (id -> (variable, value outside));
- any other tracer: `.inner`, the value that it wraps; optionally `.tangent`, a staged tracer that
  depends on the same arguments, and `.sources`, an int whose bit i marks dependence on argument i.

This code runs only when an error is displayed, in time linear in the size of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from sagax._src.diagnostics.model import Step, type_text
from sagax._src.diagnostics.spans import CodePosition, span_at, user_position

_MAX_STEPS = 5
_MAX_WRAPPERS = 100  # wrappers around a value


class Provenance(NamedTuple):
    """Hold the origin of a value.

    `arguments` belong to the innermost traced function with arguments among the origins, `function` is
    its name, and `steps` run from the arguments to the value.
    """

    arguments: tuple[str, ...] = ()
    function: str = ""
    steps: tuple[Step, ...] = ()


def is_tracer(value: object) -> bool:
    """Return whether `value` is a tracer, by the protocol above."""
    return hasattr(value, "_trace") and hasattr(value, "aval")


def provenance(tracer: Any) -> Provenance:
    """Return the arguments that a tracer depends on, and the steps that computed it."""
    return provenance_of_all([tracer])


def provenance_of_all(values: Iterable[Any]) -> Provenance:
    """Return the provenance of several values together."""
    groups: list[_EquationGroup] = []
    linear: list[_EquationGroup] = []
    arguments: tuple[str, ...] = ()
    function = ""
    level: list[Any] = list(values)
    seen: set[int] = set()
    while level:  # from the innermost trace outwards
        inside = _inspect_values(level, seen)
        groups[:0] = [group for found in inside for group in found.groups]
        linear[:0] = [group for found in inside for group in found.linear]
        if not arguments:
            arguments = tuple(dict.fromkeys(path for found in inside for path in found.paths))
            if arguments:
                function = next(f.function for f in inside if f.paths)
        level = [value for found in inside for value in found.outside]
    return Provenance(arguments, function, _select_steps(groups or linear))


def trace_context(tracer: Any) -> tuple[str, ...]:
    """Return the traces that `tracer` belongs to, outermost first: "tracing `loss` for jit"."""
    names: list[str] = []
    trace = getattr(tracer, "_trace", None)
    while trace is not None:
        info = getattr(trace, "debug_info", None)
        function, reason = getattr(info, "func_name", ""), getattr(info, "traced_for", "")
        if function:
            names.append(f"tracing `{function}`" + (f" for {reason}" if reason else ""))
        trace = getattr(trace, "parent", None)
    return tuple(reversed(names))


def find_creation(tracer: Any) -> tuple[Any, str]:
    """Return the stack that created a tracer, or the path of the argument that it is."""
    argument = None
    for _ in range(_MAX_WRAPPERS):
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
            path = input_paths(trace, info).get(variable, "")
            return None, path if argument is None else argument
        if argument is None:  # a wrapper of an input is an argument of its own function
            names = _argument_names(tracer) if hasattr(tracer, "_trace") else []
            argument = names[0] if len(names) == 1 else ""
        tracer = getattr(tracer, "inner", None)
    return None, ""


# --- one trace ---------------------------------------------------------------------------------


class _EquationGroup:
    """Group the equations of one user instruction."""

    __slots__ = ("names", "position", "result", "runs")

    def __init__(self, position: CodePosition) -> None:
        self.position = position
        self.names: Counter[str] = Counter()
        self.runs = 0
        self.result: Any = None

    @property
    def times(self) -> int:
        # A loop returns to the instruction from others, or consists of it alone.
        return self.runs if self.runs > 1 else min(self.names.values())


class _TraceOrigins(NamedTuple):
    paths: list[str] = []
    outside: list[Any] = []
    groups: list[_EquationGroup] = []
    function: str = ""
    linear: list[_EquationGroup] = []  # of the tangents: the same expressions, other operations


def _inspect_values(values: Iterable[Any], seen: set[int]) -> list[_TraceOrigins]:
    """Collect the origins of values from their traces."""
    staged: dict[int, tuple[Any, list[Any]]] = {}
    found: list[_TraceOrigins] = []
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
            origins = _inspect_trace(tangent._trace, [tangent._var], trace.debug_info)
            found.append(origins._replace(
                outside=[*outside, *origins.outside], groups=[], linear=origins.groups
            ))  # fmt: skip
        else:
            info = getattr(trace, "debug_info", None)
            names = _argument_names(value)
            found.append(_TraceOrigins(names, outside, [], getattr(info, "func_name", "")))
    recorded = [_inspect_trace(trace, vs, trace.debug_info) for trace, vs in staged.values()]
    return [*recorded, *found]


def _argument_names(value: Any) -> list[str]:
    """Return the arguments of its function that a tracer depends on.

    They are those in `sources`, and arguments that its trace does not wrap.
    """
    sources = getattr(value, "sources", 0)
    names = getattr(getattr(value._trace, "debug_info", None), "arg_names", ()) if sources else ()
    given = [_unwrap(x) for x in getattr(value._trace, "arguments", ())]
    plain = {x._var: i for i, x in enumerate(given) if _is_staged(x)}
    inner = _unwrap(value)
    if plain and _is_staged(inner):
        for variable in _dependencies(inner._trace.equations, [inner._var])[1]:
            if variable in plain:
                sources |= 1 << plain[variable]
    return [name for i, name in enumerate(names) if sources >> i & 1]


def _unwrap(value: Any) -> Any:
    """Return the innermost value in nested wrappers."""
    for _ in range(_MAX_WRAPPERS):
        if _is_staged(value) or getattr(value, "inner", None) is None:
            break
        value = value.inner
    return value


def _is_staged(value: Any) -> bool:
    return hasattr(value, "_var") and hasattr(value._trace, "equations")


def _dependencies(equations: list[Any], variables: list[Any]) -> tuple[set[int], dict[Any, None]]:
    """Return the equations that some variables depend on, and all their variables, in order."""
    defined_by = {out: i for i, eqn in enumerate(equations) for out in eqn.outvars}
    needed: set[int] = set()
    visited: dict[Any, None] = {}
    todo = list(variables)
    while todo:
        atom = todo.pop()
        if hasattr(atom, "val"):  # a literal; it need not be hashable
            continue
        visited[atom] = None
        at = defined_by.get(atom)
        if at is not None and at not in needed:
            needed.add(at)
            todo.extend(equations[at].invars)
    return needed, visited


def input_paths(trace: Any, info: Any) -> dict[Any, str]:
    """Return the names of the inputs of a trace that records, by variable."""
    if trace.invar_paths:
        return trace.invar_paths
    return dict(zip(getattr(trace, "invars", ()), getattr(info, "arg_names", ()), strict=False))


def _inspect_trace(trace: Any, variables: list[Any], info: Any) -> _TraceOrigins:
    equations = trace.equations
    needed, inputs = _dependencies(equations, variables)
    links = dict(trace.argument_links)
    links.update(getattr(trace, "captured", {}).values())
    names = input_paths(trace, info)
    paths = [path for atom, path in names.items() if atom in inputs]
    outside = [links[atom] for atom in inputs if atom in links]
    origins = {atom for atom in inputs if atom in names or is_tracer(links.get(atom))}
    groups = _group_equations([equations[i] for i in sorted(needed)], origins)
    return _TraceOrigins(paths, outside, groups, getattr(info, "func_name", ""))


def _group_equations(equations: list[Any], origins: set[Any]) -> list[_EquationGroup]:
    """Group equations by the user's instruction, without those that no argument reaches."""
    reached = set(origins)
    groups: dict[tuple[int, int], _EquationGroup] = {}
    before = None
    for eqn in equations:
        if origins:
            if not any(not hasattr(atom, "val") and atom in reached for atom in eqn.invars):
                continue
            reached.update(eqn.outvars)
        position = user_position(eqn.traceback)
        if position is None:
            continue
        key = id(position.code), position.offset  # hashing a code object reads all of it
        group = groups.get(key)
        if group is None:
            group = groups[key] = _EquationGroup(position)
        group.runs += before is not group
        before = group
        group.names[eqn.primitive.name] += 1
        group.result = eqn.outvars[-1]
    return list(groups.values())


# --- steps ---------------------------------------------------------------------------------------


def _select_steps(groups: list[_EquationGroup]) -> tuple[Step, ...]:
    """Return at most five steps: the first, which reads an argument, and the last."""
    # Parts of an expression merge into the whole, so take a few more than are shown.
    if len(groups) > 40:
        groups = [*groups[:8], *groups[-32:]]
    steps: list[Step] = []
    for group in groups:
        span = span_at(group.position)
        names, times = dict.fromkeys(group.names), group.times
        while steps and steps[-1].times == times and span.contains(steps[-1].span):
            names = dict.fromkeys([*steps.pop().what.split(", "), *names])
        steps.append(Step(span, ", ".join(names), type_text(group.result), times))
    if len(steps) > _MAX_STEPS:
        steps = [steps[0], *steps[len(steps) - _MAX_STEPS + 1 :]]
    return tuple(steps)
