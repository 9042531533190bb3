"""Repair truth tests of traced values: `and`, `or`, `not`, chained comparisons, `in`, `max`, `abs`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source


def substitute(source: Source, node: ast.AST, texts: Mapping[Any, str]) -> str:
    """Return the text of a node with some of its (disjoint) parts replaced."""
    text, at = source.code(node), source.span(node)
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        row = line - at.line
        return starts[row] + column - ((at.column or 0) if row == 0 else 0)

    replacements = sorted(
        ((source.span(part), new) for part, new in texts.items()),
        key=lambda p: (p[0].line, p[0].column or 0),
        reverse=True,
    )
    for span, new in replacements:
        start = offset(span.line, span.column or 0)
        end = offset(span.end_line, span.end_column or 0)
        text = text[:start] + new + text[end:]
    return text


def tests_truth(node: ast.AST) -> bool:
    """Return whether an expression tests the truth of its operands."""
    if isinstance(node, ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return True
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], (ast.In, ast.NotIn))
    return False


def as_array_logic(source: Source, node: ast.AST, numpy: str) -> str:
    """Return the text of an expression with its logic as functions of arrays."""
    if isinstance(node, ast.BoolOp):
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return _nest(f"{numpy}.{name}", [as_array_logic(source, v, numpy) for v in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"{numpy}.logical_not({as_array_logic(source, node.operand, numpy)})"
    if isinstance(node, ast.Compare) and tests_truth(node):
        parts = [node.left, *node.comparators]
        texts = [as_array_logic(source, p, numpy) for p in parts]
        links = [
            _comparison_text(source, op, parts[i + 1], texts[i], texts[i + 1], numpy)
            for i, op in enumerate(node.ops)
        ]
        return _nest(f"{numpy}.logical_and", links)
    inner = _outermost(node)
    return substitute(source, node, {n: as_array_logic(source, n, numpy) for n in inner})


def _comparison_text(
    source: Source, op: ast.cmpop, right: ast.expr, left_text: str, right_text: str, numpy: str
) -> str:
    if isinstance(op, (ast.In, ast.NotIn)):
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            items = ", ".join(source.code(e) for e in right.elts)
            right_text = f"{numpy}.array([{items}])"
        elif isinstance(right, ast.Name) and any(
            isinstance(v, (ast.Set, ast.Dict))
            or getattr(getattr(v, "func", None), "id", "") in ("set", "frozenset")
            for v in source.assigned(right.id, source.tree)
        ):
            right_text = f"{numpy}.array(list({right_text}))"
        else:  # presumably a tuple or a list
            right_text = f"{numpy}.asarray({right_text})"
        text = f"{numpy}.isin({left_text}, {right_text})"
        return f"{numpy}.logical_not({text})" if isinstance(op, ast.NotIn) else text
    signs: dict[type[ast.cmpop], str] = {
        ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
        ast.Is: "is", ast.IsNot: "is not",
    }  # fmt: skip
    sign = signs[type(op)]
    return f"{left_text} {sign} {right_text}"


def _nest(function: str, texts: list[str]) -> str:
    return functools.reduce(lambda left, right: f"{function}({left}, {right})", texts)


def _outermost(node: ast.AST) -> list[ast.AST]:
    """Return the outermost parts of an expression that test truth."""
    found: list[ast.AST] = []
    todo = list(ast.iter_child_nodes(node))
    while todo:
        child = todo.pop()
        if tests_truth(child):
            found.append(child)
        elif not isinstance(child, (ast.Lambda, ast.IfExp)):
            todo += ast.iter_child_nodes(child)
    return found


def find_truth_test(case: Case) -> tuple[ast.AST | None, ast.AST | None]:
    """Return the whole logical expression at fault, and the statement or expression that tests it."""
    source, node = case.source, case.node
    if source is None or node is None:
        return None, None
    if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
        return node.test, node
    while True:
        parent = source.parents.get(node)
        if isinstance(parent, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            return (node, parent) if parent.test is node else (node, None)
        if parent is None or not tests_truth(parent):
            return node, None
        node = parent


def use_logical_functions(case: Case) -> Iterator[Candidate]:
    """Rewrite `a and b`, used as a value, as `jnp.logical_and(a, b)`."""
    source = case.source
    whole, tested = find_truth_test(case)
    if source is None or whole is None or tested is not None or not tests_truth(whole):
        return
    numpy, imports = source.spell("jax.numpy")
    edits = (source.replace(whole, as_array_logic(source, whole, numpy)), *imports)
    title = "combine with functions of arrays, which do not ask for the truth of each"
    yield Candidate("logical_ops", title, edits, 2)
    if isinstance(whole, ast.BoolOp):  # `x or 1.0` evaluates to an operand, not to a boolean
        title = "choose the value with where, as `and` and `or` do"
        edit = source.replace(whole, _where_text(source, whole, numpy))
        yield Candidate("where", title, (edit, *imports), 3)


def _where_text(source: Source, node: ast.BoolOp, numpy: str) -> str:
    """Return `where(a, a, b)` for `a or b`, and `where(a, b, a)` for `a and b`."""
    *first, text = [as_array_logic(source, v, numpy) for v in node.values]
    for value in reversed(first):
        sides = f"{value}, {text}" if isinstance(node.op, ast.Or) else f"{text}, {value}"
        text = f"{numpy}.where({value}, {sides})"
    return text


_BINARY_BUILTINS = {"max": "maximum", "min": "minimum"}
_ARRAY_FUNCTIONS = {"abs": "abs", "round": "round", "any": "any", "all": "all", "sum": "sum", "max": "max",
        "min": "min", "sorted": "sort", "divmod": "divmod", "pow": "power"}  # fmt: skip


@at_expression
def replace_builtins(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `max(a, b)` and other builtins that compare as functions of jax.numpy."""
    call = source.enclosing(node, ast.Call)
    if call is None or not isinstance(call.func, ast.Name) or call.func.id not in _ARRAY_FUNCTIONS:
        return
    statement = source.statement(call)
    numpy, imports = source.spell("jax.numpy")
    texts: dict[ast.AST, str] = {}
    # all such calls in the statement: where one is traced, its neighbors are
    for found in source.nodes(ast.Call, statement):
        nested = any(found in list(ast.walk(t)) for t in texts)
        if not nested and (text := _builtin_text(source, found, numpy)):
            texts[found] = text
    if not texts:
        return
    edits = tuple(source.replace(found, text) for found, text in texts.items())
    names = sorted(
        {c.func.id for c in texts if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)}
    )
    title = f"use the functions of arrays in place of Python's {', '.join(names)}"
    yield Candidate("minimum_maximum", title, (*edits, *imports), 1)


def _ordering_text(source: Source, call: ast.Call, numpy: str) -> str:
    """Return the text for `min(xs, key=f)` and for `sorted`, by argmin and argsort of the keys."""
    name = getattr(call.func, "id", "")
    options = {k.arg: k.value for k in call.keywords}
    order = {"min": "argmin", "max": "argmax", "sorted": "argsort"}.get(name)
    if order is None or len(call.args) != 1 or not set(options) <= {"key", "reverse"}:
        return ""
    items = source.code(call.args[0])
    last = "[::-1]" if "reverse" in options and source.code(options["reverse"]) == "True" else ""
    if "key" not in options:
        return f"{numpy}.sort({numpy}.asarray({items})){last}"
    key = source.code(options["key"])
    if not isinstance(options["key"], (ast.Name, ast.Attribute)):
        key = f"({key})"
    keys = f"{numpy}.stack([{numpy}.asarray({key}(item)) for item in {items}])"
    return f"{numpy}.asarray({items})[{numpy}.{order}({keys}){last}]"


def _builtin_text(source: Source, call: ast.Call, numpy: str) -> str:
    if not isinstance(call.func, ast.Name):
        return ""
    name, args = call.func.id, call.args
    if call.keywords:
        return _ordering_text(source, call, numpy)
    if name not in _ARRAY_FUNCTIONS or not args:
        return ""

    def text(arg: ast.expr) -> str:
        inner = [n for n in ast.walk(arg) if isinstance(n, ast.Call) and n is not arg]
        new = {n: t for n in inner if (t := _builtin_text(source, n, numpy))}
        outer = {
            n: t
            for n, t in new.items()
            if not any(n in list(ast.walk(o)) and n is not o for o in new)
        }
        if isinstance(arg, ast.Call) and (whole := _builtin_text(source, arg, numpy)):
            return whole
        return substitute(source, arg, outer)

    if name in _BINARY_BUILTINS and len(args) > 1:
        found = text(args[0])
        for arg in args[1:]:
            found = f"{numpy}.{_BINARY_BUILTINS[name]}({found}, {text(arg)})"
        return found
    if name in ("divmod", "pow") and len(args) == 2:
        return f"{numpy}.{_ARRAY_FUNCTIONS[name]}({text(args[0])}, {text(args[1])})"
    if name == "round":
        return f"{numpy}.round({', '.join(text(a) for a in args)})"
    if name == "abs":
        return f"{numpy}.abs({text(args[0])})"
    if name in ("any", "all", "max", "min", "sorted", "sum") and len(args) == 1:
        arg = args[0]
        if isinstance(arg, ast.GeneratorExp):
            inside = source.code(arg)
            if inside.startswith("(") and inside.endswith(")"):
                inside = inside[1:-1]
            stacked = f"{numpy}.stack([{numpy}.asarray(v) for v in ({inside})])"
            return f"{numpy}.{_ARRAY_FUNCTIONS[name]}({stacked})"
        return f"{numpy}.{_ARRAY_FUNCTIONS[name]}({numpy}.asarray({text(arg)}))"
    return ""
