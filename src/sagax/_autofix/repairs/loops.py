"""Rewrite `for` loops, over a traced range or long ones that unroll, as fori_loop and scan."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.control_flow import (
    CarryForm,
    arange_text,
    loop_carry,
    mutates_objects,
    range_bounds,
)
from sagax._autofix.repairs.source_file import INDENT, Source, stores
from sagax._src.diagnostics.model import Edit


@at_expression
def rewrite_for(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite the `for` loop at fault as fori_loop or scan."""
    loop = source.enclosing(node, ast.For)
    if loop is None or loop.orelse or mutates_objects(loop.body):
        return
    jumps = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.Await)
    if any(isinstance(n, jumps) for statement in loop.body for n in ast.walk(statement)):
        return
    collected = _appended_lists(source, loop)
    if collected is None:
        return
    count = range_bounds(source, loop.iter)
    if count is not None and not collected:
        yield from _rewrite_as_fori_loop(source, loop, *count)
    yield from _rewrite_as_scan(source, loop, count, collected)


@at_expression
def count_while(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `while k < n: ...; k += 1` as fori_loop."""
    loop = source.enclosing(node, ast.While)
    test = loop.test if loop is not None else None
    if loop is None or loop.orelse or mutates_objects(loop.body) or len(loop.body) < 2:
        return
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        return
    last, index = loop.body[-1], test.left
    if not isinstance(last, ast.AugAssign) or not isinstance(last.op, ast.Add):
        return
    if not isinstance(index, ast.Name) or source.code(last.target) != index.id:
        return
    if not isinstance(last.value, ast.Constant) or last.value.value != 1 or len(test.ops) > 1:
        return
    body = loop.body[:-1]
    jumps = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.Await)
    carry = [n for n in loop_carry(source, loop, body) if n != index.id]
    if index.id in stores(body) or not carry:
        return
    if any(isinstance(n, jumps) for statement in body for n in ast.walk(statement)):
        return
    bound = source.code(test.comparators[0]) + (" + 1" if isinstance(test.ops[0], ast.LtE) else "")
    function, imports = source.spell("jax.lax.fori_loop")
    indent = source.indent(loop)
    inside = indent + INDENT
    name = source.fresh("body", loop)
    form = CarryForm.of(source, loop, carry)
    rows = [
        f"{indent}def {name}({index.id}, {form.state}):",
        *form.unpack(inside),
        source.block_text(body, inside),
        f"{inside}return {form.names}",
        "",
        f"{indent}{form.names} = {function}({index.id}, {bound}, {name}, {form.packed})",
    ]
    scope = source.function(loop) or source.tree
    read_later = [n for n in source.uses(index.id, scope) if n.lineno > (loop.end_lineno or 0)]
    if read_later:
        rows.append(f"{indent}{index.id} = {bound}")
    title = "loop with fori_loop: the body is compiled once"
    edit = source.replace_statements([loop], "\n".join(rows))
    yield Candidate("fori_or_scan", title, (edit, *imports), 1)


@at_expression
def map_comprehension(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `stack([f(x, y) for x in xs])` as `vmap(lambda x: f(x, y))(xs)`."""
    around = source.enclosing(node, (ast.ListComp, ast.GeneratorExp))  # type: ignore[arg-type]
    call = source.parents.get(around) if around is not None else None
    if isinstance(around, ast.ListComp) and isinstance(call, ast.Assign):
        yield from _map_summed(source, call, around)
        return
    if around is None or not isinstance(call, ast.Call) or call.args != [around]:
        return
    if source.meaning(call.func) not in ("jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray"):
        return
    loop = around.generators[0]
    if call.keywords or len(around.generators) > 1 or loop.ifs:
        return
    target, over = loop.target, loop.iter
    if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "zip":
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(over.args):
            return
        names, arrays = target.elts, list(over.args)
    elif (bounds := range_bounds(source, over)) is not None:
        numpy, imports = source.spell("jax.numpy")
        yield from _mapped(
            source, call, around.elt, [target], [arange_text(numpy, bounds)], imports
        )
        return
    else:
        names, arrays = [target], [over]
    if all(isinstance(n, ast.Name) for n in names):
        yield from _mapped(source, call, around.elt, names, [source.code(a) for a in arrays], [])


def _map_summed(
    source: Source, assignment: ast.Assign, around: ast.ListComp
) -> Iterator[Candidate]:
    """Rewrite `xs = [f(k) for k in range(n)]` with vmap, if `xs` is only stacked or summed."""
    target, loop = assignment.targets[0], around.generators[0]
    bounds = range_bounds(source, loop.iter)
    if not isinstance(target, ast.Name) or len(around.generators) > 1 or loop.ifs:
        return
    scope = source.function(assignment) or source.tree
    edits: list[Edit] = []
    for use in source.uses(target.id, scope):
        if use is target:
            continue
        call = source.parents.get(use)
        if not isinstance(call, ast.Call) or call.args != [use] or call.keywords:
            return
        if getattr(call.func, "id", "") == "sum":
            edits.append(source.replace(call, f"{target.id}.sum(axis=0)"))
        elif source.meaning(call.func) in ("jax.numpy.stack", "jax.numpy.array"):
            edits.append(source.replace(call, target.id))
        else:
            return
    numpy, imports = source.spell("jax.numpy")
    vmap, more = source.spell("jax.vmap")
    if bounds is not None:
        over = arange_text(numpy, bounds)
    elif isinstance(loop.iter, ast.Name):
        over = source.code(loop.iter)
    else:
        return
    if not edits or not isinstance(loop.target, ast.Name):
        return
    text = f"{vmap}(lambda {loop.target.id}: {source.code(around.elt)})({over})"
    title = "map the function with vmap: it is compiled once, for all elements"
    all_edits = (source.replace(around, text), *edits, *more, *imports)
    yield Candidate("vmap", title, all_edits, 1)


def _mapped(
    source: Source,
    call: ast.Call,
    element: ast.expr,
    names: Sequence[ast.expr],
    arrays: Sequence[str],
    imports: list[Edit],
) -> Iterator[Candidate]:
    vmap, more = source.spell("jax.vmap")
    listed = ", ".join(source.code(n) for n in names)
    text = f"{vmap}(lambda {listed}: {source.code(element)})({', '.join(arrays)})"
    title = "map the function with vmap: it is compiled once, for all elements"
    yield Candidate("vmap", title, (source.replace(call, text), *more, *imports), 1)


def _appended_lists(source: Source, loop: ast.For) -> dict[str, ast.Expr] | None:
    """Return the lists that the loop appends to, with the statements; None for other mutations."""
    found: dict[str, ast.Expr] = {}
    for statement in loop.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("append", "extend", "insert", "update", "add", "pop"):
                name = node.func.value
                plain = isinstance(statement, ast.Expr) and statement.value is node
                if not plain or node.func.attr != "append" or not isinstance(name, ast.Name):
                    return None
                if name.id in found or not _starts_empty(source, loop, name.id):
                    return None
                assert isinstance(statement, ast.Expr)
                found[name.id] = statement
    return found


def _starts_empty(source: Source, loop: ast.For, name: str) -> bool:
    scope = source.function(loop) or source.tree
    values = source.assigned(name, scope)
    return len(values) == 1 and isinstance(values[0], ast.List) and not values[0].elts


def _loop_variable(loop: ast.For) -> str:
    return loop.target.id if isinstance(loop.target, ast.Name) else "_"


def _rewrite_as_fori_loop(
    source: Source, loop: ast.For, start: str, stop: str, step: str
) -> Iterator[Candidate]:
    carry = loop_carry(source, loop, loop.body)
    if not carry:
        return
    function, imports = source.spell("jax.lax.fori_loop")
    indent = source.indent(loop)
    inside = indent + INDENT
    body = source.fresh("body", loop)
    index = _loop_variable(loop)
    form = CarryForm.of(source, loop, carry)
    lines: list[str] = []
    counter = index
    if step != "1":
        counter = source.fresh("k", loop)
        lines.append(f"{inside}{index} = {start} + {counter} * {step}")
        if step.startswith("-"):
            stop = f"({start} - {stop} - ({step}) - 1) // -({step})"
        else:
            stop = f"({stop} - {start} + {step} - 1) // {step}"
        start = "0"
    rows = [
        f"{indent}def {body}({counter}, {form.state}):",
        *lines,
        *form.unpack(inside),
        source.block_text(loop.body, inside),
        f"{inside}return {form.names}",
        "",
        f"{indent}{form.names} = {function}({start}, {stop}, {body}, {form.packed})",
    ]
    title = "loop with fori_loop: compiled once, and the bounds may be traced"
    edit = source.replace_statements([loop], "\n".join(rows))
    yield Candidate("fori_or_scan", title, (edit, *imports), 2)


def _rewrite_as_scan(
    source: Source,
    loop: ast.For,
    count: tuple[str, str, str] | None,
    collected: dict[str, ast.Expr],
) -> Iterator[Candidate]:
    numpy, imports = source.spell("jax.numpy")
    function, more = source.spell("jax.lax.scan")
    if count is not None:
        over = arange_text(numpy, count)
        item = _loop_variable(loop)
    else:
        found = _scanned_array(source, loop, numpy)
        if found is None:
            return
        over, item = found
    carry = [n for n in loop_carry(source, loop, loop.body) if n not in collected]
    indent = source.indent(loop)
    inside = indent + INDENT
    body = source.fresh("body", loop)
    form = CarryForm.of(source, loop, carry) if carry else CarryForm("_", "_", "None")
    values: list[str] = []
    block = source.block_text(loop.body, inside).split("\n")
    offset = source.first_line(loop.body[0])
    for name, statement in collected.items():
        call = statement.value
        assert isinstance(call, ast.Call)
        value = source.fresh(f"{name}_item", loop)
        values.append(value)
        rows = range(statement.lineno - offset, (statement.end_lineno or 0) - offset + 1)
        if len(rows) == 1:
            block[rows[0]] = f"{inside}{value} = {source.code(call.args[0])}"
    if any(".append(" in row for row in block):
        return
    targets = list(collected)
    left = f"{form.packed if carry else '_'}, {_one_or_tuple(targets, '_')}"
    lines = [
        f"{indent}def {body}({form.state}, {item}):",
        *form.unpack(inside),
        *block,
        f"{inside}return {form.packed}, {_one_or_tuple(values, 'None')}",
        "",
        f"{indent}{left} = {function}({body}, {form.packed}, {over})",
    ]
    edit = source.replace_statements([loop], "\n".join(lines))
    title = "loop with scan: the body is compiled once"
    rank = 2 if collected or count is None else 3
    yield Candidate("fori_or_scan", title, (edit, *more, *imports), rank)


def _one_or_tuple(items: Sequence[str], default: str) -> str:
    if len(items) > 1:
        return f"({', '.join(items)})"
    return items[0] if items else default


def _scanned_array(source: Source, loop: ast.For, numpy: str) -> tuple[str, str] | None:
    """Return the array that is scanned and the name of its item."""
    target = source.code(loop.target)
    if isinstance(loop.target, (ast.Tuple, ast.List)) and not target.startswith("("):
        target = f"({target})"
    item = target if isinstance(loop.target, ast.Name) else source.fresh("item", loop)
    iterated = loop.iter
    if item != target:
        return None
    if isinstance(iterated, (ast.Name, ast.Attribute, ast.Subscript)):
        return source.code(iterated), item
    if isinstance(iterated, ast.Call) and source.meaning(iterated.func).startswith("jax.numpy."):
        return source.code(iterated), item
    return None
