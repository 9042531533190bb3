"""Analyze the source of the user's functions: statements, return values, enclosing expressions.

Spans of running code come from its instructions (see `spans`).
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple, cast

from sagax._src.diagnostics.function_wrappers import wrapped_by
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.syntax import character_column


def function_code(function: Any) -> CodeType | None:
    """Return the code object of a user's function, through wrappers; None for other callables."""
    for _ in range(20):
        if isinstance(function, functools.partial):
            function = cast("Any", function).func
        elif (inner := wrapped_by(function)) is not None:
            function = inner
        elif hasattr(function, "__func__"):
            function = function.__func__
        else:
            break
    if not hasattr(function, "__code__"):
        function = getattr(cast("type[Any]", type(function)), "__call__", None)  # noqa: B004  the method, not a test
    return getattr(function, "__code__", None)


class Function(NamedTuple):
    """Describe a function in a file: its statements, without those of inner functions."""

    file: str
    name: str
    first: int
    last: int
    statements: list[ast.stmt]
    declared: set[str]  # global and nonlocal
    value: ast.expr | None  # the body of a lambda


def defines_code(function: Function, code: Any) -> bool:
    """Return whether `code` was compiled from a function of the source."""
    if (function.file, function.name) != (code.co_filename, code.co_name):
        return False
    if not function.first <= code.co_firstlineno <= function.last:
        return False
    value = function.value  # there may be several lambdas in a line
    return value is None or (
        (value.lineno, value.end_lineno, value.col_offset, value.end_col_offset)
        in code.co_positions()
    )


def functions(file: str) -> list[Function]:
    """Return all functions of a file, inner ones first; none without source."""
    return _functions(file, "".join(linecache.getlines(file)))


def enclosing_nodes(span: Span) -> list[tuple[ast.AST, ast.AST]]:
    """Return an expression and its parent, that and its parent, and so on; [] without source."""
    text = "".join(linecache.getlines(span.file))
    lines = text.splitlines()
    if span.column is None or span.end_column is None or span.end_line > len(lines):
        return []
    start = (span.line, len(lines[span.line - 1][: span.column].encode()))
    end = (span.end_line, len(lines[span.end_line - 1][: span.end_column].encode()))
    path: list[ast.AST] = []
    node: ast.AST | None = _tree(span.file, text)
    while node is not None:
        path.append(node)
        node = next((n for n in _located_children(node) if _covers(n, start, end)), None)
    return list(itertools.pairwise(reversed(path)))


def _located_children(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:  # such as a comprehension, which has no position of its own
            yield from _located_children(child)


def _covers(node: Any, start: tuple[int, int], end: tuple[int, int]) -> bool:
    first = (node.lineno, node.col_offset)
    return first <= start and end <= (node.end_lineno or 0, node.end_col_offset or 0)


@functools.lru_cache(maxsize=16)
def _tree(file: str, text: str) -> ast.Module | None:
    try:
        return ast.parse(text, file)
    except SyntaxError:
        return None


@functools.lru_cache(maxsize=16)
def _functions(file: str, text: str) -> list[Function]:
    tree = _tree(file, text)
    if tree is None:
        return []
    found: list[Function] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            last = node.end_lineno or node.lineno
            statement = ast.copy_location(ast.Expr(node.body), node.body)
            found.append(
                Function(file, "<lambda>", node.lineno, last, [statement], set(), node.body)
            )
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            statements = list(_simple_statements(node.body))
            declared = (s for s in statements if isinstance(s, (ast.Global, ast.Nonlocal)))
            names = {name for statement in declared for name in statement.names}
            first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
            last = node.end_lineno or node.lineno
            found.append(Function(file, node.name, first, last, statements, names, None))
    return sorted(found, key=lambda f: f.first, reverse=True)


def _simple_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the simple statements in a body and its blocks, except inner functions."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        blocks = [getattr(statement, n, []) for n in ("body", "orelse", "finalbody")]
        blocks += [part.body for n in ("handlers", "cases") for part in getattr(statement, n, ())]
        if not any(blocks):
            yield statement
        for block in blocks:
            yield from _simple_statements(block)


def return_span(code: Any, line: int = 0, at: Sequence[int] = ()) -> Span | None:
    """Return the span of a function's `return`: the one that contains a line, or the last.

    `at` selects an item of a tuple display, such as 0 for the carry of a scan.
    """
    if code is None:
        return None
    for function in functions(code.co_filename):
        if not defines_code(function, code):
            continue
        function = function._replace(name=code.co_qualname.replace("<locals>.", ""))
        if function.value is not None:
            return span_of(_tuple_item(function.value, at), function)
        found = [s for s in function.statements if isinstance(s, ast.Return) and s.value]
        containing = (s for s in found if s.lineno <= line <= (s.end_lineno or s.lineno))
        chosen = next(containing, found[-1] if found else None)
        if chosen is None or chosen.value is None:
            return None
        return span_of(_tuple_item(chosen.value, at) if at else chosen, function)
    return None


def _tuple_item(node: ast.expr, at: Sequence[int]) -> ast.expr:
    for i in at:
        if not isinstance(node, (ast.Tuple, ast.List)) or i >= len(node.elts):
            break
        node = node.elts[i]
    return node


def span_of(statement: ast.stmt | ast.expr, function: Function) -> Span:
    """Return the span of a statement or expression of a function."""
    lines = linecache.getlines(function.file)
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    source = tuple(text.rstrip("\r\n") for text in lines[first - 1 : last])
    start = character_column(source[0], statement.col_offset)
    end = character_column(source[-1], statement.end_col_offset or 0)
    return Span(function.file, first, start, last, end, function.name, source)


_CHOICES = {"where", "select", "piecewise", "select_n"}


def enclosing_choice(span: Span, code: Any) -> Span | None:
    """Return the span of the `where` that selects an expression, directly or by a variable."""
    for function in functions(code.co_filename):
        if not defines_code(function, code):
            continue
        names: set[str] = set()
        for statement in function.statements:
            inside = [
                n for n in ast.walk(statement) if isinstance(n, ast.expr) and _has_span(n, span)
            ]
            if inside and isinstance(statement, ast.Assign):
                names |= {t.id for t in statement.targets if isinstance(t, ast.Name)}
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and _called_name(node) in _CHOICES:
                    sides = [n for side in node.args[1:] for n in ast.walk(side)]
                    if any(n in sides for n in inside) or any(
                        isinstance(n, ast.Name) and n.id in names for n in sides
                    ):
                        return span_of(node, function)
    return None


def _called_name(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _has_span(node: ast.expr, span: Span) -> bool:
    return (node.lineno, node.end_lineno) == (span.line, span.end_line) and (
        span.column is None or _columns(node, span) == (span.column, span.end_column)
    )


def _columns(node: ast.expr, span: Span) -> tuple[int, int]:
    """Return the columns of a node in characters."""
    start = character_column(span.source[0], node.col_offset)
    return start, character_column(span.source[-1], node.end_col_offset or 0)


def line_span(file: str, first: int, last: int, function: str) -> Span:
    """Return the span of whole lines."""
    source = tuple(text.rstrip("\r\n") for text in linecache.getlines(file)[first - 1 : last])
    return Span(file, first, None, last, None, function, source)


# public names that jax lacks and advice mentions
_OWN_NAMES = ("autojit", "ds", "explain", "explain_compiles", "tree.dataclass")
_IMPORTS_JAX = re.compile(r"^\s*(?:import|from)\s+jax\b", re.MULTILINE)


def names_as_imported(text: str, file: str) -> str:
    """Spell names such as `sagax.vmap` as a file does that imports jax, and mark what jax lacks."""
    if "sagax." not in text or not getattr(sys.modules.get("jax"), "__sagax_alias__", False):
        return text
    if not _IMPORTS_JAX.search("".join(linecache.getlines(file))):
        return text

    def spelled(found: re.Match[str]) -> str:
        name = found[1]
        own = name in _OWN_NAMES
        return f"sagax.{name} (only sagax has it)" if own else f"jax.{name}"

    return re.sub(r"\bsagax\.(\w+(?:\.\w+)*)", spelled, text)
