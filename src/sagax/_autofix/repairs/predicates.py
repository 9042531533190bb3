"""Repair tests of arrays: reduce them to one truth value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.source_file import Source, argument
from sagax._autofix.repairs.types import find_loop_call

_ANY, _ALL = ("any", "if one element is true"), ("all", "if all elements are true")


def reduce_condition(case: Case) -> Iterator[Candidate]:
    """Reduce the test of a while_loop that is an array, and compare one that is a number."""
    if "cond_fun must return a boolean scalar" not in case.facts.message:
        return
    found = find_loop_call(case)
    condition = argument(found[1], 0, "cond_fun") if found is not None else None
    got = case.facts.data.get("got", "")
    if found is None or condition is None:
        return
    for source, function in list(resolve_functions(case, found[0], condition))[:1]:
        for value in returned_expressions(source, function):
            if got.endswith("[]"):
                text = f"{source.operand(value)} != 0"
                title = "compare the number with 0: a test is a Boolean"
                yield Candidate("compare", title, (source.replace(value, text),), 1)
            else:
                yield from _reduced(source, value, "go on {}", (_ANY, _ALL))


@at_expression
def reduce_predicate(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Reduce the predicate of a cond, or of a check, that is an array."""
    if "check takes a scalar pred" in case.facts.message:
        for call in source.nodes(ast.Call, source.statement(node)):
            if source.meaning(call.func).endswith("checkify.check") and call.args:
                yield from _reduced(source, call.args[0], "hold {}", (_ALL, _ANY))
        return
    if "Pred must be a scalar" not in case.facts.message:
        return
    for call in source.calls_of("jax.lax.cond", within=source.statement(node)):
        if (value := argument(call, 0, "pred")) is not None:
            yield from _reduced(source, value, "take the first branch {}", (_ALL, _ANY))


@at_expression
def reduce_truth_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Reduce an array that `if`, `while`, `and` or `assert` asks for its truth value."""
    if "truth value of an array with more than one element" not in case.facts.message:
        return
    if not isinstance(node, ast.expr):
        test = getattr(node, "test", None)
        if not isinstance(test, ast.expr):
            return
        node = test
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    # a loop goes on while one element needs it; other tests ask for all
    loop = isinstance(source.parents.get(node), ast.While)
    order = (_ANY, _ALL) if loop else (_ALL, _ANY)
    yield from _reduced(source, node, "true {}", order)


def _reduced(
    source: Source, value: ast.expr, what: str, order: tuple[tuple[str, str], ...]
) -> Iterator[Candidate]:
    numpy, imports = source.spell("jax.numpy")
    for rank, (name, when) in enumerate(order, 1):
        text = f"{numpy}.{name}({source.code(value)})"
        edits = (source.replace(value, text), *imports)
        yield Candidate(
            "reduce_test", f"one truth value: {what.format(when)}", edits, rank, assumes=True
        )
