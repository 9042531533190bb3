"""Repair what crosses between NumPy, devices and declared types: copies, transfers, dtypes of calls and rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import reaching_definitions
from sagax._autofix.repairs.source_file import Source
from sagax._autofix.repairs.types import cast_text

_VIEWS = ("numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray")


@at_expression
def copy_before_assignment(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Copy a view of an array, `np.asarray(x)`, that is assigned to: `np.array(x)`."""
    if "read-only" not in case.facts.message:
        return
    statement = source.statement(node)
    targets = [
        n.value
        for n in source.nodes(ast.Subscript, statement)
        if isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
    ]
    for target in targets:
        for there, view, _ in reaching_definitions(case, source, target):
            if not isinstance(view, ast.Call) or there.meaning(view.func) not in _VIEWS:
                continue
            text, imports = there.spell("numpy.array")
            title = "copy the array: a view of a device array cannot be written to"
            yield Candidate("numpy_copy", title, (there.replace(view.func, text), *imports), 1)


@at_expression
def convert_called_argument(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Convert an argument of an exported or compiled function to the dtype that it was made for."""
    said = re.search(
        r"Dtype mismatch for args\[(\d+)\]: expected (\w+) and called with (\w+)",
        case.facts.message,
    )
    call = _call_at(source, node)
    if said is None or call is None or int(said[1]) >= len(call.args):
        return
    argument = call.args[int(said[1])]
    title = f"make it {said[2]}, the dtype that the function was made for"
    found = [
        argument,
        *[d.node for d in reaching_definitions(case, source, argument) if not d.rest],
    ]
    for rank, value in enumerate(dict.fromkeys(reversed(found)), 1):
        there = next(s for s in case.sources.values() if value in s.parents)
        numpy, imports = there.spell("jax.numpy")
        text = cast_text(there, value, said[2], numpy)
        yield Candidate("match_dtype", title, (there.replace(value, text), *imports), rank)


def _call_at(source: Source, node: ast.AST) -> ast.Call | None:
    if isinstance(node, ast.Call):
        return node
    calls = source.nodes(ast.Call, source.statement(node))
    return calls[0] if len(calls) == 1 else None


@at_expression
def match_tangent(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Return from the rule of a custom_jvp a tangent of the dtype of its result."""
    message = case.facts.message
    if "must produce primal and tangent outputs with" not in message:
        return
    expected, got = (case.facts.data.get(k, "").partition("[") for k in ("expected", "got"))
    if expected[0] == got[0] or expected[2] != got[2]:
        return  # the shapes differ
    returned = source.statement(node)
    pair = returned.value if isinstance(returned, ast.Return) else None
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
        return
    tangent = pair.elts[1]
    title = f"return the tangent as {expected[0]}, the dtype of the result"
    plain = _without_cast(tangent)
    if plain is not None:
        yield Candidate("match_dtype", title, (source.replace(tangent, source.code(plain)),), 1)
    text = f"{source.operand(tangent)}.astype({expected[0]!r})"
    yield Candidate("match_dtype", title, (source.replace(tangent, text),), 2)


def _without_cast(value: ast.expr) -> ast.expr | None:
    """Return `x` for `x.astype(dtype)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.value if value.func.attr == "astype" else None
    return None


@at_expression
def put_explicitly(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Put an array of NumPy on the device explicitly, where implicit transfers are disallowed."""
    call = _call_at(source, node)
    if "Disallowed host-to-device transfer" not in case.facts.message or call is None:
        return
    function, imports = source.spell("jax.device_put")
    for rank, argument in enumerate(call.args, 1):
        if isinstance(argument, ast.Starred):
            continue
        text = f"{function}({source.code(argument)})"
        title = f"put `{source.code(argument)}` on the device explicitly"
        yield Candidate("device_put", title, (source.replace(argument, text), *imports), rank)
