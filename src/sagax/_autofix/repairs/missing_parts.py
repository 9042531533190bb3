"""Repair results and dicts that lack a part, or have one too many: returns, entries, renamed keys."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import (
    path_keys,
    reaching_definitions,
    resolve_functions,
    returned_expressions,
)
from sagax._autofix.repairs.source_file import Function, Source, argument, parameters, stores
from sagax._autofix.repairs.structures import drop_item, keys_that_differ
from sagax._autofix.repairs.types import BODY_POSITION, body_outputs, find_branches, find_loop_call
from sagax._src.diagnostics.model import Edit

# --- functions that return nothing, or less than another ----------------------------------------


def return_updated_argument(case: Case) -> Iterator[Candidate]:
    """Return from a branch or a body the argument that it updates."""
    message = case.facts.message
    pair = "must be a pair" in message
    if not pair and not re.search(r"\bis None\b", message):
        return
    for source, function in _called_functions(case):
        if not isinstance(function, ast.FunctionDef) or returned_expressions(source, function):
            continue
        name = _updated_name(source, function)
        if not name:
            continue
        last = function.body[-1]
        end = source.span(last)
        value = f"{name}, None" if pair else name
        text = f"\n{source.indent(function.body[0])}return {value}"
        edit = source.insert(end.end_line, end.end_column or 0, text)
        title = f"return `{name}` from `{function.name}`, which returns nothing"
        yield Candidate("return_value", title, (edit,), 1)


def _called_functions(case: Case) -> Iterator[tuple[Source, Function]]:
    """Yield the branches of the conditional, or the body of the loop, at fault."""
    yield from find_branches(case)
    found = find_loop_call(case)
    if found is not None:
        source, call = found
        name = source.meaning(call.func).rpartition(".")[2]
        body = argument(call, BODY_POSITION[name], "f")
        if body is not None:
            yield from resolve_functions(case, source, body)


def _updated_name(source: Source, function: ast.FunctionDef) -> str:
    """Return the argument whose items or attributes a function assigns, or its last variable."""
    known = parameters(function)
    for part in source.nodes((ast.Subscript, ast.Attribute), function):  # type: ignore[arg-type]
        root = part.value
        if isinstance(part.ctx, ast.Store) and isinstance(root, ast.Name) and root.id in known:
            return root.id
    last = function.body[-1]
    bound = stores(last) if isinstance(last, (ast.Assign, ast.AugAssign)) else []
    return bound[0] if len(bound) == 1 else ""


def complete_tuple(case: Case) -> Iterator[Candidate]:
    """Return from a branch, which gives one value, as many as the other."""
    said = re.search(
        r"is a tuple of length (\d+), but (\w+) is a (leaf|tuple)|is a leaf, but (\w+) is a tuple",
        case.facts.message,
    )
    if said is None or "branch outputs must have the same" not in case.facts.message:
        return
    returned = [
        (source, value)
        for source, function in find_branches(case)
        for value in returned_expressions(source, function)
    ]
    whole = [v for _, v in returned if isinstance(v, ast.Tuple)]
    if not whole:
        return
    whole.sort(key=lambda v: -len(v.elts))
    for source, value in returned:
        if isinstance(value, ast.Tuple):
            yield from _lengthened(source, value, whole[0].elts[len(value.elts) :])
            continue
        rest = [_neutral(source, item) for item in whole[0].elts[1:]]
        text = f"{source.code(value)}, {', '.join(rest)}"
        lambda_body = isinstance(source.parents.get(value), ast.Lambda)
        edit = source.replace(value, f"({text})" if lambda_body else text)
        title = f"return as many values as the other branch: `{', '.join(rest)}` as well"
        yield Candidate("match_tree", title, (edit,), 1, assumes=True)


def _lengthened(source: Source, value: ast.Tuple, missing: list[ast.expr]) -> Iterator[Candidate]:
    """Yield tuples with the entries that the other branch has beyond: as they were before, or zero."""
    if not missing or not value.elts:
        return
    kept = [
        next((source.code(n) for n in ast.walk(item) if isinstance(n, ast.Name)), "0")
        for item in missing
    ]
    counted = all(_is_count(item) for item in missing)
    for rank, rest in enumerate((kept, ["0" if counted else "0.0"] * len(missing)), 1):
        last = source.span(value.elts[-1])
        edit = source.insert(
            last.end_line or last.line, last.end_column or 0, f", {', '.join(rest)}"
        )
        title = f"return as many values as the other branch: `{', '.join(rest)}` as well"
        yield Candidate("match_tree", title, (edit,), rank, assumes=True)


def _is_count(item: ast.expr) -> bool:
    """Return whether an expression adds a whole number."""
    return isinstance(item, ast.BinOp) and any(
        isinstance(n, ast.Constant) and type(n.value) is int for n in (item.left, item.right)
    )


def _neutral(source: Source, item: ast.expr) -> str:
    """Return what stands for "nothing": the other truth value, or zero."""
    if isinstance(item, ast.Constant) and isinstance(item.value, bool):
        return str(not item.value)
    if isinstance(item, ast.Constant) and isinstance(item.value, (int, float)):
        return repr(type(item.value)(0))
    return "0.0"


# --- values that a caller unpacks ------------------------------------------------------------------


@at_expression
def return_unpacked_values(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Return from a function the values of the names that its caller unpacks."""
    if not re.search(r"values to unpack|iteration over a 0-d array", case.facts.message):
        return
    statement = source.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, (ast.Tuple, ast.List)):
        return
    names = [getattr(e, "id", "") for e in target.elts]
    if not isinstance(statement.value, ast.Call) or not all(names):
        return
    for there, function in resolve_functions(case, source, statement.value.func):
        returned = returned_expressions(there, function)
        if len(returned) != 1 or not isinstance(function, ast.FunctionDef):
            continue
        found = [_local_value(there, function, returned[0], name) for name in names]
        if all(found) and (new := ", ".join(found)) != there.code(returned[0]):
            title = f"return what `{function.name}` is unpacked into: {', '.join(names)}"
            edit = there.replace(returned[0], new)
            yield Candidate("return_value", title, (edit,), 1)


def _local_value(source: Source, function: ast.FunctionDef, returned: ast.expr, name: str) -> str:
    """Return the text of a value that a function has under a name, in a variable or in a dict."""
    for display in source.nodes(ast.Dict, function):
        keys = [k.value for k in display.keys if isinstance(k, ast.Constant)]
        parent = source.parents.get(display)
        if name in keys and isinstance(parent, ast.Assign):
            base = source.code(parent.targets[0])
            quote = '"' if '"' in source.text else "'"
            return f"{base}[{quote}{name}{quote}]"
    if name in {*stores(function.body), *parameters(function)}:
        return name
    return source.code(returned) if isinstance(returned, ast.Name) and returned.id == name else ""


# --- entries that are too many -----------------------------------------------------------------------


def drop_new_entry(case: Case) -> Iterator[Candidate]:
    """Leave an entry out of the carry that a body returns, if the loop begins without it."""
    message = case.facts.message
    keys, owner = keys_that_differ(message)
    if (
        "carry input and carry output must have the same" not in message
        or owner != "the carry output"
    ):
        return
    found = find_loop_call(case)
    if found is None:
        return
    source, call = found
    name = source.meaning(call.func).rpartition(".")[2]
    body = argument(call, BODY_POSITION[name], "f")
    for there, value in body_outputs(case, source, body) if body is not None else ():
        yield from _drop_stores(case, there, value, keys)
        carried = value.elts[0] if name == "scan" and isinstance(value, ast.Tuple) else value
        for definition in reaching_definitions(case, there, carried):
            display = definition.node
            if not isinstance(display, ast.Dict) or definition.rest:
                continue
            if any(_is_read(case, key) for key in keys):
                continue
            text = definition.source.code(display)
            for key in keys:
                text = drop_item(definition.source, display, key)
            title = f"leave out {', '.join(keys)}: a carry keeps its entries, and nothing reads it"
            edit = definition.source.replace(display, text)
            yield Candidate("drop_entry", title, (edit,), 0)


def _drop_stores(
    case: Case, source: Source, value: ast.expr, keys: list[str]
) -> Iterator[Candidate]:
    """Drop the statements of a body that store the new entries, as in `state["loss"] = loss`."""
    body = source.function(value)
    if body is None or any(_is_read(case, key) for key in keys):
        return
    stores = [
        statement
        for statement in source.nodes(ast.Assign, body)
        if isinstance(at := statement.targets[0], ast.Subscript)
        and isinstance(at.slice, ast.Constant)
        and repr(at.slice.value) in keys
    ]
    if len(stores) == len(keys):
        title = f"leave out {', '.join(keys)}: a carry keeps its entries, and nothing reads it"
        edits = tuple(source.delete(statement) for statement in stores)
        yield Candidate("drop_entry", title, edits, 0)


def drop_text_entry(case: Case) -> Iterator[Candidate]:
    """Leave out of a result the entry that is no array, if nothing reads it."""
    said = re.search(r"returned a value of type \w+", case.facts.message)
    path = case.facts.data.get("argument", "")
    keys = path_keys(path)
    if said is None or len(keys) != 1 or keys[0].startswith("."):
        return
    name = re.search(r"(\w+) returned a value", case.facts.message)
    for source, function in case.definition(name[1]) if name is not None else ():
        for value in returned_expressions(source, function):
            for definition in reaching_definitions(case, source, value):
                display = definition.node
                if isinstance(display, ast.Dict) and not _is_read(case, keys[0]):
                    text = drop_item(definition.source, display, keys[0])
                    title = f"leave out {keys[0]}: it is no array, and nothing reads it"
                    edit = definition.source.replace(display, text)
                    yield Candidate("drop_entry", title, (edit,), 1)


def _is_read(case: Case, key: str) -> bool:
    """Return whether a script reads an entry, as in `state["gate"]` or `state.get("gate")`."""
    for source in case.sources.values():
        for constant in source.nodes(ast.Constant):
            if repr(constant.value) != key:
                continue
            parent = source.parents.get(constant)
            stored = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)
            if not isinstance(parent, ast.Dict) and not stored:
                return True
    return False


# --- keys of another name ------------------------------------------------------------------------------


def rename_key(case: Case) -> Iterator[Candidate]:
    """Give an entry the key that it has in another tree of the same structure."""
    said = re.search(
        r"The keys differ: ('[^']*') only in \S+, ('[^']*') only in", case.facts.message
    )
    if said is None:
        return
    for rank, (old, new) in enumerate(((said[1], said[2]), (said[2], said[1])), 1):
        edits = _renamed(case, old, new)
        if edits:
            title = f"call the entry {new}, as the other tree does"
            yield Candidate("rename_key", title, tuple(edits), rank)


def _renamed(case: Case, old: str, new: str) -> list[Edit]:
    """Return the edits that rename a key in dict displays that lack the new one, and in reads of them."""
    edits: list[Edit] = []
    for source in case.sources.values():
        for display in source.nodes(ast.Dict):
            known = [repr(k.value) for k in display.keys if isinstance(k, ast.Constant)]
            if old not in known or new in known:
                continue
            key = next(k for k in display.keys if repr(getattr(k, "value", None)) == old)
            if key is not None:
                edits.append(source.replace(key, _quoted(source.code(key), new)))
    return edits


def _quoted(like: str, key: str) -> str:
    return key.replace("'", '"') if like.startswith('"') else key


@at_expression
def correct_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Correct a key that a dict lacks to the nearest one in the script."""
    said = re.fullmatch(r"'(\w+)'", case.facts.message.strip())
    if said is None:
        return
    known: dict[str, None] = {}
    for there in case.sources.values():
        for display in there.nodes(ast.Dict):
            known |= {str(k.value): None for k in display.keys if isinstance(k, ast.Constant)}
        for item in there.nodes(ast.Subscript):
            if isinstance(item.ctx, ast.Store) and isinstance(item.slice, ast.Constant):
                known[str(item.slice.value)] = None
    known.pop(said[1], None)
    for item in source.nodes(ast.Subscript, source.statement(node)):
        key = item.slice
        if not isinstance(key, ast.Constant) or key.value != said[1]:
            continue
        for rank, name in enumerate(difflib.get_close_matches(said[1], known, 2, 0.6), 1):
            text = _quoted(source.code(key), repr(name))
            title = f"read the entry {text}, the nearest key"
            yield Candidate("rename_key", title, (source.replace(key, text),), rank)
        return
    yield from _rename_written(case, said[1])


def _rename_written(case: Case, wanted: str) -> Iterator[Candidate]:
    """Yield the dicts whose nearest key is named as the one that is read by a variable."""
    for there in case.sources.values():
        for display in there.nodes(ast.Dict):
            keys = {k.value: k for k in display.keys if isinstance(k, ast.Constant)}
            names = [k for k in keys if isinstance(k, str)]
            if wanted in keys:
                continue
            for name in difflib.get_close_matches(wanted, names, 1, 0.6):
                text = _quoted(there.code(keys[name]), repr(wanted))
                title = f"name the entry {text}, as it is read"
                yield Candidate("rename_key", title, (there.replace(keys[name], text),), 1)
