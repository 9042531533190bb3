"""Repair columns that meet rows, and dicts that are paired with leaves in another order."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, keyword_value, last_name
from sagax._src.diagnostics.model import Edit, Span

_MEETING = (ast.Sub, ast.Add, ast.Mult, ast.Div, ast.Pow)


# --- columns and rows ----------------------------------------------------------------------------


@at_expression
def align_column(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make a row of the column that meets a row, or a column of the row."""
    for one, other in _pairs(source, node):
        shapes = [
            {m.shape for m in case.measure(source, x) if m.shape is not None} for x in (one, other)
        ]
        for operand, own, theirs in ((one, *shapes), (other, *shapes[::-1])):
            columns = own and all(len(s) == 2 and s[1] == 1 for s in own)
            if not columns or not theirs or not all(len(s) == 1 for s in theirs):
                continue
            row = other if operand is one else one
            yield from _drop_keepdims(source, operand)
            name = source.code(operand)
            short = name if len(name) <= 30 else name[:27] + "..."
            title = f"take the column `{short}` as a row of the same elements: `[:, 0]`"
            text = f"{source.primary(operand)}[:, 0]"
            yield Candidate("reshape", title, (source.replace(operand, text),), 1)
            title = "make a column of the row: `[:, None]`"
            text = f"{source.primary(row)}[:, None]"
            yield Candidate("reshape", title, (source.replace(row, text),), 2)
            return


@at_expression
def keep_dimension(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Add keepdims to the reduction of rows that a square matrix meets."""
    if "keepdims" not in case.facts.message:
        return
    function = source.function(node) or source.tree
    calls = list(source.nodes(ast.Call, source.statement(node)))
    for name in source.nodes(ast.Name, source.statement(node)):
        values = source.assigned(name.id, function)
        reads = [u for u in source.uses(name.id, function) if isinstance(u.ctx, ast.Load)]
        if len(values) == 1 and reads == [name]:
            calls += source.nodes(ast.Call, values[0])
    for call in dict.fromkeys(calls):
        reduces = last_name(call.func) in _REDUCTIONS and keyword_value(call, "axis") is not None
        positional = not source.meaning(call.func) and len(call.args) == 1
        if last_name(call.func) in _REDUCTIONS and (reduces or positional or len(call.args) > 1):
            if keyword_value(call, "keepdims") is None:
                title = "keep the reduced axis, so that each row meets its own value"
                edit = source.replace(call, source.call_with(call, "keepdims=True"))
                yield Candidate("keepdims", title, (edit,), 0)


_REDUCTIONS = {"sum", "mean", "max", "min", "prod", "std", "var", "norm", "median", "logsumexp"}


def _pairs(source: Source, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the operands of the elementwise operations in an expression, the outermost first."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, _MEETING):
            yield part.left, part.right
        elif isinstance(part, ast.Compare) and len(part.ops) == 1:
            yield part.left, part.comparators[0]
        elif isinstance(part, ast.AugAssign):
            yield part.target, part.value
        elif isinstance(part, ast.Call) and source.meaning(part.func):
            yield from itertools.pairwise(part.args)


def _drop_keepdims(source: Source, operand: ast.expr) -> Iterator[Candidate]:
    """Drop `keepdims=True` of a reduction that is used nowhere else."""
    function = source.function(operand) or source.tree
    for name in [operand, *source.nodes(ast.Name, operand)]:
        call = name
        if isinstance(name, ast.Name):
            values = source.assigned(name.id, function)
            reads = [u for u in source.uses(name.id, function) if isinstance(u.ctx, ast.Load)]
            if len(values) != 1 or len(reads) != 1:
                continue
            call = values[0]
        if not isinstance(call, ast.Call) or keyword_value(call, "keepdims") is None:
            continue
        rest = [*call.args, *[k.value for k in call.keywords if k.arg != "keepdims"]]
        keyword = next(k for k in call.keywords if k.arg == "keepdims")
        if not rest or max((r.end_lineno or 0, r.end_col_offset or 0) for r in rest) > (
            keyword.lineno, keyword.col_offset,
        ):  # fmt: skip
            continue
        last = max(rest, key=lambda r: (r.end_lineno or 0, r.end_col_offset or 0))
        start, end = source.span(last), source.span(keyword)
        lines = tuple(source.lines[start.end_line - 1 : end.end_line])
        span = Span(
            source.file, start.end_line, start.end_column, end.end_line, end.end_column, "", lines
        )
        yield Candidate(
            "reshape",
            "drop keepdims: the result is a row, as the other operand",
            (Edit(span, ""),),
            0,
        )


# --- order of leaves -------------------------------------------------------------------------------


@at_expression
def sort_keys(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Take the items of a dict in the order of its leaves: by sorted keys."""
    statement = source.statement(node)
    function = source.function(node)
    names = _iterated_dicts(source, node)
    for name in names:
        parts = [statement] if function is None else [*ast.iter_child_nodes(function)]
        edits: list[Edit] = []
        for part in parts:
            edits += list(_sorted_iterations(source, part, name))
        if edits:
            title = f"take the items of `{name}` by sorted keys, which is the order of the leaves"
            yield Candidate("sorted_keys", title, tuple(edits), 2)
    yield from _map_over_trees(source, node)
    yield from _unflatten(source, node)


def _iterated_dicts(source: Source, node: ast.AST) -> list[str]:
    """Return the dicts that an expression iterates over."""
    found: dict[str, None] = {}
    for part in _iterables(source, node):
        if isinstance(part, (ast.Name, ast.Attribute)) and not source.meaning(part):
            found[source.code(part)] = None
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if part.func.attr in ("values", "keys", "items") and not part.args:
                found[source.code(part.func.value)] = None
    return list(found)


def _iterables(source: Source, node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that are iterated over, within zip, enumerate and list too."""
    for part in ast.walk(node):
        if isinstance(part, (ast.For, ast.comprehension)):
            yield part.iter
        elif isinstance(part, ast.Call) and getattr(part.func, "id", "") in (
            "zip", "enumerate", "list", "tuple", "reversed", "map", "iter",
        ):  # fmt: skip
            yield from part.args
        elif isinstance(part, ast.Call) and last_name(part.func) in (
            "array",
            "stack",
            "concatenate",
        ):
            yield from part.args[:1]


def _sorted_iterations(source: Source, within: ast.AST, name: str) -> Iterator[Edit]:
    for part in dict.fromkeys(_iterables(source, within)):
        if isinstance(part, (ast.Name, ast.Attribute)) and source.code(part) == name:
            yield source.replace(part, f"sorted({name})")
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if source.code(part.func.value) != name or part.args:
                continue
            if part.func.attr == "keys":
                yield source.replace(part, f"sorted({name})")
            elif part.func.attr == "items":
                yield source.replace(part, f"sorted({name}.items())")
            elif part.func.attr == "values":
                key = source.fresh("key", part)
                yield source.replace(part, f"[{name}[{key}] for {key} in sorted({name})]")


def _map_over_trees(source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `dict(zip(p, [f(a, b) for a, b in zip(p.values(), leaves(g))]))` with tree.map."""
    pairs = node if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip" else None
    if pairs is None or len(pairs.args) != 2:
        return
    trees = [_tree_of(source, a) for a in pairs.args]
    if None in trees:
        return
    statement = source.statement(pairs)
    target = ""
    function = source.function(node) or source.tree
    if isinstance(statement, ast.Assign) and statement.value is pairs:
        target = last_name(statement.targets[0])
    for comprehension in source.nodes((ast.ListComp, ast.GeneratorExp), function):  # type: ignore[arg-type]
        over = comprehension.generators[0]
        if over.iter is not pairs and not (target and getattr(over.iter, "id", "") == target):
            continue
        if len(comprehension.generators) != 1 or over.ifs or not isinstance(over.target, ast.Tuple):
            continue
        whole = _dict_around(source, comprehension)
        if whole is None:
            continue
        tree_map, imports = source.spell("jax.tree.map")
        names = ", ".join(source.code(e) for e in over.target.elts)
        given = ", ".join(t for t in trees if t is not None)
        text = f"{tree_map}(lambda {names}: {source.code(comprehension.elt)}, {given})"
        edits = [source.replace(whole, text), *imports]
        if target:
            edits.append(source.delete(statement))
        title = "map over both trees at once: tree.map pairs their leaves by their keys"
        yield Candidate("tree_map", title, tuple(edits), 1)


def _tree_of(source: Source, node: ast.expr) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "values" and not node.args:
        return source.code(node.func.value)
    if last_name(node.func) in ("leaves", "tree_leaves") and len(node.args) == 1:
        return source.code(node.args[0])
    return None


def _dict_around(source: Source, comprehension: ast.AST) -> ast.expr | None:
    """Return `dict(zip(keys, [...]))` around a comprehension."""
    pairs = source.parents.get(comprehension)
    made = source.parents.get(pairs) if pairs is not None else None
    if isinstance(pairs, ast.Call) and getattr(pairs.func, "id", "") == "zip":
        if isinstance(made, ast.Call) and getattr(made.func, "id", "") == "dict":
            return made
    return None


def _unflatten(source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `{k: vector[i] for i, k in enumerate(tree)}` with tree.unflatten."""
    if not isinstance(node, ast.DictComp) or len(node.generators) != 1:
        return
    over = node.generators[0]
    counted = isinstance(over.iter, ast.Call) and getattr(over.iter.func, "id", "") == "enumerate"
    if not counted or not isinstance(over.target, ast.Tuple) or not isinstance(over.iter, ast.Call):
        return
    position = source.code(over.target.elts[0])
    item = node.value
    if not isinstance(item, ast.Subscript) or source.code(item.slice) != position:
        return
    unflatten, imports = source.spell("jax.tree.unflatten")
    structure, more = source.spell("jax.tree.structure")
    tree = source.code(over.iter.args[0])
    text = f"{unflatten}({structure}({tree}), list({source.code(item.value)}))"
    title = "put the leaves back by tree.unflatten, in the order that they were taken in"
    yield Candidate("tree_map", title, (source.replace(node, text), *imports, *more), 1)
