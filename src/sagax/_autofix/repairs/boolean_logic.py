"""Repair truth tests of traced values: `and`, `or`, `not`, chained comparisons, `in`, `max`, `abs`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import Source

__all__ = ["builtins", "in_arrays", "logic", "needs_arrays", "splice", "truth_of"]


def splice(source: Source, node: ast.AST, texts: Mapping[Any, str]) -> str:
    """The text of a node with the texts of some of its (disjoint) parts replaced."""
    text, at = source.code(node), source.span(node)
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        row = line - at.line
        return starts[row] + column - ((at.column or 0) if row == 0 else 0)

    places = sorted(
        ((source.span(part), new) for part, new in texts.items()),
        key=lambda p: (p[0].line, p[0].column or 0),
        reverse=True,
    )
    for span, new in places:
        start = offset(span.line, span.column or 0)
        end = offset(span.end_line, span.end_column or 0)
        text = text[:start] + new + text[end:]
    return text


def needs_arrays(node: ast.AST) -> bool:
    """Whether an expression asks its operands whether they are true."""
    if isinstance(node, ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return True
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], (ast.In, ast.NotIn))
    return False


def in_arrays(source: Source, node: ast.AST, numpy: str) -> str:
    """The text of an expression with its logic written in functions of arrays."""
    if isinstance(node, ast.BoolOp):
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return _fold(f"{numpy}.{name}", [in_arrays(source, v, numpy) for v in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"{numpy}.logical_not({in_arrays(source, node.operand, numpy)})"
    if isinstance(node, ast.Compare) and needs_arrays(node):
        parts = [node.left, *node.comparators]
        texts = [in_arrays(source, p, numpy) for p in parts]
        links = [
            _link(source, op, parts[i + 1], texts[i], texts[i + 1], numpy)
            for i, op in enumerate(node.ops)
        ]
        return _fold(f"{numpy}.logical_and", links)
    inner = _outermost(node)
    return splice(source, node, {n: in_arrays(source, n, numpy) for n in inner})


def _link(
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
        else:  # a tuple or a list, for all that is known here
            right_text = f"{numpy}.asarray({right_text})"
        text = f"{numpy}.isin({left_text}, {right_text})"
        return f"{numpy}.logical_not({text})" if isinstance(op, ast.NotIn) else text
    signs: dict[type[ast.cmpop], str] = {
        ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
        ast.Is: "is", ast.IsNot: "is not",
    }  # fmt: skip
    sign = signs[type(op)]
    return f"{left_text} {sign} {right_text}"


def _fold(function: str, texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    found = texts[0]
    for text in texts[1:]:
        found = f"{function}({found}, {text})"
    return found


def _outermost(node: ast.AST) -> list[ast.AST]:
    """The parts of an expression that need rewriting and are not inside of another such part."""
    found: list[ast.AST] = []
    todo = list(ast.iter_child_nodes(node))
    while todo:
        child = todo.pop()
        if needs_arrays(child):
            found.append(child)
        elif not isinstance(child, (ast.Lambda, ast.IfExp)):
            todo += ast.iter_child_nodes(child)
    return found


def truth_of(case: Case) -> tuple[ast.AST | None, ast.AST | None]:
    """The whole logical expression at fault, and the statement or expression that tests it."""
    source, node = case.source, case.node
    if source is None or node is None:
        return None, None
    if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
        return node.test, node
    while True:
        parent = source.parents.get(node)
        if isinstance(parent, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            return (node, parent) if parent.test is node else (node, None)
        if parent is None or not needs_arrays(parent):
            return node, None
        node = parent


def logic(case: Case) -> Iterator[Candidate]:
    """`a and b` -> `jnp.logical_and(a, b)`, where the result is a value and no test."""
    source = case.source
    whole, tested = truth_of(case)
    if source is None or whole is None or tested is not None or not needs_arrays(whole):
        return
    numpy, imports = source.spell("jax.numpy")
    edits = (source.replace(whole, in_arrays(source, whole, numpy)), *imports)
    title = "combine with functions of arrays, which do not ask for the truth of each"
    yield Candidate("logical_ops", title, edits, 2)
    if isinstance(whole, ast.BoolOp):  # `x or 1.0` is one of the two, and no truth value
        title = "choose the value with where, as `and` and `or` do"
        edit = source.replace(whole, _valued(source, whole, numpy))
        yield Candidate("where", title, (edit, *imports), 3)


def _valued(source: Source, node: ast.BoolOp, numpy: str) -> str:
    """`a or b` -> `where(a, a, b)`, `a and b` -> `where(a, b, a)`."""
    *first, text = [in_arrays(source, v, numpy) for v in node.values]
    for value in reversed(first):
        sides = f"{value}, {text}" if isinstance(node.op, ast.Or) else f"{text}, {value}"
        text = f"{numpy}.where({value}, {sides})"
    return text


_PAIRS = {"max": "maximum", "min": "minimum"}
_ONE = {"abs": "abs", "round": "round", "any": "any", "all": "all", "sum": "sum", "max": "max",
        "min": "min", "sorted": "sort", "divmod": "divmod", "pow": "power"}  # fmt: skip


def builtins(case: Case) -> Iterator[Candidate]:
    """`max(a, b)` -> `jnp.maximum(a, b)`, and other functions of Python's that compare."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    call = node if isinstance(node, ast.Call) else source.enclosing(node, ast.Call)
    if call is None or not isinstance(call.func, ast.Name) or call.func.id not in _ONE:
        return
    statement = source.statement(call)
    numpy, imports = source.spell("jax.numpy")
    texts: dict[ast.AST, str] = {}
    # all calls of the kind in the statement: where one is traced, its neighbours are
    for found in source.nodes(ast.Call, statement):
        nested = any(found in list(ast.walk(t)) for t in texts)
        if not nested and (text := _builtin(source, found, numpy)):
            texts[found] = text
    if not texts:
        return
    edits = tuple(source.replace(found, text) for found, text in texts.items())
    names = sorted(
        {c.func.id for c in texts if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)}
    )
    title = f"use the functions of arrays in place of Python's {', '.join(names)}"
    yield Candidate("minimum_maximum", title, (*edits, *imports), 1)


def _by_key(source: Source, call: ast.Call, numpy: str) -> str:
    """`min(xs, key=f)` -> the item whose key is the least; `sorted` in the same way."""
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


def _builtin(source: Source, call: ast.Call, numpy: str) -> str:
    if not isinstance(call.func, ast.Name):
        return ""
    name, args = call.func.id, call.args
    if call.keywords:
        return _by_key(source, call, numpy)
    if name not in _ONE or not args:
        return ""

    def text(arg: ast.expr) -> str:
        inner = [n for n in ast.walk(arg) if isinstance(n, ast.Call) and n is not arg]
        new = {n: t for n in inner if (t := _builtin(source, n, numpy))}
        outer = {
            n: t
            for n, t in new.items()
            if not any(n in list(ast.walk(o)) and n is not o for o in new)
        }
        if isinstance(arg, ast.Call) and (whole := _builtin(source, arg, numpy)):
            return whole
        return splice(source, arg, outer)

    if name in _PAIRS and len(args) > 1:
        found = text(args[0])
        for arg in args[1:]:
            found = f"{numpy}.{_PAIRS[name]}({found}, {text(arg)})"
        return found
    if name in ("divmod", "pow") and len(args) == 2:
        return f"{numpy}.{_ONE[name]}({text(args[0])}, {text(args[1])})"
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
            return f"{numpy}.{_ONE[name]}({stacked})"
        return f"{numpy}.{_ONE[name]}({numpy}.asarray({text(arg)}))"
    return ""
