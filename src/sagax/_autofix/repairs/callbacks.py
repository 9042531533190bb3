"""Repair callbacks: declared results, and `vmap_method`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.dataflow import (
    path_keys,
    reaching_definitions,
    resolve_functions,
    returned_expressions,
)
from sagax._autofix.repairs.source_file import Source, argument, keyword_value, tuple_text
from sagax._autofix.repairs.transform_options import Application, set_option
from sagax._autofix.repairs.types import widest_dtype
from sagax._src.diagnostics.model import Edit

_CALLBACKS = ("jax.pure_callback", "jax.experimental.io_callback", "jax.io_callback")


def set_vmap_method(case: Case) -> Iterator[Candidate]:
    """Set `vmap_method` of a callback: one call for each example."""
    wrong_shape = "another shape" in case.facts.message
    if "vmap_method=None" not in case.facts.message and not wrong_shape:
        return
    for source, call in _callback_calls(case):
        given = keyword_value(call, "vmap_method")
        if wrong_shape and (given is None or "sequential" in source.code(given)):
            continue
        edits = set_option(Application(source, call), "vmap_method", '"sequential"')
        title = "say how to map the function: it is called once for each example"
        yield Candidate("callback", title, tuple(edits), 1)


def match_declared_result(case: Case) -> Iterator[Candidate]:
    """Match the declared result of a callback with the shape and dtype that it returns."""
    data = case.facts.data
    expected, got = data.get("expected", ""), data.get("got", "")
    attribute = "shape" if "another shape" in case.facts.message else "dtype"
    if f"another {attribute} than" not in case.facts.message:
        return
    position, declare = (0, _declare_shape) if attribute == "shape" else (1, _declare_dtype)
    keys = path_keys(data.get("argument", "").removeprefix("result"))
    for source, call in _callback_calls(case):
        declared = argument(call, 1, "result_shape_dtypes")
        for found in reaching_definitions(case, source, declared, keys) if declared else ():
            struct = found.node
            value = argument(struct, position, attribute) if isinstance(struct, ast.Call) else None
            if value is not None:
                yield from declare(found.source, value, expected, got)
        if attribute == "dtype" and call.args and widest_dtype([expected, got]) == expected:
            yield from _convert_result(case, source, call.args[0], keys, expected)


def _callback_calls(case: Case) -> list[tuple[Source, ast.Call]]:
    """Return the call of a callback at fault, or else all such calls."""
    for source, node in case.located(reversed(case.facts.frames)):
        if isinstance(node, ast.Call) and source.meaning(node.func) in _CALLBACKS:
            return [(source, node)]
    partials = [
        (s, c)
        for s in case.sources.values()
        for c in s.calls_of("functools.partial")
        if c.args and s.meaning(c.args[0]) in _CALLBACKS
    ]
    return [(s, c) for s in case.sources.values() for c in s.calls_of(*_CALLBACKS)] + partials


def _option(call: ast.Call, at: int, name: str) -> ast.expr | None:
    if len(call.args) > at:
        return call.args[at]
    return next((k.value for k in call.keywords if k.arg == name), None)


def _declare_dtype(
    source: Source, declared: ast.expr, expected: str, got: str
) -> Iterator[Candidate]:
    dtype = _option(declared, 1, "dtype") if isinstance(declared, ast.Call) else None
    if dtype is None:
        return
    numpy, imports = source.spell("jax.numpy")
    title = f"declare the dtype that the function returns, {got}"
    edits = (source.replace(dtype, f"{numpy}.{got}"), *imports)
    yield Candidate("callback", title, edits, 1 if widest_dtype([expected, got]) == got else 2)


def _convert_result(
    case: Case, source: Source, function: ast.expr, keys: tuple[str, ...], dtype: str
) -> Iterator[Candidate]:
    """Convert the result of the function to the declared dtype."""
    for defining, found in resolve_functions(case, source, function):
        edits: list[Edit] = []
        numpy, imports = defining.spell("numpy")
        for value in returned_expressions(defining, found):
            for definition in reaching_definitions(case, defining, value, keys):
                if definition.rest or definition.source is not defining:
                    continue
                text = f"{numpy}.asarray({defining.code(definition.node)}, dtype={numpy}.{dtype})"
                edits.append(defining.replace(definition.node, text))
        if edits:
            title = f"return {dtype}, the dtype that is declared"
            yield Candidate("callback", title, (*dict.fromkeys(edits), *imports), 1)


def _declare_shape(source: Source, shape: ast.expr, expected: str, got: str) -> Iterator[Candidate]:
    sizes, wanted = [[int(n) for n in re.findall(r"\d+", text)] for text in (expected, got)]
    base = source.code(shape)
    texts: list[str] = []
    if len(sizes) == len(wanted):
        steps = [b - a for a, b in zip(sizes, wanted, strict=True)]
        if isinstance(shape, (ast.Tuple, ast.List)) and len(shape.elts) == len(steps):
            items = [source.code(e) for e in shape.elts]
            literals = [isinstance(e, ast.Constant) for e in shape.elts]
        else:
            items, literals = [f"{base}[{i}]" for i in range(len(steps))], [False] * len(steps)
        items = [
            str(n) if known else _add_offset(item, step)
            for item, known, step, n in zip(items, literals, steps, wanted, strict=True)
        ]
        texts.append(tuple_text(items))
    elif wanted and sizes[1:] == wanted:
        texts.append(f"{base}[1:]")
    elif wanted and sizes[:-1] == wanted:
        texts.append(f"{base}[:-1]")
    texts.append(tuple_text([str(n) for n in wanted]))
    for rank, text in enumerate(dict.fromkeys(texts), 2):
        title = f"declare the shape that the function returns, {text}"
        yield Candidate("callback", title, (source.replace(shape, text),), rank)


def _add_offset(text: str, step: int) -> str:
    if not step:
        return text
    return f"{text} {'+' if step > 0 else '-'} {abs(step)}"
