"""Repair names that stand for one another: sizes in a creation, targets of an unpacking, a list for its items."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, last_name

_CREATIONS = {
    "zeros", "ones", "full", "empty", "normal", "uniform", "truncated_normal", "eye", "broadcast_to", "tile",
}  # fmt: skip
_LATE = 5  # what knows the error comes first
_MAX_NAMES = 3


@at_expression
def exchange_sizes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `(ones((m, n)), zeros(m))` as `(ones((m, n)), zeros(n))`, where an array has the size of another axis."""
    found = re.findall(r"\(([\d, ]*)\)", case.facts.data.get("got", ""))
    shapes = {tuple(int(n) for n in re.findall(r"\d+", text)) for text in found}
    if len(shapes) != 2:
        return
    for there in case.sources.values():
        for call in there.nodes(ast.Call):
            if last_name(call.func) not in _CREATIONS or not there.meaning(call.func):
                continue
            sizes = [n for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)]
            kinds = {size: {m.kind for m in case.measure(there, size)} for size in sizes}
            if not shapes & {m.shape for m in case.measure(there, call)}:
                continue
            beside = [
                n.id
                for other in there.nodes(ast.Call, there.statement(call))
                if other is not call and last_name(other.func) in _CREATIONS
                for a in other.args
                for n in ast.walk(a)
                if isinstance(n, ast.Name) and not there.meaning(n)
            ]
            for size in sizes:
                for name in list(dict.fromkeys(beside))[:_MAX_NAMES]:
                    if name != size.id and kinds[size] == {"int"}:
                        title = f"`{name}` in place of `{size.id}` in `{there.code(call)}`"
                        edit = there.replace(size, name)
                        yield Candidate("exchanged_name", title, (edit,), _LATE, assumes=True)


@at_expression
def exchange_targets(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Exchange the two names that a result is unpacked into, where one of them is used wrongly."""
    used = {n.id for n in source.nodes(ast.Name, source.statement(node)) if not source.meaning(n)}
    for statement in source.nodes(ast.Assign, source.function(node) or source.tree):
        target = statement.targets[0]
        if source.function(statement) is not source.function(node):
            continue
        if not isinstance(target, ast.Tuple) or not isinstance(statement.value, ast.Call):
            continue
        names = [e.id for e in target.elts if isinstance(e, ast.Name)]
        if len(names) != 2 or len(target.elts) != 2 or not used & set(names):
            continue
        first, second = target.elts
        edits = (source.replace(first, names[1]), source.replace(second, names[0]))
        title = f"unpack `{names[1]}, {names[0]}`: the call returns them in this order"
        yield Candidate("result_order", title, edits, _LATE, assumes=True)


def spread_trees(case: Case) -> Iterator[Candidate]:
    """Rewrite `tree.map(lambda *leaves: ..., trees)`, of a list of trees, with `*trees`."""
    for source in case.sources.values():
        for call in source.calls_of("jax.tree.map", "jax.tree_util.tree_map"):
            function = call.args[0] if call.args else None
            takes_any = isinstance(function, ast.Lambda) and function.args.vararg is not None
            if not takes_any or len(call.args) != 2 or isinstance(call.args[1], ast.Starred):
                continue
            given = call.args[1]
            if any(m.kind in ("list", "tuple") for m in case.measure(source, given)):
                text = source.code(given)
                title = f"pass the trees in `{text}` one by one: `*{text}`"
                edit = source.replace(given, f"*{source.primary(given)}")
                yield Candidate("spread_trees", title, (edit,), 1)


@at_expression
def give_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give a function of the library the axis that it asks for."""
    said = re.search(r"(\w+)\(\) missing (?:\d+|a) required (?:positional |keyword-only )?argument: '(axis|axes|dimension)'", case.facts.message)  # fmt: skip
    if said is None:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if last_name(call.func) != said[1] or not source.meaning(call.func).startswith("jax."):
            continue
        for rank, axis in enumerate(("0", "-1"), 1):
            text = source.call_with(call, f"{said[2]}={axis}")
            title = f"say which axis: `{said[2]}={axis}`"
            yield Candidate("axis", title, (source.replace(call, text),), rank, assumes=True)
