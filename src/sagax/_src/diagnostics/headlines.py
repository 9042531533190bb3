"""Word the first line of an error: what happened, in the names of the user's program."""

from __future__ import annotations

import ast
import re
from typing import Any

from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.source import enclosing_nodes
from sagax._src.diagnostics.spans import display_path
from sagax._src.diagnostics.wording import text_of

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
    return text_of("unknown_in", function=function) if function else text_of("unknown")


def truth_headline(tracer: Any, span: Span | None) -> str:
    """Return what asks whether a traced value is true: `if`, `while`, `and`, a call."""
    text = expression_text(span)
    if not text or span is None:
        return ""
    unknown = _unknown(tracer)
    for inner, outer in enclosing_nodes(span):
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) if test is inner:
                return text_of("truth_if", text=text, unknown=unknown)
            case ast.While(test=test) if test is inner:
                return text_of("truth_while", text=text, unknown=unknown)
            case ast.Assert(test=test) if test is inner:
                return text_of("truth_assert", text=text, unknown=unknown)
            case ast.BoolOp(op=op) if inner in outer.values:
                word = "and" if isinstance(op, ast.And) else "or"
                return text_of("truth_operator", text=text, unknown=unknown, word=word)
            case ast.UnaryOp(op=ast.Not(), operand=operand) if operand is inner:
                return text_of("truth_not", text=text, unknown=unknown)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if any(
                inner in generator.ifs for generator in outer.generators
            ):
                return text_of("truth_items", text=text, unknown=unknown)
            case ast.Match():
                return text_of("truth_match", text=text, unknown=unknown)
            case _:
                break
    return _asking_call(span, text, unknown)


def _asking_call(span: Span, text: str, unknown: str) -> str:
    node = next((inner for inner, _ in enclosing_nodes(span)), None)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return text_of("truth_chain", text=text, unknown=unknown)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return text_of("truth_in", text=text, unknown=unknown)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _BUILTINS_THAT_COMPARE:
            return text_of("truth_builtin", text=text, unknown=unknown, name=name)
        return text_of("truth_call", text=text, unknown=unknown)
    return text_of("truth", text=text, unknown=unknown)


def number_headline(tracer: Any, span: Span | None, kind: str = "number") -> str:
    """Return what asks a traced value for its number: `range`, an index, `float`, a size."""
    text = expression_text(span)
    if not text or span is None:
        return ""
    unknown = _unknown(tracer)
    node = next((inner for inner, _ in enclosing_nodes(span)), None)
    if isinstance(node, ast.Subscript):
        return text_of("index", text=text, unknown=unknown)
    return text_of(f"needs_{kind}", text=text, unknown=unknown)


def array_headline(tracer: Any, span: Span | None) -> str:
    """Return the call that asks a traced array for its numbers."""
    text = expression_text(span)
    return text_of("numbers", text=text, unknown=_unknown(tracer)) if text else ""


def mask_headline(tracer: Any, span: Span | None) -> str:
    """Return the indexing by a mask, whose result has no static size."""
    text = expression_text(span)
    if not text or not text.endswith("]"):
        return ""
    return text_of("mask", text=text, unknown=_unknown(tracer))


def reuse_headline(first: Span | None, second: Span | None, key: str, loop: str) -> str:
    """Return how a random key is used twice."""
    if not key or second is None:
        return ""
    if loop:
        return text_of("key_in_loop", key=key)
    if first is None or (first.file, first.line, first.column) == (second.file, second.line, second.column):  # fmt: skip
        return text_of("key_same", key=key)
    if first.file == second.file:
        return text_of("key_lines", key=key, first=first.line, second=second.line)
    before, after = [f"{display_path(span.file)}:{span.line}" for span in (first, second)]
    return text_of("key_places", key=key, first=before, second=after)


def no_array_headline(name: str, value: Any) -> str:
    """Return which argument is neither an array nor a container of arrays."""
    if not name:
        return ""
    if callable(value) and hasattr(value, "__name__"):
        return text_of("function_as_array", name=name, value=value.__name__)
    if isinstance(value, str):
        return text_of("text_as_array", name=name, value=repr(value)) if len(value) < 20 else ""
    return text_of("no_array", name=name, value=type(value).__name__)


def scan_lengths_headline(span: Span | None, sizes: dict[str, int]) -> str:
    """Return the lengths of the sequences of a scan, by their expressions in the call."""
    shown: list[str] = []
    for path, size in sizes.items():
        text = _operand_text(span, 2, "xs", path.removeprefix("xs"))
        shown.append(text_of("length", text=text or path, size=size))
    text = ", ".join(shown)
    return text_of("lengths", shown=text) if len(text) < 100 else ""


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
