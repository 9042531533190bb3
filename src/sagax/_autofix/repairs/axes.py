"""Repair axes that an argument does not have, and sizes that depend on data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import sagax._autofix.repairs.transform_options as transform_options
from sagax._autofix.repairs.case import LAST_RESORT_RANK, Candidate, Case, at_expression, base_name
from sagax._autofix.repairs.dataflow import path_keys, resolve_functions
from sagax._autofix.repairs.source_file import Source, keyword_value, loads, parameters, tuple_text


@at_expression
def change_mapped_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Map another axis, or none, where vmap maps an axis that an argument lacks."""
    path = case.facts.data.get("argument", "")
    is_object = "vmap of" in case.facts.message and "not a valid JAX type" in case.facts.message
    if not (path and (is_object or "requested to map its argument" in case.facts.message)):
        return
    shape = re.search(r"\[([\d,]*)\]", case.facts.data.get("got", ""))
    found = transform_options.find_transform_call(case, source, node)
    if found is None or not found[1].args:
        return
    vmap_source, call = found
    name = base_name(path)
    known: list[str] = []
    for _, function in resolve_functions(case, vmap_source, call.args[0]):
        known = [n for n in parameters(function) if n != "self"]
        if name in known:
            break
    rank = len([n for n in shape[1].split(",") if n]) if shape else 0
    # an object has no axes, though its attributes may have some
    wanted = ["None", *[str(i) for i in range(0 if is_object else rank)]]
    given = keyword_value(call, "in_axes")
    if given is None and len(call.args) > 1:
        given = call.args[1]
    for i, axis in enumerate(wanted):
        text = _in_axes_edit(case, vmap_source, given, known, name, path, axis)
        if text is None:
            continue
        target, new = text
        said = "is not mapped" if axis == "None" else f"is mapped over axis {axis}"
        if target is None:
            applied = transform_options.Application(vmap_source, call)
            edits = tuple(transform_options.set_option(applied, "in_axes", new))
        else:
            edits = (vmap_source.replace(target, new),)
        # an existing axis comes before none, unless the argument is a scalar
        order = 1 if (axis != "None") == (rank > 0) else 2
        yield Candidate("in_axes", f"`{path}` {said}", edits, order + i)


def _in_axes_edit(
    case: Case,
    source: Source,
    given: ast.expr | None,
    known: list[str],
    name: str,
    path: str,
    axis: str,
) -> tuple[ast.expr | None, str] | None:
    """Return the part of `in_axes` to replace (None if it is not given), and its new text."""
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
        for key in path_keys(path):
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
    return given, tuple_text(entries)


# --- data-dependent sizes --------------------------------------------------------------------------

_SIZED_FUNCTIONS = {"zeros", "ones", "full", "empty", "arange", "linspace", "eye", "identity", "tri", "tile", "repeat",
          "reshape", "broadcast_to", "one_hot", "bincount", "segment_sum", "split", "logspace"}  # fmt: skip


@at_expression
def give_measured_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace a size computed from data, as in `one_hot(x, int(x.max()) + 1)`, by its value."""
    function = source.function(node) or source.tree
    for call in source.nodes(ast.Call, function):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in _SIZED_FUNCTIONS:
            continue
        method = isinstance(call.func, ast.Attribute) and not source.meaning(call.func)
        operands = [*call.args, *[k.value for k in call.keywords]]
        first = 0 if method or name in _CREATION_FUNCTIONS else 1
        sizes = [e for a in operands[first:] for e in (a.elts if isinstance(a, ast.Tuple) else [a])]
        for size in sizes:
            computed = _size_expression(source, size, node, function)
            if computed is None:
                continue
            values = {m.value for m in case.measure(source, computed)}
            if (
                len(values) == 1
                and isinstance(value := values.pop(), int)
                and not isinstance(value, bool)
            ):
                title = f"give the size: {value} for these data, which must be known while tracing"
                edits = (source.replace(computed, str(value)),)
                yield Candidate("size_arg", title, edits, LAST_RESORT_RANK + 1)
                return


@at_expression
def give_known_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace a size computed from data by the size of an array at hand that it equals."""
    function = source.function(node)
    if not isinstance(function, ast.FunctionDef):
        return
    for call in source.nodes(ast.Call, function):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in _SIZED_FUNCTIONS or not source.meaning(call.func).startswith("jax."):
            continue
        given = [*call.args, *[k.value for k in call.keywords]]
        for size in given[name not in _CREATION_FUNCTIONS :]:
            computed = _size_expression(source, size, node, function)
            named = source.assigned(size.id, function) if isinstance(size, ast.Name) else []
            if computed is None and len(named) == 1 and size in ast.walk(node):
                computed = named[0]
            if computed is None or not isinstance(computed, (ast.BinOp, ast.Call)):
                continue
            values = {m.value for m in case.measure(source, computed)}
            near = [
                (argument, shape)
                for argument in parameters(function)
                if argument not in loads(computed)  # its length has nothing to do with its values
                for use in source.uses(argument, function)[:1]
                for shape in {m.shape for m in case.measure(source, use)}
                if shape
            ]
            wanted = values.pop() if len(values) == 1 else None
            for rank, (argument, shape) in enumerate(near, 1):
                if shape[-1] != wanted or not isinstance(wanted, int) or wanted < 2:
                    continue
                text = f"{argument}.shape[-1]"
                title = f"take the size from `{text}`, which is {wanted} as well"
                edits = (source.replace(computed, text),)
                yield Candidate("size_arg", title, edits, rank, assumes=True)
            return


_CREATION_FUNCTIONS = {"zeros", "ones", "empty", "arange", "eye", "identity", "tri"}


def _size_expression(
    source: Source, size: ast.expr, node: ast.AST, function: ast.AST
) -> ast.expr | None:
    """Return the expression that computes a size and contains, or is part of, the one at fault."""
    expressions: list[ast.expr] = [size]
    if isinstance(size, ast.Name):
        expressions += source.assigned(size.id, function)
    for expression in expressions:
        if isinstance(expression, (ast.Constant, ast.Name)):
            continue
        if node in ast.walk(expression) or expression in ast.walk(node):
            return expression
    return None
