"""Repair containers: entries that one tree lacks, entries that are no arrays, comparisons of trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression, base_name
from sagax._autofix.repairs.dataflow import path_keys, reaching_definitions
from sagax._autofix.repairs.source_file import (
    PRIMARIES,
    Function,
    Source,
    argument,
    first_statement,
    keyword_value,
    stores,
)
from sagax._autofix.repairs.structures import add_item, keys_that_differ
from sagax._autofix.repairs.transform_options import arguments_passed
from sagax._autofix.repairs.types import BODY_POSITION, INIT_POSITION, body_outputs, find_loop_call

_TREE_MAPS = ("jax.tree.map", "jax.tree_util.tree_map")


@at_expression
def map_common_entries(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Map the entries that two dicts have in common, and keep the others."""
    keys, owner = keys_that_differ(case.facts.message)
    if "does not have the structure of tree" not in case.facts.message or not keys:
        return
    for call in source.calls_of(*_TREE_MAPS, within=source.statement(node)):
        if len(call.args) != 3:
            continue
        tree, rest = call.args[1:]
        if not isinstance(tree, PRIMARIES) or not isinstance(rest, PRIMARIES):
            continue
        kept, other = source.code(tree), source.code(rest)
        name = source.fresh("name", node)
        if owner.startswith("tree"):
            part = f"{{{name}: {kept}[{name}] for {name} in {other}}}"
            mapped = substitute(source, call, {tree: part})
            text = f"{{**{kept}, **{mapped}}}"
            title = f"map the entries that `{other}` has; {', '.join(keys)} stays as it is"
            edit = source.replace(call, text)
        else:
            part = f"{{{name}: {other}[{name}] for {name} in {kept}}}"
            title = f"map the entries that `{kept}` has, without {', '.join(keys)}"
            edit = source.replace(rest, part)
        yield Candidate("tree_structure", title, (edit,), 1, assumes=True)


def start_with_entry(case: Case) -> Iterator[Candidate]:
    """Start a loop with the entries that its body adds to a dict: `metrics.get("best", inf)`."""
    message = case.facts.message
    keys, _ = keys_that_differ(message)
    if "carry input and carry output must have the same pytree" not in message or not keys:
        return
    found = find_loop_call(case)
    path = re.search(r"the carry input((?:\[[^\]]*\]|\.\w+)*) is a dict", message)
    if found is None or path is None or "only in the carry output" not in message:
        return
    source, call = found
    name = source.meaning(call.func).rpartition(".")[2]
    init = argument(call, INIT_POSITION[name], "init") or keyword_value(call, "init_val")
    body = argument(call, BODY_POSITION[name], "f")
    if init is None or body is None:
        return
    functions = {
        function: there
        for there, value in body_outputs(case, source, body)
        if (function := there.function(value)) is not None
    }
    defaults = {key: _default_of(functions, key) for key in keys}
    if any(value is None for value in defaults.values()):
        return
    for start in reaching_definitions(case, source, init, path_keys(path[1])):
        if start.rest or not isinstance(start.node, ast.Dict):
            continue
        items = ", ".join(f"{key}: {value}" for key, value in defaults.items())
        key, _, rest = items.partition(": ")
        text = add_item(start.source, start.node, key, rest)
        title = f"start with {', '.join(keys)}, which the body adds: a carry keeps its entries"
        statement = start.source.statement(start.node)
        changed = tuple(stores(statement)) if start.source.function(statement) is None else ()
        edits = (start.source.replace(start.node, text),)
        yield Candidate("carry_value", title, edits, 1, dropped=changed)


def _default_of(functions: dict[Function, Source], key: str) -> str | None:
    """Return the default that a body gives for an entry, as in `metrics.get("best", 0.0)`."""
    for function, source in functions.items():
        for call in source.nodes(ast.Call, function):
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in (
                "get",
                "setdefault",
            ):
                continue
            if len(call.args) == 2 and isinstance(call.args[0], ast.Constant):
                if repr(call.args[0].value) == key:
                    return source.code(call.args[1])
    return None


# --- entries that are no arrays ------------------------------------------------------------------


@at_expression
def leave_out_entry(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Leave out an entry of a dict that is no array where the dict is passed."""
    path = case.facts.data.get("argument", "")
    keys = path_keys(path)
    if "NotAnArrayError" not in case.facts.classes or len(keys) != 1 or keys[0].startswith("."):
        return
    key = keys[0].replace("'", '"')
    for call in source.nodes(ast.Call, node):
        value = arguments_passed(case, source, call).get(base_name(path))
        if not isinstance(value, PRIMARIES) or _is_entry_read(case, keys[0], base_name(path)):
            continue
        one, other = source.fresh("name", node), source.fresh("value", node)
        text = source.code(value)
        passed = f"{{{one}: {other} for {one}, {other} in {text}.items() if {one} != {key}}}"
        title = f"leave out {keys[0]}, which is no array, where the dict is passed"
        yield Candidate("drop_entry", title, (source.replace(value, passed),), 1)
        return


def _is_entry_read(case: Case, key: str, name: str) -> bool:
    """Return whether the function being traced reads an entry of its argument."""
    for called, _ in case.facts.transforms[-1:]:
        for source, function in case.definition(called):
            for item in source.nodes(ast.Subscript, function):
                if getattr(item.value, "id", "") == name and isinstance(item.slice, ast.Constant):
                    if repr(item.slice.value) == key:
                        return True
    return False


# --- comparisons of objects ----------------------------------------------------------------------


@at_expression
def compare_leaves(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compare objects of arrays by all of their arrays: `a == b` of registered dataclasses."""
    if "TracerBoolConversionError" not in case.facts.classes or not isinstance(node, ast.expr):
        return
    for compare in source.nodes(ast.Compare, node):
        if len(compare.ops) != 1 or not isinstance(compare.ops[0], (ast.Eq, ast.NotEq)):
            continue
        sides = [compare.left, compare.comparators[0]]
        kinds = {m.kind for side in sides for m in case.measure(source, side)}
        if not kinds or not all(_is_dataclass(case, kind) for kind in kinds):
            continue
        numpy, imports = source.spell("jax.numpy")
        ravel, more = source.spell("jax.flatten_util.ravel_pytree")
        if more:
            more = [source.import_line(f"from {source.package}.flatten_util import ravel_pytree")]
            ravel = "ravel_pytree"
        values = ", ".join(f"{ravel}({source.code(side)})[0]" for side in sides)
        text = f"{numpy}.array_equal({values})"
        text = f"~{text}" if isinstance(compare.ops[0], ast.NotEq) else text
        title = "compare all arrays of both: `==` of objects asks for the truth of each"
        yield Candidate(
            "compare_leaves", title, (source.replace(compare, text), *imports, *more), 0
        )


def _is_dataclass(case: Case, name: str) -> bool:
    return any(
        any("dataclass" in source.code(d) for d in cls.decorator_list)
        for source in case.sources.values()
        for cls in source.nodes(ast.ClassDef)
        if cls.name == name
    )


# --- defaults that are kept ----------------------------------------------------------------------


def make_default_fresh(case: Case) -> Iterator[Candidate]:
    """Make a new list or dict in each call, in place of a default that all calls share."""
    notes = " ".join(case.facts.diagnostic.notes)
    said = re.search(r"kept in `(\w+)[^`]*`, the default of an argument of `([\w.<>]+)`", notes)
    if said is None:
        return
    for source, function in case.definition(said[2]):
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        pairs = list(
            zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)
        )
        pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
        for arg, default in pairs:
            if arg.arg != said[1] or isinstance(default, ast.Constant):
                continue
            first = first_statement(function)
            indent = source.indent(first)
            text = f"{indent}{arg.arg} = {source.code(default)} if {arg.arg} is None else {arg.arg}"
            edits = (
                source.replace(default, "None"),
                source.insert_above(source.first_line(first), text),
            )
            title = f"make a new `{arg.arg}` in each call: a default is shared by all calls"
            yield Candidate("fresh_default", title, edits, -1)
