"""Repair calls whose arguments stand in other places: options of derivatives, loops and specs, draws of NumPy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    keyword_value,
    last_name,
    parameters,
    stores,
    tuple_text,
)
from sagax._autofix.repairs.transform_options import find_transform_call
from sagax._autofix.repairs.types import find_loop_call

_DERIVATIVES = ("jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.jacobian", "jax.hessian")  # fmt: skip


# --- derivatives ---------------------------------------------------------------------------------


@at_expression
def differentiate_floats(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Differentiate with respect to an argument of floats, where that of integers comes first."""
    if "requires real- or complex-valued inputs" not in case.facts.message:
        return
    found = find_transform_call(case, source, node, _DERIVATIVES)
    if found is None:
        return
    there, call = found
    applied = there.parents.get(call)
    given = applied.args if isinstance(applied, ast.Call) and applied.func is call else []
    if not given or argument(call, 1, "argnums") is not None:
        return
    for number, value in enumerate(given[1:], 1):
        measured = case.measure(there, value)[:1]
        if case.measured is not None and measured and "float" not in measured[0].dtype:
            continue
        text = f"{there.code(call)[:-1].rstrip().rstrip(',')}, argnums={number})"
        title = f"differentiate with respect to `{there.code(value)}`, which holds floats"
        yield Candidate("argnums", title, (there.replace(call, text),), number)


@at_expression
def differentiate_each(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Differentiate with respect to all arguments where a derivative for each of them is unpacked."""
    if not re.search(r"values to unpack \(expected (\d+)", case.facts.message):
        return
    statement = source.statement(node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Tuple):
        return
    count = len(statement.targets[0].elts)
    for call in source.calls_of(*_DERIVATIVES, within=statement):
        applied = source.parents.get(call)
        if not isinstance(applied, ast.Call) or applied.func is not call:
            continue
        if len(applied.args) != count or argument(call, 1, "argnums") is not None:
            continue
        numbers = tuple_text([str(i) for i in range(count)])
        text = f"{source.code(call)[:-1].rstrip().rstrip(',')}, argnums={numbers})"
        title = f"differentiate with respect to each of the {count} arguments"
        yield Candidate("argnums", title, (source.replace(call, text),), 1)


# --- loops ----------------------------------------------------------------------------------------


def scan_over_tuple(case: Case) -> Iterator[Candidate]:
    """Scan over a tuple of arrays that were passed as several arguments."""
    if "length" not in case.facts.message:
        return
    found = find_loop_call(case)
    if found is None or last_name(found[1].func) != "scan" or len(found[1].args) < 4:
        return
    source, call = found
    arrays = call.args[2:]
    text = tuple_text([source.code(a) for a in arrays])
    options = [f"{k.arg}={source.code(k.value)}" for k in call.keywords if k.arg]
    if len(options) < len(call.keywords):
        return
    given = [*map(source.code, call.args[:2]), text, *options]
    edit = source.replace(call, f"{source.code(call.func)}({', '.join(given)})")
    title = f"scan over {text} together: they are slices of one argument"
    yield Candidate("scan_tuple", title, (edit,), 1)


def give_counted_length(case: Case) -> Iterator[Candidate]:
    """Pass a scan over nothing the number that was assigned for it, and is not read."""
    if "no values to scan over" not in case.facts.message:
        return
    found = find_loop_call(case)
    if found is None or last_name(found[1].func) != "scan":
        return
    source, call = found
    read = {n.id for n in source.nodes(ast.Name) if isinstance(n.ctx, ast.Load)}
    function = source.function(call)
    known = parameters(function) if function is not None else []
    assigned = [
        statement.targets[0].id
        for statement in source.nodes(ast.Assign)
        if isinstance(statement.targets[0], ast.Name)
        and isinstance(statement.value, ast.Constant)
        and type(statement.value.value) is int
    ]
    free = [name for name in dict.fromkeys([*known, *assigned]) if name not in read]
    for rank, name in enumerate(free[:3], 1):
        text = f"{source.code(call)[:-1].rstrip().rstrip(',')}, length={name})"
        title = f"scan `{name}` times, which is not read otherwise"
        yield Candidate("scan_length", title, (source.replace(call, text),), rank)


def multiply_matrices(case: Case) -> Iterator[Candidate]:
    """Multiply a carry's part by a matrix with `@`, where `*` gives it another shape."""
    if "equal types" not in case.facts.message and "must have equal" not in case.facts.message:
        return
    found = find_loop_call(case)
    if found is None:
        return
    source, call = found
    place = {"while_loop": 1, "fori_loop": 2}.get(last_name(call.func), 0)
    body = call.args[place] if place < len(call.args) else None
    for there, function in resolve_functions(case, source, body) if body is not None else ():
        names = {
            n.id
            for value in returned_expressions(there, function)
            for n in ast.walk(value)
            if isinstance(n, ast.Name)
        }
        for product in there.nodes(ast.BinOp, function):
            statement = there.statement(product)
            if not isinstance(product.op, ast.Mult) or not set(stores(statement)) & names:
                continue
            if isinstance(product.left, ast.Constant) or isinstance(product.right, ast.Constant):
                continue
            text = f"{there.operand(product.left)} @ {there.operand(product.right)}"
            title = f"use the product of matrices: `{text}`"
            yield Candidate("operand_form", title, (there.replace(product, text),), 3)


# --- specs and draws --------------------------------------------------------------------------------


@at_expression
def shorten_output_spec(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give a result of a shard_map with too few dimensions for its spec one that splits it less."""
    said = re.search(
        r"P\(.*\) has \d+ entries, and result(?:\[(\d+)\])?\S* has (\d+) dimensions",
        case.facts.message,
    )
    kinds = ("jax.shard_map", "jax.experimental.shard_map.shard_map")
    found = find_transform_call(case, source, node, kinds) if said is not None else None
    if said is None or found is None:
        return
    there, call = found
    given = keyword_value(call, "out_specs") or argument(call, 3, "out_specs")
    several = isinstance(given, (ast.Tuple, ast.List))
    at = int(said[1]) if said[1] else 0
    specs = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    spec = specs[at] if at < len(specs) else None
    if not isinstance(spec, ast.Call) or (said[1] and not several):
        return
    kept = ", ".join(there.code(a) for a in spec.args[: int(said[2])])
    text = f"{there.code(spec.func)}({kept})"
    title = f"give the result a spec for its {said[2]} dimensions: `{text}`"
    yield Candidate("out_specs", title, (there.replace(spec, text),), 1)


_DRAWS = {"choice": ("size", "replace", "p"), "permutation": ()}


@at_expression
def draw_with_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Draw by jax.random, with a key that was made and is not used, what NumPy draws from traced arrays."""
    for call in source.nodes(ast.Call, source.statement(node)):
        name = source.meaning(call.func)
        method = name.rpartition(".")[2]
        if (
            not name.startswith("numpy.random.")
            or method not in _DRAWS
            or len(call.args) not in (1, 2)
        ):
            continue
        key = _unused_key(source, call)
        if key is None:
            continue
        random, imports = source.spell("jax.random")
        given = [key, source.code(call.args[0])]
        size = argument(call, 1, "size")
        if size is not None:
            text = source.code(size)
            given.append(text if isinstance(size, ast.Tuple) else f"({text},)")
        for option in _DRAWS[method][1:]:
            value = keyword_value(call, option)
            if value is not None:
                given.append(f"{option}={source.code(value)}")
        text = f"{random}.{method}({', '.join(given)})"
        title = (
            f"draw with the key `{key}`, which is not used: NumPy cannot draw from traced arrays"
        )
        yield Candidate("draw_key", title, (source.replace(call, text), *imports), 1)


def _unused_key(source: Source, call: ast.Call) -> str | None:
    """Return a key that the function around a call made, and does not read."""
    function = source.function(call)
    if function is None:
        return None
    read = {n.id for n in source.nodes(ast.Name, function) if isinstance(n.ctx, ast.Load)}
    bound = [
        n.id
        for n in source.nodes(ast.Name, function)
        if isinstance(n.ctx, ast.Store) and re.search(r"key|rng", n.id)
    ]
    free = [name for name in (*bound, *parameters(function)) if re.search(r"key|rng", name)]
    return next((name for name in free if name not in read), None)
