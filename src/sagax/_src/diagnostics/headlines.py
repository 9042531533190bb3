"""Word the first line of an error: what happened, in the names of the user's program."""

from __future__ import annotations

import ast
import re
from typing import Any

from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.source import enclosing_nodes
from sagax._src.diagnostics.spans import display_path

_MAX_TEXT = 60
_BUILTINS_THAT_COMPARE = {"max", "min", "sorted", "sort", "index", "remove", "count", "any", "all", "filter"}  # fmt: skip


def expression_text(span: Span | None) -> str:
    """Return the expression of a span on one line, "" if it is unknown or too long to be a name."""
    if span is None or span.column is None:
        return ""
    text = " ".join(span.text.split())
    return text if 0 < len(text) <= _MAX_TEXT and "#" not in text else ""


def traced_function(tracer: Any) -> str:
    """Return the name of the function that a tracer is traced in; "" if it has none."""
    info = getattr(getattr(tracer, "_trace", None), "debug_info", None)
    return str(getattr(info, "func_name", "") or "")


def _unknown(tracer: Any) -> str:
    function = traced_function(tracer)
    return f"not known while `{function}` is traced" if function else "not known while it is traced"


def truth_headline(tracer: Any, span: Span | None) -> str:
    """Return what asks whether a traced value is true: `if`, `while`, `and`, a call."""
    text = expression_text(span)
    if not text or span is None:
        return ""
    unknown = _unknown(tracer)
    for inner, outer in enclosing_nodes(span):
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) if test is inner:
                return f"`{text}` is {unknown}, so `if` cannot choose"
            case ast.While(test=test) if test is inner:
                return f"`{text}` is {unknown}, so `while` cannot know when to stop"
            case ast.Assert(test=test) if test is inner:
                return f"`{text}` is {unknown}, so `assert` cannot check it"
            case ast.BoolOp(op=op) if inner in outer.values:
                word = "and" if isinstance(op, ast.And) else "or"
                return f"`{text}` is {unknown}, so `{word}` cannot choose"
            case ast.UnaryOp(op=ast.Not(), operand=operand) if operand is inner:
                return f"`{text}` is {unknown}, so `not` cannot negate it"
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if any(
                inner in generator.ifs for generator in outer.generators
            ):
                return f"`{text}` is {unknown}, so `if` cannot choose the items"
            case ast.Match():
                return f"`{text}` is {unknown}, so `match` cannot choose"
            case _:
                break
    return _asking_call(span, text, unknown)


def _asking_call(span: Span, text: str, unknown: str) -> str:
    node = next((inner for inner, _ in enclosing_nodes(span)), None)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return f"`{text}` compares twice, with `and` between, and the first answer is {unknown}"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return f"`{text}` is {unknown}, so `in` cannot answer"
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _BUILTINS_THAT_COMPARE:
            return f"`{text}` asks about values that are {unknown}, so `{name}` cannot choose"
        return f"`{text}` asks whether a value is true that is {unknown}"
    return f"whether `{text}` is true is {unknown}"


def number_headline(tracer: Any, span: Span | None, kind: str = "number") -> str:
    """Return what asks a traced value for its number: `range`, an index, `float`, a size."""
    text = expression_text(span)
    if not text or span is None:
        return ""
    unknown = _unknown(tracer)
    node = next((inner for inner, _ in enclosing_nodes(span)), None)
    if isinstance(node, ast.Subscript):
        return f"`{text}` needs an index that is {unknown}: a list or a tuple cannot be traced"
    article = "an" if kind[0] in "aeiou" else "a"
    return f"`{text}` needs {article} {kind} that is {unknown}"


def array_headline(tracer: Any, span: Span | None) -> str:
    """Return the call that asks a traced array for its numbers."""
    text = expression_text(span)
    return f"`{text}` needs numbers that are {_unknown(tracer)}" if text else ""


def mask_headline(tracer: Any, span: Span | None) -> str:
    """Return the indexing by a mask, whose result has no static size."""
    text = expression_text(span)
    if not text or not text.endswith("]"):
        return ""
    return f"the size of `{text}` depends on a mask whose values are {_unknown(tracer)}"


def reuse_headline(first: Span | None, second: Span | None, key: str, loop: str) -> str:
    """Return how a random key is used twice."""
    if not key or second is None:
        return ""
    if loop:
        return f"`{key}` is used in each round of the loop: all rounds draw the same numbers"
    if first is None or (first.file, first.line, first.column) == (second.file, second.line, second.column):  # fmt: skip
        return f"`{key}` is used twice by the same expression, which draws the same numbers again"
    if first.file == second.file:
        return f"`{key}` is used twice, in line {first.line} and in line {second.line}"
    places = [f"{display_path(span.file)}:{span.line}" for span in (first, second)]
    return f"`{key}` is used twice, at {places[0]} and at {places[1]}"


def no_array_headline(name: str, value: Any) -> str:
    """Return which argument is neither an array nor a container of arrays."""
    if not name:
        return ""
    if callable(value) and hasattr(value, "__name__"):
        return f"`{name}` is a function, `{value.__name__}`, where an array is needed"
    if isinstance(value, str):
        return (
            f"`{name}` is the text {value!r}, where an array is needed" if len(value) < 20 else ""
        )
    kind = type(value).__name__
    return f"`{name}` is of class {kind}, which is neither an array nor a registered pytree"


def scan_lengths_headline(span: Span | None, sizes: dict[str, int]) -> str:
    """Return the lengths of the sequences of a scan, by their expressions in the call."""
    shown: list[str] = []
    for path, size in sizes.items():
        text = _operand_text(span, 2, "xs", path.removeprefix("xs"))
        shown.append(f"`{text or path}` has {size}")
    text = ", ".join(shown)
    return f"the sequences of the scan differ in length: {text}" if len(text) < 100 else ""


def _operand_text(span: Span | None, position: int, keyword: str, path: str) -> str:
    """Return the expression that a call at `span` passes for a part of an argument."""
    call = next((n for n, _ in enclosing_nodes(span)), None) if span is not None else None
    if not isinstance(call, ast.Call):
        return ""
    named = [k.value for k in call.keywords if k.arg == keyword]
    node = (named or call.args[position : position + 1] or [None])[0]
    for index, key in re.findall(r"\[(\d+)\]|\['([^']*)'\]", path):
        if isinstance(node, ast.Tuple | ast.List) and index:
            node = node.elts[int(index)] if int(index) < len(node.elts) else None
        elif isinstance(node, ast.Dict) and key:
            items = zip(node.keys, node.values, strict=True)
            found = (v for k, v in items if isinstance(k, ast.Constant) and k.value == key)
            node = next(found, None)
        else:
            return ""
    text = ast.unparse(node) if node is not None else ""
    return text if 0 < len(text) <= 30 else ""
