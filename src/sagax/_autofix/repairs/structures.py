"""Repair structures that differ: entries of dicts, first carries, sizes of exported programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import reaching_definitions
from sagax._autofix.repairs.source_file import Source, argument, keyword_value, parameters
from sagax._autofix.repairs.transform_options import find_transform_call
from sagax._autofix.repairs.types import (
    BODY_POSITION,
    INIT_POSITION,
    body_outputs,
    branch_outputs,
    find_loop_call,
)


def add_item(source: Source, display: ast.Dict, key: str, value: str) -> str:
    """Return the text of a dict display with one more item."""
    text = source.code(display)
    if '"' in text:
        key, value = (part.replace("'", '"') for part in (key, value))
    head = text[:-1].rstrip().rstrip(",")
    return f"{head}{'' if head.endswith('{') else ', '}{key}: {value}}}"


def drop_item(source: Source, display: ast.Dict, key: str) -> str:
    """Return the text of a dict display without one of its items."""
    items = [
        f"{source.code(k)}: {source.code(v)}" if k is not None else f"**{source.code(v)}"
        for k, v in zip(display.keys, display.values, strict=True)
        if not (isinstance(k, ast.Constant) and repr(k.value) == key)
    ]
    return "{" + ", ".join(items) + "}"


def keys_that_differ(message: str) -> tuple[list[str], str]:
    """Return the keys that one side lacks, and the name of the other side."""
    said = re.search(
        r"The keys differ: ((?:'[^']*'(?:, )?)+) only in ((?:the carry )?\S+?)\.?$", message, re.M
    )
    return (re.findall(r"'[^']*'", said[1]), said[2]) if said else ([], "")


@at_expression
def complete_axes_of_dict(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Complete `in_axes` for a dict with an axis for each key; drop keys that the dict lacks."""
    if "tree prefix" not in case.facts.message:
        return
    keys, owner = keys_that_differ(case.facts.message)
    found = find_transform_call(case, source, node)
    at = re.search(r"in_axes\[(\d+)\]", case.facts.message)
    if not keys or found is None:
        return
    there, call = found
    given = keyword_value(call, "in_axes")
    if given is None:
        return
    path = (at[1],) if at is not None else ()
    for definition in reaching_definitions(case, there, given, path):
        if definition.rest or not isinstance(definition.node, ast.Dict):
            continue
        text, display = definition.source.code(definition.node), definition.node
        if owner.startswith("in_axes"):
            for key in keys:
                text = drop_item(definition.source, display, key)
            title = f"leave out {', '.join(keys)}: the argument has no such entry"
            edit = definition.source.replace(display, text)
            yield Candidate("in_axes", title, (edit,), 1)
            continue
        for rank, axis in enumerate(("0", "None"), 1):
            items = ", ".join(f"{key}: {axis}" for key in keys)
            key, _, value = items.partition(": ")
            text = add_item(definition.source, display, key, value)
            word = "mapped over axis 0" if axis == "0" else "not mapped"
            title = f"give {', '.join(keys)} an axis: {word}"
            edit = definition.source.replace(display, text)
            yield Candidate("in_axes", title, (edit,), rank)


def complete_branch(case: Case) -> Iterator[Candidate]:
    """Return from a branch the entries of a dict that the other branch returns."""
    message = case.facts.message
    if "branch outputs must have the same pytree" not in message:
        return
    keys, owner = keys_that_differ(message)
    if not keys or not owner:
        return
    for source, value in [*branch_outputs(case), *_label_returns(case)]:
        if not isinstance(value, ast.Dict):
            continue
        present = {repr(k.value) for k in value.keys if isinstance(k, ast.Constant)}
        if set(keys) & present:
            continue
        function = source.function(value)
        known = parameters(function) if function is not None else []
        for name in known:
            items = ", ".join(f"{key}: {name}[{key}]" for key in keys)
            key, _, rest = items.partition(": ")
            text = add_item(source, value, key, rest)
            title = f"return {', '.join(keys)} as well, as it was: both branches give one structure"
            yield Candidate("match_tree", title, (source.replace(value, text),), 1)
        return


def _label_returns(case: Case) -> Iterator[tuple[Source, ast.expr]]:
    for _, source, node in case.label_nodes:
        found = node.value if isinstance(node, ast.Return) else node
        if isinstance(found, ast.expr):
            yield source, found


def start_carry(case: Case) -> Iterator[Candidate]:
    """Start a loop with zeros of the type that its body returns, in place of None."""
    message = case.facts.message
    if "same pytree structure" not in message or "carry input" not in message:
        return
    found = find_loop_call(case)
    if found is None:
        return
    source, call = found
    name = source.meaning(call.func).rpartition(".")[2]
    init = argument(call, INIT_POSITION[name], "init")
    body = argument(call, BODY_POSITION[name], "f")
    if init is None or body is None:
        return
    for defining, value in body_outputs(case, source, body):
        carry: ast.expr = value
        if name == "scan" and isinstance(value, ast.Tuple) and value.elts:
            carry = value.elts[0]
        for start in reaching_definitions(case, source, init):
            yield from _start_parts(case, start.source, start.node, defining, carry)


def _start_parts(
    case: Case, source: Source, start: ast.expr, defining: Source, carry: ast.expr
) -> Iterator[Candidate]:
    pairs = [(start, carry)]
    if isinstance(start, (ast.Tuple, ast.List)) and isinstance(carry, (ast.Tuple, ast.List)):
        pairs = list(zip(start.elts, carry.elts, strict=False))
    elif isinstance(start, ast.Dict) and isinstance(carry, ast.Dict):
        pairs = list(zip(start.values, carry.values, strict=False))
    for first, later in pairs:
        if not (isinstance(first, ast.Constant) and first.value is None):
            continue
        types = [m for m in case.measure(defining, later) if m.shape is not None]
        if not types:
            continue
        numpy, imports = source.spell("jax.numpy")
        dtype = f", {numpy}.{types[-1].dtype}" if types[-1].dtype not in ("", "float32") else ""
        text = f"{numpy}.zeros({types[-1].shape}{dtype})"
        title = "start with zeros of the type that the body returns: None is another structure"
        yield Candidate("initial_value", title, (source.replace(first, text), *imports), 1)


def export_symbolic_sizes(case: Case) -> Iterator[Candidate]:
    """Export with a symbolic size the dimension that differs in a later call."""
    said = re.search(
        r"args\[(\d+)\]\.shape\[\d+\] \(expected same constant\): expected \(([^)]*)\) and called "
        r"with \(([^)]*)\)",
        case.facts.message,
    )
    if said is None:
        return
    at = int(said[1])
    expected: list[str] = re.findall(r"\w+", said[2])
    called: list[str] = re.findall(r"\w+", said[3])
    if len(expected) != len(called):
        return
    letters = iter("bcdefgh")
    symbols: dict[str, str] = {}
    for e, c in zip(expected, called, strict=True):
        if e != c:
            symbols.setdefault(e, next(letters))
    spec = ", ".join(symbols[e] if e != c else e for e, c in zip(expected, called, strict=True))
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            made = call.func
            if not isinstance(made, ast.Call) or source.meaning(made.func) != "jax.export.export":
                continue
            if at >= len(call.args) or any(isinstance(a, ast.Starred) for a in call.args):
                continue
            yield from _symbolic_candidates(case, source, call, at, spec, symbols)


def _symbolic_candidates(
    case: Case, source: Source, call: ast.Call, at: int, spec: str, symbols: dict[str, str]
) -> Iterator[Candidate]:
    function, imports = source.spell("jax.export.symbolic_args_specs")
    shapes = [
        next((m.shape for m in case.measure(source, a) if m.shape is not None), None)
        for a in call.args
    ]
    alone = [repr(spec if i == at else "...") for i in range(len(call.args))]
    together = [
        repr(", ".join(symbols.get(str(n), str(n)) for n in shape)) if shape else repr("...")
        for shape in shapes
    ]
    values = ", ".join(source.code(a) for a in call.args)
    for rank, specs in enumerate((alone, together), 1):
        if rank == 2 and (specs == alone or not any(shapes)):
            continue
        items = ", ".join(specs) + ("," if len(specs) == 1 else "")
        values_text = f"({values}{',' if len(call.args) == 1 else ''})"
        text = f"{source.code(call.func)}(*{function}({values_text}, ({items})))"
        title = f"export it for all sizes {', '.join(symbols.values())} of that dimension"
        edits = (source.replace(call, text.replace("'", '"')), *imports)
        yield Candidate("symbolic_size", title, edits, rank)
