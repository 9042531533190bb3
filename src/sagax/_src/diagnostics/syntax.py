"""Find the operand of an instruction within the statement that Python attributes it to.

Depending on its version, Python attributes the test of an `if` to the test or to the whole statement.
It attributes `not x` and `a or b` to the whole expression. The syntax tree gives the operand.
"""

from __future__ import annotations

import ast
import dis
import re
from types import CodeType
from typing import NamedTuple


class OperandPosition(NamedTuple):
    """Locate an operand: lines from the first line of the text, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


def find_operand(code: CodeType, offset: int, text: str, column: int) -> OperandPosition | None:
    """Return the part of `text`, which begins at `column`, that an instruction reads; None: all."""
    operation = dis.opname[code.co_code[offset]]
    if operation.startswith(("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")):
        choose = _tested_operand
    elif operation in ("GET_ITER", "FOR_ITER"):
        choose = _iterated_operand
    elif operation in ("BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"):
        choose = _context_manager
    else:
        return None
    if not re.search(r"\b(if|elif|while|assert|not|and|or|for|with)\b", text):
        return None
    parsed = _parse(text, column)
    found = choose(parsed.node) if parsed else None
    if parsed is None or found is None:
        return None
    end_line, end_column = found.end_lineno or found.lineno, found.end_col_offset or 0
    return OperandPosition(
        found.lineno - parsed.above,
        character_column(parsed.lines[found.lineno - 1], found.col_offset),
        end_line - parsed.above,
        character_column(parsed.lines[end_line - 1], end_column),
    )


def character_column(line: str, column: int) -> int:
    """Convert a column from UTF-8 bytes to characters."""
    return column if line.isascii() else len(line.encode()[:column].decode())


def _tested_operand(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
            found = test
        case ast.IfExp(test=test):
            found = test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BoolOp(values=[first, _]):  # the last operand is the result and is not tested
            return first
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            conditions = [test for generator in node.generators for test in generator.ifs]
            return conditions[0] if len(conditions) == 1 else None
        case _:
            return None
    negated = isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.Not)
    return found.operand if negated else found  # type: ignore[union-attr]


def _iterated_operand(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.For(iter=found) | ast.AsyncFor(iter=found):
            return found
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return node.generators[0].iter if len(node.generators) == 1 else None
        case _:
            return None


def _context_manager(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.With(items=[item]) | ast.AsyncWith(items=[item]):
            return item.context_expr
        case _:
            return None


class _ParsedText(NamedTuple):
    node: ast.AST
    lines: list[str]  # what was parsed: the text with its columns kept
    above: int  # line number of the text's first line in it


def _parse(text: str, column: int) -> _ParsedText | None:
    if text.startswith("elif"):
        text = "if  " + text[4:]
    indented = " " * column + text
    as_expression = f"(\n{indented}\n)"
    as_statement = f"async def f():\n{indented}" if column else indented
    try:
        return _ParsedText(ast.parse(as_expression, mode="eval").body, as_expression.split("\n"), 2)
    except SyntaxError:
        pass
    try:
        body = ast.parse(as_statement).body
    except SyntaxError:
        return None
    if column:
        body = body[0].body  # type: ignore[attr-defined]
    return _ParsedText(body[0], as_statement.split("\n"), 2 if column else 1)
