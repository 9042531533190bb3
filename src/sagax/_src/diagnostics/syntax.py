"""Which part of a statement an instruction is about.

Python attributes the test of an `if` sometimes to the test and sometimes, depending on its version,
to the whole statement, `not x` and `a or b` always to the whole expression. The value that the
instruction looked at is a part of it, which the syntax tree tells.
"""

from __future__ import annotations

import ast
import dis
import re
from types import CodeType
from typing import NamedTuple

__all__ = ["Part", "part"]


class Part(NamedTuple):
    """Where a part lies: lines from the first line of the text, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


def part(code: CodeType, offset: int, text: str, column: int) -> Part | None:
    """The part of `text`, which begins at `column`, that the instruction looked at; None: all."""
    operation = dis.opname[code.co_code[offset]]
    if operation.startswith(("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")):
        choose = _test
    elif operation in ("GET_ITER", "FOR_ITER"):
        choose = _iterable
    elif operation in ("BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"):
        choose = _manager
    else:
        return None
    if not re.search(r"\b(if|elif|while|assert|not|and|or|for|with)\b", text):
        return None
    parsed = _parse(text, column)
    found = choose(parsed.node) if parsed else None
    if parsed is None or found is None:
        return None
    end_line, end_column = found.end_lineno or found.lineno, found.end_col_offset or 0
    return Part(
        found.lineno - parsed.above,
        _characters(parsed.lines[found.lineno - 1], found.col_offset),
        end_line - parsed.above,
        _characters(parsed.lines[end_line - 1], end_column),
    )


def _characters(line: str, column: int) -> int:
    return len(line.encode()[:column].decode())


def _test(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
            found = test
        case ast.IfExp(test=test):
            found = test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BoolOp(values=[first, _]):  # the last one is the result, nobody asks if it is true
            return first
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            conditions = [test for generator in node.generators for test in generator.ifs]
            return conditions[0] if len(conditions) == 1 else None
        case _:
            return None
    negated = isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.Not)
    return found.operand if negated else found  # type: ignore[union-attr]


def _iterable(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.For(iter=found) | ast.AsyncFor(iter=found):
            return found
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return node.generators[0].iter if len(node.generators) == 1 else None
        case _:
            return None


def _manager(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.With(items=[item]) | ast.AsyncWith(items=[item]):
            return item.context_expr
        case _:
            return None


class _Parsed(NamedTuple):
    node: ast.AST
    lines: list[str]  # what was parsed: the text with its columns kept
    above: int  # line number of the text's first line in it


def _parse(text: str, column: int) -> _Parsed | None:
    if text.startswith("elif"):
        text = "if  " + text[4:]
    indented = " " * column + text
    as_expression = f"(\n{indented}\n)"
    as_statement = f"async def f():\n{indented}" if column else indented
    try:
        return _Parsed(ast.parse(as_expression, mode="eval").body, as_expression.split("\n"), 2)
    except SyntaxError:
        pass
    try:
        body = ast.parse(as_statement).body
    except SyntaxError:
        return None
    if column:
        body = body[0].body  # type: ignore[attr-defined]
    return _Parsed(body[0], as_statement.split("\n"), 2 if column else 1)
