"""Repair options of vmap: names of axes, axes of outputs, arguments by keyword."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions
from sagax._autofix.repairs.source_file import Source, argument, keyword_value, parameters
from sagax._autofix.repairs.transform_options import (
    Application,
    drop_option,
    find_transform_call,
    set_option,
)

_NAMING = ("jax.vmap", "jax.pmap")


def name_mapped_axis(case: Case) -> Iterator[Candidate]:
    """Name the axis of a vmap as the collectives in it do, or use the name that it has."""
    said = re.search(r"unbound axis name: ([\w.]+)", case.facts.message)
    if said is None:
        return
    name = said[1]
    for rank, (source, call) in enumerate(_mapping_calls(case), 1):
        given = keyword_value(call, "axis_name") or argument(call, 3, "axis_name")
        if given is None:
            edits = tuple(set_option(Application(source, call), "axis_name", f'"{name}"'))
            title = f"name the mapped axis: axis_name='{name}'"
            yield Candidate("axis_name", title, edits, rank)
        elif isinstance(given, ast.Constant) and isinstance(given.value, str):
            title = f"name the mapped axis as it is used: '{name}'"
            yield Candidate("axis_name", title, (source.replace(given, f'"{name}"'),), rank)
            edits = [
                there.replace(node, f'"{given.value}"')
                for there in case.sources.values()
                for node in there.nodes(ast.Constant)
                if node.value == name and _is_passed_axis(there, node)
            ]
            title = f"use the name of the mapped axis: '{given.value}'"
            yield Candidate("axis_name", title, tuple(edits), rank + 1)


def use_axis_in_scope(case: Case) -> Iterator[Candidate]:
    """Use the name of an axis that there is, of a mapped function or of a mesh."""
    said = re.search(
        r"unbound axis name: ([\w.]+); the axes? in scope (?:is|are) (.+)", case.facts.message
    ) or re.search(r"axis: (\w+) of .* is not found in mesh: \(([^)]*)\)", case.facts.message)
    if said is None:
        return
    for source, node in case.located(reversed(case.facts.frames)):
        statement = source.statement(node)
        used = [n for n in source.nodes(ast.Constant, statement) if n.value == said[1]]
        if not used:
            continue
        for rank, other in enumerate(re.findall(r"'(\w+)'", said[2]), 1):
            edits = tuple(source.replace(n, f'"{other}"') for n in used)
            title = f"use the axis that there is: '{other}'"
            yield Candidate("axis_name", title, edits, rank)
        return


def _is_passed_axis(source: Source, node: ast.Constant) -> bool:
    call = source.parents.get(node)
    call = source.parents.get(call) if isinstance(call, ast.keyword) else call
    return isinstance(call, ast.Call) and source.meaning(call.func).startswith("jax.lax.")


def _mapping_calls(case: Case) -> Iterator[tuple[Source, ast.Call]]:
    """Yield the calls of vmap that the error went through, innermost first; else all."""
    found: dict[ast.Call, Source] = {}
    for source, node in case.located(reversed(case.facts.frames)):
        if isinstance(node, ast.Call) and (known := _mapping_call(case, source, node)) is not None:
            found.setdefault(known[1], known[0])
    if not found:
        found = {c: s for s in case.sources.values() for c in s.calls_of(*_NAMING)}
    yield from ((source, call) for call, source in found.items())


def _mapping_call(case: Case, source: Source, node: ast.Call) -> tuple[Source, ast.Call] | None:
    """Return the call of vmap whose result an expression calls."""
    called = node.func
    if isinstance(called, ast.Call) and source.meaning(called.func) in _NAMING:
        return source, called
    if isinstance(called, ast.Name):
        for there in case.sources.values():
            for value in there.assigned(called.id, there.tree):
                if isinstance(value, ast.Call):
                    for call in there.calls_of(*_NAMING, within=value):
                        return there, call
    return None


@at_expression
def change_output_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Put the mapped axis of an output where the output has one."""
    said = re.search(
        r"axis -?\d+ is out of bounds for result with (\d+) dimension", case.facts.message
    )
    found = find_transform_call(case, source, node)
    if said is None or found is None:
        return
    there, call = found
    given = keyword_value(call, "out_axes") or argument(call, 2, "out_axes")
    rank = int(said[1])
    entries = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    for entry in entries:
        if (
            not isinstance(entry, ast.Constant)
            or type(entry.value) is not int
            or entry.value < rank
        ):
            continue
        for axis in range(rank):
            title = f"stack the results along axis {axis}"
            if axis == 0 and entry is given and keyword_value(call, "out_axes") is not None:
                edits = drop_option(Application(there, call), "out_axes")
            else:
                edits = [there.replace(entry, str(axis))]
            yield Candidate("out_axes", title, tuple(edits), 1 + axis)


@at_expression
def pass_mapped_by_position(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass by position the arguments that `in_axes` counts: keywords are mapped over axis 0."""
    if "len(in_axes)" not in case.facts.message or not isinstance(node, ast.Call):
        return
    found = find_transform_call(case, source, node)
    named = {k.arg: k.value for k in node.keywords if k.arg is not None}
    if found is None or not named or not found[1].args or len(named) != len(node.keywords):
        return
    there, call = found
    for _, function in list(resolve_functions(case, there, call.args[0]))[:1]:
        wanted = [n for n in parameters(function) if n != "self"][len(node.args) :]
        order = [n for n in wanted if n in named]
        if len(order) != len(named) or order != wanted[: len(order)]:
            return
        given = [source.code(a) for a in node.args] + [source.code(named[n]) for n in order]
        text = f"{source.code(node.func)}({', '.join(given)})"
        title = "pass them by position: `in_axes` has no entries for keywords"
        yield Candidate("positional_argument", title, (source.replace(node, text),), 0)
