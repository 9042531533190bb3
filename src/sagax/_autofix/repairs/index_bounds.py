"""Repair indices out of bounds: the right size or range where the source shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    keyword_value,
    last_name,
    parameters,
)


def index_bounds(case: Case) -> tuple[int, int] | None:
    """Return the index and the size that a message names."""
    found = re.search(
        r"index (-?\d+) is out of bounds for (?:axis \d+ with size )?(\d+)", case.facts.message
    )
    return (int(found[1]), int(found[2])) if found else None


@at_expression
def correct_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Enlarge `num_segments` and other sizes of results that are too small for their indices."""
    bounds = index_bounds(case)
    if bounds is None:
        return
    index, size = bounds
    function = source.function(node) or source.tree
    for call in source.nodes(ast.Call, node):
        for name in ("num_segments", "length", "num_classes", "minlength"):
            given = keyword_value(call, name)
            if (
                given is None
                and name == "num_segments"
                and last_name(call.func).startswith("segment_")
            ):
                given = argument(call, 2, name)
            if given is None:
                continue
            needed = index + 1
            title = f"make `{name}` {needed}: index {index} occurs, for these data"
            if isinstance(given, ast.Constant):
                alike = _same_sizes(source, function, name, given)
                edits = tuple(source.replace(a, str(needed)) for a in alike)
                yield Candidate("size_arg", title, edits, 0)
                if len(alike) > 1:
                    yield Candidate("size_arg", title, (source.replace(given, str(needed)),), 1)
            elif index == size:
                values = source.assigned(source.code(given), source.tree)
                title = f"make `{name}` one larger: index {index} occurs"
                if len(values) == 1 and isinstance(values[0], ast.Constant):
                    yield Candidate("size_arg", title, (source.replace(values[0], str(needed)),), 0)
                text = source.code(given)
                if re.search(r"-\s*1$", text) and isinstance(given, ast.BinOp):
                    edit = source.replace(given, source.code(given.left))
                else:
                    edit = source.replace(given, f"{source.operand(given)} + 1")
                yield Candidate("size_arg", title, (edit,), 0)


def _same_sizes(
    source: Source, function: ast.AST, name: str, given: ast.Constant
) -> list[ast.expr]:
    """Return the equal sizes that are passed under one name in a function."""
    found: list[ast.expr] = []
    for call in source.nodes(ast.Call, function):
        value = keyword_value(call, name)
        if value is None and last_name(call.func).startswith("segment_"):
            value = argument(call, 2, name)
        if isinstance(value, ast.Constant) and value.value == given.value:
            found.append(value)
    return found or [given]


@at_expression
def shorten_range(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """End a range of indices earlier: `x[i + 1]` for i in `arange(n)` needs `arange(n - 1)`."""
    bounds = index_bounds(case)
    index = _index_expression(source, node)
    if bounds is None or index is None:
        return
    excess = bounds[0] - bounds[1] + 1
    if not 1 <= excess <= 64:
        return
    function = source.function(node) or source.tree
    if isinstance(index, ast.Attribute) or (isinstance(index, ast.Subscript)):
        yield from _last_element(source, index)
    for name in [index, *source.nodes(ast.Name, index)]:
        ranges = [name] if isinstance(name, ast.Call) else []
        if isinstance(name, ast.Name):
            ranges = [*source.assigned(name.id, function), *_loop_ranges(source, function, name.id)]
            ranges += _mapped_ranges(case, source, name)
        if isinstance(name, ast.Name):
            for stop in _loop_ends(source, name):
                text = _less(source, stop, excess)
                title = f"end the loop at `{text}`, so that each index exists"
                yield Candidate("range", title, (source.replace(stop, text),), 0)
        for value in ranges:
            if not isinstance(value, ast.Call) or last_name(value.func) not in ("arange", "range"):
                continue
            plain = len(value.args) in (1, 2) and not any(k.arg == "stop" for k in value.keywords)
            if not plain:
                continue
            stop = value.args[-1]
            text = _less(source, stop, excess)
            title = f"end the range at `{text}`, so that each index exists"
            there = source
            yield Candidate("range", title, (there.replace(stop, text),), 0)


@at_expression
def wrap_around(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Go on at the beginning behind the end of an axis, beside `x[i - 1]` or `x[i]`: `x[(i + 1) % x.shape[0]]`."""
    bounds = index_bounds(case)
    if bounds is None or not bounds[1] <= bounds[0] < 2 * bounds[1]:
        return
    others = source.nodes(ast.Subscript, source.statement(node))
    before = {
        source.code(item.value)
        for item in others
        if isinstance(item.slice, ast.BinOp) and isinstance(item.slice.op, ast.Sub)
    }
    beside = {(source.code(item.value), source.code(item.slice)) for item in others}
    for item in source.nodes(ast.Subscript, node):
        index = item.slice
        if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Add):
            continue
        base = source.code(item.value)
        if base in before or (base, source.code(index.left)) in beside:
            text = f"({source.code(index)}) % {source.primary(item.value)}.shape[0]"
            title = f"go on at the beginning behind the end: `{text}`"
            yield Candidate("wrap_index", title, (source.replace(index, text),), 2, assumes=True)


def _less(source: Source, stop: ast.expr, excess: int) -> str:
    """Return the text of a number that is less: `n` for `n + 1`, `n - 1` for `n`."""
    if isinstance(stop, ast.Constant) and isinstance(stop.value, int):
        return str(stop.value - excess)
    if isinstance(stop, ast.BinOp) and isinstance(stop.right, ast.Constant):
        number = stop.right.value
        if isinstance(stop.op, ast.Add) and isinstance(number, int):
            rest = number - excess
            left = source.code(stop.left)
            return left if rest == 0 else f"{left} {'+' if rest > 0 else '-'} {abs(rest)}"
        if isinstance(stop.op, ast.Sub) and isinstance(number, int):
            return f"{source.code(stop.left)} - {number + excess}"
    return f"{source.operand(stop)} - {excess}"


def _index_expression(source: Source, node: ast.AST) -> ast.expr | None:
    item = node if isinstance(node, ast.Subscript) else None
    if item is None and isinstance(node, ast.Call):
        if last_name(node.func) in ("take", "dynamic_index_in_dim") and len(node.args) > 1:
            return node.args[1]
        part: ast.AST = node
        while isinstance(part, (ast.Call, ast.Attribute)):
            part = part.func if isinstance(part, ast.Call) else part.value
        item = part if isinstance(part, ast.Subscript) else None
    if item is None:
        inside = source.nodes(ast.Subscript, node)
        item = inside[0] if inside else None
    return item.slice if item is not None else None


def _last_element(source: Source, index: ast.expr) -> Iterator[Candidate]:
    """Rewrite `x[x.shape[0]]` as `x[x.shape[0] - 1]`."""
    text = source.code(index)
    if text.endswith("]") and ".shape[" in text or text.endswith(".size"):
        title = f"the last element has the index `{text} - 1`"
        yield Candidate("range", title, (source.replace(index, f"{text} - 1"),), 0)


def _loop_ranges(source: Source, function: ast.AST, name: str) -> list[ast.expr]:
    """Return what loops and comprehensions bind a name to the items of."""
    found = source.nodes((ast.For, ast.comprehension), function)  # type: ignore[arg-type]
    return [n.iter for n in found if getattr(n.target, "id", "") == name]


def _loop_ends(source: Source, name: ast.Name) -> list[ast.expr]:
    """Return the upper bounds of the `fori_loop` whose body counts by a parameter."""
    function = source.function(name)
    if function is None or parameters(function)[:1] != [name.id]:
        return []
    called = getattr(function, "name", "")
    return [
        call.args[1]
        for call in source.calls_of("jax.lax.fori_loop")
        if len(call.args) > 2
        and (call.args[2] is function or (called and last_name(call.args[2]) == called))
    ]


def _mapped_ranges(case: Case, source: Source, name: ast.Name) -> list[ast.expr]:
    """Return the ranges that loops of lax or vmap pass for a parameter."""
    function = source.function(name)
    if function is None:
        return []
    called = getattr(function, "name", "")
    found: list[ast.expr] = []
    for call in source.nodes(ast.Call):
        passes = [a for a in call.args if a is function or (called and last_name(a) == called)]
        if passes and source.meaning(call.func) in ("jax.lax.scan", "jax.lax.map"):
            at = 2 if source.meaning(call.func) == "jax.lax.scan" else 1
            found += call.args[at : at + 1]
        inner = call.func
        if isinstance(inner, ast.Call) and source.meaning(inner.func) == "jax.vmap":
            if inner.args and (
                inner.args[0] is function or (called and last_name(inner.args[0]) == called)
            ):
                found += call.args
    return found


@at_expression
def start_of_interval(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Take the position before that of `searchsorted`, where the interval around a value is meant.

    `searchsorted` counts the edges below a value, so that the interval begins at the one before.
    """
    bounds = index_bounds(case)
    index = _index_expression(source, node)
    function = source.function(node) or source.tree
    if bounds is None or index is None or bounds[0] != bounds[1]:
        return
    reads = [n.id for n in source.nodes(ast.Name, index)]
    seen: set[str] = set()
    while reads:
        name = reads.pop()
        if name in seen:
            continue
        seen.add(name)
        for value in source.assigned(name, function):
            reads += [n.id for n in source.nodes(ast.Name, value)]
            yield from _earlier_positions(source, value)


def _earlier_positions(source: Source, value: ast.expr) -> Iterator[Candidate]:
    if not isinstance(value, ast.Call):
        return
    name = last_name(value.func)
    if name not in ("searchsorted", "digitize") or value in [
        n.left for n in source.nodes(ast.BinOp)
    ]:
        return
    text = source.code(value)
    if name == "searchsorted" and keyword_value(value, "side") is None and len(value.args) < 3:
        quote = "'" if "'" in source.text and '"' not in source.text else '"'
        text = source.call_with(value, f"side={quote}right{quote}")
    title = f"begin the interval one position earlier: `{name}` counts the edges below a value"
    yield Candidate("index_base", title, (source.replace(value, f"{text} - 1"),), 0)


@at_expression
def count_from_zero(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Subtract 1 from indices that run from 1 to the size, and never are 0."""
    bounds = index_bounds(case)
    if bounds is None or bounds[0] != bounds[1]:
        return
    index: ast.expr | None = None
    for call in source.nodes(ast.Call, node):
        if source.meaning(call.func) in ("jax.lax.switch", "jax.nn.one_hot") and call.args:
            index = call.args[0]
    index = index or _index_expression(source, node)
    if index is None or isinstance(index, (ast.Slice, ast.Tuple, ast.Constant)):
        return
    counted = isinstance(index, ast.BinOp) and isinstance(index.right, ast.Constant)
    measured = case.measure(source, index)
    known = [m.least if m.least is not None else m.value for m in measured]
    if counted or any(n is not None and n < 1 for n in known):
        return
    title = f"count from 0: `{source.code(index)}` seems to count from 1"
    edit = source.replace(index, f"{source.operand(index)} - 1")
    yield Candidate("index_base", title, (edit,), 1)
