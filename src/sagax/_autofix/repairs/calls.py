"""Repair wrong calls: what a body returns, options that do not fit, operands of other shapes."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import Source, parameters
from sagax._autofix.repairs.transform_options import Applied, call_behind, with_option
from sagax._autofix.repairs.types import loop_call, results

__all__ = [
    "as_functions", "axes_for_all", "exchanged", "kept_dimensions", "known_name", "pair_of_scan", "table_of_dict",
]  # fmt: skip


def pair_of_scan(case: Case) -> Iterator[Candidate]:
    """The body of a scan that returns the carry alone -> (carry, what is stacked)."""
    found = loop_call(case) if "must be a pair" in case.facts.message else None
    if found is None or not found[1].args:
        return
    for place, value in results(case, found[0], found[1].args[0]):
        lambda_body = isinstance(place.parents.get(value), ast.Lambda)
        for text, title in (("None", "nothing is stacked"), (place.code(value), "it is stacked")):
            pair = f"{place.code(value)}, {text}"
            edit = place.replace(value, f"({pair})" if lambda_body else pair)
            words = f"return the carry and what to stack: {title}"
            yield Candidate(
                "return_pair", words, (edit,), 1 if text == "None" else 2, text == "None"
            )


def as_functions(case: Case) -> Iterator[Candidate]:
    """`cond(c, a + b, a - b)` -> functions, one of which is called."""
    source, node = case.source, case.node
    if source is None or node is None or "callable" not in case.facts.message:
        return
    for call in source.calls_of("jax.lax.cond", within=source.statement(node)):
        if len(call.args) == 3:
            edits = tuple(source.replace(a, f"lambda: {source.code(a)}") for a in call.args[1:])
            yield Candidate("cond", "give the branches as functions", edits, 1)


def axes_for_all(case: Case) -> Iterator[Candidate]:
    """in_axes for fewer arguments than are given -> one for each: those that can be mapped, or not."""
    source, node = case.source, case.node
    if source is None or node is None or "len(in_axes)" not in case.facts.message:
        return
    found = call_behind(case, source, node)
    if found is None:
        return
    where, call = found
    applied = Applied(where, call, None, False)
    given = next((k.value for k in call.keywords if k.arg == "in_axes"), None)
    counts = [int(n) for n in re.findall(r"\d+", case.facts.message)]
    if not isinstance(given, (ast.Tuple, ast.List)) or not counts:
        return
    missing = max(counts) - len(given.elts)
    present = [where.code(e) for e in given.elts]
    if missing <= 0:
        return
    for rank, axis in enumerate(("None", "0"), 1):
        value = f"({', '.join([*present, *[axis] * missing])})"
        said = "are not mapped" if axis == "None" else "are mapped over axis 0"
        title = f"say what the arguments without an entry do: they {said}"
        edits = tuple(with_option(applied, "in_axes", value))
        yield Candidate("in_axes", title, edits, rank)


def known_name(case: Case) -> Iterator[Candidate]:
    """A name in static_argnames or donate_argnames that no parameter has -> the nearest one that one has."""
    said = re.search(r"invalid argnames \{'(\w+)'", case.facts.message)
    if said is None:
        return
    for source in case.sources.values():
        for node in source.nodes(ast.Constant):
            option = source.enclosing(node, ast.keyword)
            if (
                node.value != said[1]
                or option is None
                or not (option.arg or "").endswith("argnames")
            ):
                continue
            functions = [f for there in case.sources.values() for f in there.nodes(ast.FunctionDef)]
            around = source.enclosing(node, ast.FunctionDef)  # of a decorator, what it decorates
            known = [p for f in ([around] if around else functions) for p in parameters(f)]
            for name in difflib.get_close_matches(said[1], known, 1, 0.4):
                title = f"name the parameter: `{name}`"
                yield Candidate("static_args", title, (source.replace(node, f'"{name}"'),), 1)


def exchanged(case: Case) -> Iterator[Candidate]:
    """`normal(shape, key)` -> `normal(key, shape)`."""
    source, node = case.source, case.node
    if source is None or node is None or "key<" not in case.facts.data.get("got", ""):
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if source.meaning(call.func).startswith("jax.random.") and len(call.args) >= 2:
            first, second = call.args[:2]
            edits = (
                source.replace(first, source.code(second)),
                source.replace(second, source.code(first)),
            )
            yield Candidate("argument_order", "the key comes first", edits, 1)


def kept_dimensions(case: Case) -> Iterator[Candidate]:
    """`x - x.mean(axis=1)` -> with keepdims=True, so that the shapes fit."""
    source, node = case.source, case.node
    if source is None or node is None or "differ in size along axis" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        options = {k.arg for k in call.keywords}
        if "axis" in options and "keepdims" not in options and _is_reduction(source, call):
            edits = tuple(with_option(Applied(source, call, None, False), "keepdims", "True"))
            title = "keep the dimension that is reduced, with size 1"
            yield Candidate("reshape", title, edits, 1)
    for operation in source.nodes(ast.BinOp, source.statement(node)):
        for side in (operation.right, operation.left):
            if isinstance(side, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
                title = f"let `{source.code(side)}` be a column"
                edit = source.replace(side, f"{source.code(side)}[:, None]")
                yield Candidate("reshape", title, (edit,), 3, False)


def _is_reduction(source: Source, call: ast.Call) -> bool:
    name = source.meaning(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    return name in (
        "sum",
        "mean",
        "max",
        "min",
        "std",
        "var",
        "prod",
        "median",
        "logsumexp",
        "norm",
    )


def table_of_dict(case: Case) -> Iterator[Candidate]:
    """`PRICES[key]` of a dict with the keys 0, 1, ... -> an item of an array of its values."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    for item in source.nodes(ast.Subscript, source.statement(node)):
        if not isinstance(item.value, ast.Name):
            continue
        for value in source.assigned(item.value.id, source.tree):
            if not isinstance(value, ast.Dict):
                continue
            keys = [k.value for k in value.keys if isinstance(k, ast.Constant)]
            if keys == list(range(len(value.keys))):
                numpy, imports = source.spell("jax.numpy")
                text = f"{numpy}.array(list({item.value.id}.values()))"
                title = f"look it up in an array: {text}"
                yield Candidate(
                    "asarray_index", title, (source.replace(item.value, text), *imports), 1
                )
