"""Repair callbacks: declared results, and how they are mapped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.dataflow import functions_behind, keys_of, made, returned_by
from sagax._autofix.repairs.source_file import Source
from sagax._autofix.repairs.transform_options import Applied, with_option
from sagax._autofix.repairs.types import widest
from sagax._src.diagnostics.model import Edit

__all__ = ["declared_result", "mapped_callback"]

_CALLBACKS = ("jax.pure_callback", "jax.experimental.io_callback", "jax.io_callback")


def mapped_callback(case: Case) -> Iterator[Candidate]:
    """A callback that does not say how it is mapped -> called once for each example."""
    short = "another shape" in case.facts.message
    if "vmap_method=None" not in case.facts.message and not short:
        return
    for source, call in _calls(case):
        given = next((k.value for k in call.keywords if k.arg == "vmap_method"), None)
        if short and (given is None or "sequential" in source.code(given)):
            continue
        edits = with_option(Applied(source, call, None, False), "vmap_method", '"sequential"')
        title = "say how to map the function: it is called once for each example"
        yield Candidate("callback", title, tuple(edits), 1)


def declared_result(case: Case) -> Iterator[Candidate]:
    """A callback whose result has another shape or dtype than was declared."""
    data = case.facts.data
    expected, got = data.get("expected", ""), data.get("got", "")
    what = "shape" if "another shape" in case.facts.message else "dtype"
    if f"another {what} than" not in case.facts.message:
        return
    keys = keys_of(data.get("argument", "").removeprefix("result"))
    for source, call in _calls(case):
        declared = call.args[1] if len(call.args) > 1 else None
        for keyword in call.keywords:
            if keyword.arg == "result_shape_dtypes":
                declared = keyword.value
        for place in made(case, source, declared, keys) if declared is not None else ():
            if what == "dtype":
                yield from _other_dtype(place.source, place.node, expected, got)
            else:
                yield from _other_shape(place.source, place.node, expected, got)
        if what == "dtype" and call.args and widest([expected, got]) == expected:
            yield from _converted(case, source, call.args[0], keys, expected)


def _calls(case: Case) -> list[tuple[Source, ast.Call]]:
    """The calls of callbacks: that at fault, or else all."""
    for span in reversed(case.facts.frames):
        source = case.sources.get(span.file)
        node = source.at(span) if source is not None else None
        if source is not None and isinstance(node, ast.Call):
            if source.meaning(node.func) in _CALLBACKS:
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


def _other_dtype(
    source: Source, declared: ast.expr, expected: str, got: str
) -> Iterator[Candidate]:
    dtype = _option(declared, 1, "dtype") if isinstance(declared, ast.Call) else None
    if dtype is None:
        return
    numpy, imports = source.spell("jax.numpy")
    title = f"declare the dtype that the function returns, {got}"
    edits = (source.replace(dtype, f"{numpy}.{got}"), *imports)
    yield Candidate("callback", title, edits, 1 if widest([expected, got]) == got else 2)


def _converted(
    case: Case, source: Source, function: ast.expr, keys: tuple[str, ...], dtype: str
) -> Iterator[Candidate]:
    """The result of the function as the dtype that was declared."""
    for where, found in functions_behind(case, source, function):
        edits: list[Edit] = []
        imports: list[Edit] = []
        for value in returned_by(where, found):
            for place in made(case, where, value, keys):
                if place.rest or place.source is not where:
                    continue
                numpy, imports = where.spell("numpy")
                text = f"{numpy}.asarray({where.code(place.node)}, dtype={numpy}.{dtype})"
                edits.append(where.replace(place.node, text))
        if edits:
            title = f"return {dtype}, the dtype that is declared"
            yield Candidate("callback", title, (*dict.fromkeys(edits), *imports), 1)


def _other_shape(
    source: Source, declared: ast.expr, expected: str, got: str
) -> Iterator[Candidate]:
    node = _option(declared, 0, "shape") if isinstance(declared, ast.Call) else None
    if node is None:
        return
    sizes, wanted = [[int(n) for n in re.findall(r"\d+", text)] for text in (expected, got)]
    literal = f"({', '.join(map(str, wanted))}{',' if len(wanted) == 1 else ''})"
    base = source.code(node)
    texts: list[str] = []
    if len(sizes) == len(wanted):
        steps = [b - a for a, b in zip(sizes, wanted, strict=True)]
        if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(steps):
            items = [source.code(e) for e in node.elts]
            literals = [isinstance(e, ast.Constant) for e in node.elts]
        else:
            items, literals = [f"{base}[{i}]" for i in range(len(steps))], [False] * len(steps)
        items = [
            str(n) if known else _moved(item, step)
            for item, known, step, n in zip(items, literals, steps, wanted, strict=True)
        ]
        texts.append(f"({', '.join(items)}{',' if len(items) == 1 else ''})")
    elif wanted and sizes[1:] == wanted:
        texts.append(f"{base}[1:]")
    elif wanted and sizes[:-1] == wanted:
        texts.append(f"{base}[:-1]")
    texts.append(literal)
    for rank, text in enumerate(dict.fromkeys(texts), 2):
        title = f"declare the shape that the function returns, {text}"
        yield Candidate("callback", title, (source.replace(node, text),), rank)


def _moved(text: str, step: int) -> str:
    if not step:
        return text
    return f"{text} {'+' if step > 0 else '-'} {abs(step)}"
