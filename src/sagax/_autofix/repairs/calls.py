"""Repair wrong calls: results of bodies, options that do not fit, operands of other shapes."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import PRIMARIES, Source, keyword_value, parameters
from sagax._autofix.repairs.transform_options import Application, find_transform_call, set_option
from sagax._autofix.repairs.types import body_outputs, find_loop_call


def return_scan_pair(case: Case) -> Iterator[Candidate]:
    """Return (carry, output) from the body of a scan that returns the carry alone."""
    found = find_loop_call(case) if "must be a pair" in case.facts.message else None
    if found is None or not found[1].args:
        return
    for source, value in body_outputs(case, found[0], found[1].args[0]):
        lambda_body = isinstance(source.parents.get(value), ast.Lambda)
        carry = source.code(value)
        for text, stacked in (("None", "nothing is stacked"), (carry, "it is stacked")):
            pair = f"{carry}, {text}"
            edit = source.replace(value, f"({pair})" if lambda_body else pair)
            title = f"return the carry and what to stack: {stacked}"
            likely = text == "None"
            yield Candidate("return_pair", title, (edit,), 1 if likely else 2, likely)


@at_expression
def pass_branches_as_functions(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass the branches of `cond(c, a + b, a - b)` as functions."""
    if "callable" not in case.facts.message:
        return
    for call in source.calls_of("jax.lax.cond", within=source.statement(node)):
        if len(call.args) == 3:
            edits = tuple(source.replace(a, f"lambda: {source.code(a)}") for a in call.args[1:])
            yield Candidate("cond", "give the branches as functions", edits, 1)


@at_expression
def complete_in_axes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Complete `in_axes` where it has fewer entries than there are arguments."""
    if "len(in_axes)" not in case.facts.message:
        return
    found = find_transform_call(case, source, node)
    if found is None:
        return
    vmap_source, call = found
    given = keyword_value(call, "in_axes")
    counts = [int(n) for n in re.findall(r"\d+", case.facts.message)]
    if not isinstance(given, (ast.Tuple, ast.List)) or not counts:
        return
    missing = max(counts) - len(given.elts)
    present = [vmap_source.code(e) for e in given.elts]
    if missing <= 0:
        return
    places = [(len(present), axis) for axis in ("None", "0")]
    if missing == 1:  # the one without an entry may stand before others
        places += [(i, axis) for axis in ("None", "0") for i in reversed(range(len(present)))]
    seen: set[str] = set()
    for rank, (at, axis) in enumerate(places, 1):
        value = f"({', '.join([*present[:at], *[axis] * missing, *present[at:]])})"
        if value in seen:
            continue
        seen.add(value)
        said = "are not mapped" if axis == "None" else "are mapped over axis 0"
        title = f"say what the arguments without an entry do: they {said}"
        edits = tuple(set_option(Application(vmap_source, call), "in_axes", value))
        yield Candidate("in_axes", title, edits, rank)


def correct_argument_name(case: Case) -> Iterator[Candidate]:
    """Correct a name in static_argnames or donate_argnames to the nearest parameter."""
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
            listed = {n.value for n in ast.walk(option.value) if isinstance(n, ast.Constant)}
            free = [name for name in known if name not in listed]
            near = difflib.get_close_matches(said[1], free, 1, 0.4)
            if (
                around is not None
            ):  # what is read as a size is static, and first of all if it is near
                sizes = [n for n in [*near, *free] if _is_read_as_size(source, around, n)]
                near = list(dict.fromkeys([*sizes, *near]))
            for rank, name in enumerate(near[:3], 1):
                title = f"name the parameter: `{name}`"
                yield Candidate("static_args", title, (source.replace(node, f'"{name}"'),), rank)


def _is_read_as_size(source: Source, function: ast.FunctionDef, name: str) -> bool:
    """Return whether a function passes a parameter to `range`, a slice or a pad, or tests it."""
    for use in source.uses(name, function):
        parent = source.parents.get(use)
        while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            use, parent = parent, source.parents.get(parent)
        if isinstance(parent, (ast.Slice, ast.If, ast.While)):
            return True
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "range":
            return True
    return False


@at_expression
def swap_key_argument(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `normal(shape, key)` as `normal(key, shape)`."""
    if "key<" not in case.facts.data.get("got", ""):
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if source.meaning(call.func).startswith("jax.random.") and len(call.args) >= 2:
            first, second = call.args[:2]
            edits = (
                source.replace(first, source.code(second)),
                source.replace(second, source.code(first)),
            )
            yield Candidate("argument_order", "the key comes first", edits, 1)


@at_expression
def keep_dimensions(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Add keepdims=True to `x - x.mean(axis=1)`."""
    if "differ in size along axis" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        options = {k.arg for k in call.keywords}
        if "axis" in options and "keepdims" not in options and _is_reduction(source, call):
            edits = tuple(set_option(Application(source, call), "keepdims", "True"))
            title = "keep the dimension that is reduced, with size 1"
            yield Candidate("reshape", title, edits, 1)
    for operation in source.nodes(ast.BinOp, source.statement(node)):
        for side in (operation.right, operation.left):
            if isinstance(side, PRIMARIES):
                title = f"let `{source.code(side)}` be a column"
                edit = source.replace(side, f"{source.code(side)}[:, None]")
                yield Candidate("reshape", title, (edit,), 3)


_REDUCTIONS = {"sum", "mean", "max", "min", "std", "var", "prod", "median", "logsumexp", "norm"}


def _is_reduction(source: Source, call: ast.Call) -> bool:
    name = source.meaning(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    return name in _REDUCTIONS


@at_expression
def index_dict_as_array(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Index an array of the values of a dict with the keys 0, 1, ..."""
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
