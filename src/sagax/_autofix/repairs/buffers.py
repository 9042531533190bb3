"""Repair arrays whose dtype or size does not hold what is stored in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.carries import initial_values
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import Definition
from sagax._autofix.repairs.index_bounds import index_bounds
from sagax._autofix.repairs.source_file import Source, keyword_value, last_name, loads, parameters
from sagax._src.diagnostics.model import Edit

_LIKE = {"full_like": 2, "zeros_like": 1, "ones_like": 1, "empty_like": 1}
_SHAPED = {"zeros": 1, "ones": 1, "full": 2, "empty": 1}


@at_expression
def fill_with_floats(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give a dtype of floats to `full_like` of integers, and to arrays that floats are stored in."""
    calls = [(source, c) for c in _creations(source, node)]
    statement = source.statement(node)
    for update in source.nodes(ast.Subscript, statement):  # x.at[i].set(v)
        if getattr(update.value, "attr", "") == "at" and isinstance(update.value, ast.Attribute):
            for found in initial_values(case, source, update.value.value):
                calls += [(found.source, c) for c in _creations(found.source, found.node)]
    edits: list[Edit] = []
    for there, call in dict.fromkeys(calls):
        dtype = keyword_value(call, "dtype")
        if dtype is not None:
            edits.append(there.replace(dtype, "float"))
        elif len(call.args) > (_LIKE | _SHAPED)[last_name(call.func)]:
            edits.append(there.replace(call.args[-1], "float"))
        else:
            edits.append(there.replace(call, there.call_with(call, "dtype=float")))
    if edits:
        title = "give the array a dtype that holds fractions"
        yield Candidate("float_dtype", title, tuple(edits), 0)


def _creations(source: Source, node: ast.AST) -> list[ast.Call]:
    """Return the call that makes an array of one number, if an expression is one."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in _LIKE | _SHAPED:
        return []
    return [node] if source.meaning(node.func).startswith("jax.") else []


# --- sizes ----------------------------------------------------------------------------------------------


@at_expression
def enlarge_buffer(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Enlarge the array that is too short for an index of a write."""
    bounds = index_bounds(case)
    array = _written_array(source, node)
    if bounds is None or array is None:
        return
    index, size = bounds
    ranges = _ranges_of_index(case, source, node)
    done: set[int] = set()
    for found in _beginnings(case, source, array):
        there, call = found.source, found.node
        if not isinstance(call, ast.Call) or last_name(call.func) not in _SHAPED or not call.args:
            continue
        shape = call.args[0]
        for part in shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]:
            value = part
            if isinstance(part, ast.Name):
                values = there.assigned(part.id, there.tree)
                value = values[0] if len(values) == 1 else part
            if isinstance(value, ast.Constant) and value.value == size and id(value) not in done:
                done.add(id(value))
                for stop in [*ranges, str(index + 1)]:
                    title = f"make the array {stop} long: index {index} is written"
                    edit = there.replace(value, stop)
                    yield Candidate("larger_array", title, (edit,), 0)


def _ranges_of_index(case: Case, source: Source, node: ast.AST) -> list[str]:
    """Return the ends of the ranges that loops of the module take an index from."""
    found: dict[str, None] = {}
    function = source.function(node)
    for call in source.nodes(ast.Call, node) if function is not None else []:
        if not source.meaning(call.func).startswith("jax.lax.dynamic_update"):
            continue
        for name in dict.fromkeys(loads(call.args[2:])):
            for there, site, passed in case.calls(function) if function is not None else ():
                loop = there.enclosing(site, ast.For)
                counter = getattr(passed.get(name), "id", "")
                if loop is None or not counter or counter != getattr(loop.target, "id", ""):
                    continue
                over = loop.iter
                if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range":
                    if len(over.args) == 1:
                        found[there.code(over.args[0])] = None
    return list(found)


def _beginnings(case: Case, source: Source, array: ast.expr) -> Iterator[Definition]:
    """Yield what an array begins with, also where a function takes it and assigns it anew."""
    yield from initial_values(case, source, array)
    function = source.function(array)
    if function is not None and isinstance(array, ast.Name) and array.id in parameters(function):
        for there, _, passed in case.calls(function):
            if array.id in passed:
                yield from initial_values(case, there, passed[array.id])


def _written_array(source: Source, node: ast.AST) -> ast.expr | None:
    for call in source.nodes(ast.Call, node):
        if source.meaning(call.func).startswith("jax.lax.dynamic_update") and call.args:
            return call.args[0]
    return None


@at_expression
def write_around(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Write `buffer.at[i % size]`, so that what is new takes the place of the oldest."""
    bounds = index_bounds(case)
    for update in source.nodes(ast.Subscript, source.statement(node)):
        if not isinstance(update.value, ast.Attribute) or update.value.attr != "at":
            continue
        index = update.slice
        if bounds is None or bounds[0] != bounds[1] or not isinstance(index, ast.Name):
            continue
        method = source.parents.get(update)
        if not isinstance(method, ast.Attribute) or method.attr != "set":
            continue
        array = source.code(update.value.value)
        function = source.function(update)
        if function is None or array not in parameters(function):
            continue  # no buffer that is filled call by call
        title = "write over the oldest item: take the index modulo the size"
        text = f"{index.id} % {array}.shape[0]"
        yield Candidate("modulo", title, (source.replace(index, text),), 0)


# --- windows ------------------------------------------------------------------------------------------


@at_expression
def pad_window(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pad the array with zeros on both sides, so that a window may reach over its ends."""
    for call in source.nodes(ast.Call, source.statement(node)):
        if source.meaning(call.func) != "jax.lax.dynamic_slice" or len(call.args) != 3:
            continue
        array, starts, sizes = call.args
        single = [isinstance(x, (ast.Tuple, ast.List)) and len(x.elts) == 1 for x in call.args[1:]]
        if not all(single):
            continue
        assert isinstance(starts, (ast.Tuple, ast.List)) and isinstance(
            sizes, (ast.Tuple, ast.List)
        )
        start, size = starts.elts[0], sizes.elts[0]
        pad, imports = source.spell("jax.numpy.pad")
        width = source.operand(size)
        edits = (
            source.replace(array, f"{pad}({source.code(array)}, {source.code(size)})"),
            source.replace(start, f"{source.code(start)} + {width}"),
            *imports,
        )
        title = "pad the array with zeros, which a window over its ends then reads"
        yield Candidate("pad", title, edits, 1)
