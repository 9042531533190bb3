"""Repair axes that an argument does not have, and sizes that depend on data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import sagax._autofix.repairs.transform_options as transform_options
from sagax._autofix.repairs.case import LAST_RESORT, Candidate, Case, base_name
from sagax._autofix.repairs.dataflow import functions_behind, keys_of
from sagax._autofix.repairs.source_file import Source, parameters

__all__ = ["axis_beyond", "measured_size"]


def axis_beyond(case: Case) -> Iterator[Candidate]:
    """vmap over an axis that an argument does not have -> not mapped, or over one that it has."""
    if "requested to map its argument" not in case.facts.message:
        return
    source, node = case.source, case.node
    path = case.facts.data.get("argument", "")
    shape = re.search(r"\[([\d,]*)\]", case.facts.data.get("got", ""))
    if source is None or node is None or not path:
        return
    found = transform_options.call_behind(case, source, node)
    if found is None or not found[1].args:
        return
    where, call = found
    name = base_name(path)
    known: list[str] = []
    for _, function in functions_behind(case, where, call.args[0]):
        known = [n for n in parameters(function) if n != "self"]
        if name in known:
            break
    rank = len([n for n in shape[1].split(",") if n]) if shape else 0
    wanted = ["None", *[str(i) for i in range(rank)]]
    given = next((k.value for k in call.keywords if k.arg == "in_axes"), None)
    if given is None and len(call.args) > 1:
        given = call.args[1]
    for i, axis in enumerate(wanted):
        text = _entries(case, where, given, known, name, path, axis)
        if text is None:
            continue
        target, new = text
        said = "is not mapped" if axis == "None" else f"is mapped over axis {axis}"
        if target is None:
            applied = transform_options.Applied(where, call, None, False)
            edits = tuple(transform_options.with_option(applied, "in_axes", new))
        else:
            edits = (where.replace(target, new),)
        # an axis that it has rather than none, where only the number of the axis was wrong
        order = 1 if (axis != "None") == (rank > 0) else 2
        yield Candidate("in_axes", f"`{path}` {said}", edits, order + i)


def _entries(
    case: Case,
    source: Source,
    given: ast.expr | None,
    known: list[str],
    name: str,
    path: str,
    axis: str,
) -> tuple[ast.expr | None, str] | None:
    """What to replace of `in_axes` by what; None in place of the first where there is none yet."""
    if name not in known:
        return None
    at = known.index(name)
    if isinstance(given, ast.Name):
        found = source.assigned(given.id, source.function(given) or source.tree)
        given = found[0] if len(found) == 1 else given
    if isinstance(given, (ast.Tuple, ast.List)):
        if at >= len(given.elts):
            return None
        entry = given.elts[at]
        for key in keys_of(path):
            if isinstance(entry, ast.Dict):
                names = [repr(getattr(k, "value", None)) for k in entry.keys]
                if key not in names:
                    return None
                entry = entry.values[names.index(key)]
        return entry, axis
    if given is not None and not isinstance(given, (ast.Constant, ast.UnaryOp)):
        return None
    before = "0" if given is None else source.code(given)
    entries = [axis if n == name else before for n in known]
    if set(entries) == {"None"}:
        return None
    return given, f"({', '.join(entries)}{',' if len(entries) == 1 else ''})"


# --- sizes that the data decide --------------------------------------------------------------------

_SIZED = {"zeros", "ones", "full", "empty", "arange", "linspace", "eye", "identity", "tri", "tile", "repeat",
          "reshape", "broadcast_to", "one_hot", "bincount", "segment_sum", "split", "logspace"}  # fmt: skip


def measured_size(case: Case) -> Iterator[Candidate]:
    """A size computed from data, as in `one_hot(x, int(x.max()) + 1)` -> the size that these data have."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    function = source.function(node) or source.tree
    for call in source.nodes(ast.Call, function):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in _SIZED:
            continue
        method = isinstance(call.func, ast.Attribute) and not source.meaning(call.func)
        operands = [*call.args, *[k.value for k in call.keywords]]
        first = 0 if method or name in _MAKING else 1
        sizes = [e for a in operands[first:] for e in (a.elts if isinstance(a, ast.Tuple) else [a])]
        for size in sizes:
            made = _computed(source, size, node, function)
            if made is None:
                continue
            values = {m.value for m in case.measure(source, made)}
            if (
                len(values) == 1
                and isinstance(value := values.pop(), int)
                and not isinstance(value, bool)
            ):
                title = f"give the size: {value} for these data, which must be known while tracing"
                edits = (source.replace(made, str(value)),)
                yield Candidate("size_arg", title, edits, LAST_RESORT + 1, False)
                return


_MAKING = {"zeros", "ones", "empty", "arange", "eye", "identity", "tri"}


def _computed(source: Source, size: ast.expr, node: ast.AST, function: ast.AST) -> ast.expr | None:
    """The expression at fault, or around it, that a size is computed by."""
    places: list[ast.expr] = [size]
    if isinstance(size, ast.Name):
        places += source.assigned(size.id, function)
    for place in places:
        inside = list(ast.walk(place))
        if isinstance(place, (ast.Constant, ast.Name)):
            continue
        around = any(n is place for n in ast.walk(node))
        if node in inside or around:
            return place
    return None
