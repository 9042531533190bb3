"""Repair parts of trees: several results of `tree.map`, cotangents of containers, parts that are None."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.custom_rules import find_rules
from sagax._autofix.repairs.dataflow import (
    path_keys,
    reaching_definitions,
    resolve_functions,
    returned_expressions,
)
from sagax._autofix.repairs.source_file import Source, parameters, tuple_text
from sagax._autofix.repairs.types import find_branches

_MAPS = ("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map")

# --- functions with several results, leaf by leaf ------------------------------------------------


@at_expression
def transpose_mapped_results(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `p, m = tree.map(f, ...)`, whose `f` returns pairs, so that it gives a pair of trees."""
    message = case.facts.message
    if (
        "values to unpack" not in message
        and "'str'" not in message
        and "<class 'str'>" not in message
    ):
        return
    found = [source.statement(node)] if "unpack" in message else source.nodes(ast.Assign)
    for statement in found:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, (ast.Tuple, ast.List)):
            continue
        call = statement.value
        if not isinstance(call, ast.Call) or source.meaning(call.func) not in _MAPS:
            continue
        if len(call.args) < 2 or not _returns_tuples(case, source, call.args[0], len(target.elts)):
            continue
        transpose, imports = source.spell("jax.tree.transpose")
        structure, more = source.spell("jax.tree.structure")
        outer = f"{structure}({source.code(call.args[1])})"
        text = f"{transpose}({outer}, None, {source.code(call)})"
        title = f"turn the tree of {len(target.elts)} results for each leaf into {len(target.elts)} trees"
        edits = (source.replace(call, text), *imports, *more)
        yield Candidate("transpose_tree", title, edits, 1)


def _returns_tuples(case: Case, source: Source, function: ast.expr, count: int) -> bool:
    """Return whether a function returns as many values as are unpacked."""
    found = list(resolve_functions(case, source, function))
    values = [v for there, f in found for v in returned_expressions(there, f)]
    return bool(values) and all(isinstance(v, ast.Tuple) and len(v.elts) == count for v in values)


# --- cotangents ----------------------------------------------------------------------------------


def arrange_cotangents(case: Case) -> Iterator[Candidate]:
    """Put the cotangents that a backward rule returns one by one into the containers of the arguments."""
    said = re.search(
        r"bwd rule ([\w.<>]+) for function ([\w.<>]+) must produce a tuple of length",
        case.facts.message,
    )
    rules = find_rules(case, said[2]) if said is not None else []
    if said is None or len(rules) != 2:
        return
    source, rule = rules[1]
    for _, function in list(case.definition(said[2]))[:1]:
        names = parameters(function)[len(parameters(rule)) - 2 :]
        trees = [_argument_structure(case, function, name) for name in names]
        for value in returned_expressions(source, rule):
            items = value.elts if isinstance(value, ast.Tuple) else []
            types = [_type(case, source, item) for item in items]
            arranged = _arranged([source.code(i) for i in items], types, trees)
            if arranged is None:
                return
            texts, certain = arranged
            title = "return one cotangent for each argument, in a container like the argument's"
            edit = source.replace(value, ", ".join(texts) if len(texts) > 1 else tuple_text(texts))
            yield Candidate("match_tree", title, (edit,), 1, assumes=not certain)


def _type(case: Case, source: Source, node: ast.expr) -> str:
    for measured in case.measure(source, node):
        if measured.shape is not None:
            return f"{measured.dtype}{list(measured.shape)}"
    return ""


def _argument_structure(case: Case, function: ast.FunctionDef, name: str) -> str:
    """Return the structure and the types that an argument has in a call of a function."""
    for source, _, passed in case.calls(function):
        if name in passed:
            for measured in case.measure(source, passed[name]):
                if measured.structure:
                    return measured.structure
    return ""


def _arranged(
    items: Sequence[str], types: Sequence[str], trees: Sequence[str]
) -> tuple[list[str], bool] | None:
    """Return the texts of containers that hold the items, each leaf of its type, and whether no other fits."""
    left = list(zip(items, types, strict=True))
    certain, texts = True, list[str]()
    for tree in trees:
        parsed = _parse_structure(tree)
        if parsed is None:
            return None
        opening, keys, wanted, closing = parsed
        mine, left = left[: len(wanted)], left[len(wanted) :]
        if sorted(t for _, t in mine) != sorted(wanted):
            return None
        certain = certain and (len(set(wanted)) == len(wanted) or opening != "{")
        chosen: list[tuple[str, str]] = []
        for text, kind in mine if opening == "{" else ():
            at = wanted.index(kind)
            chosen.append((keys.pop(at), text))
            wanted.pop(at)
        if opening == "{":
            inside = ", ".join(f"{key}: {text}" for key, text in chosen)
        else:
            if [t for _, t in mine] != wanted:
                return None
            inside = ", ".join(text for text, _ in mine)
            inside += "," if opening == "(" and len(mine) == 1 else ""
        texts.append(f"{opening}{inside}{closing}")
    return (texts, certain) if not left and texts else None


def _parse_structure(text: str) -> tuple[str, list[str], list[str], str] | None:
    """Return the brackets, keys and types of a leaf, or of a container of leaves."""
    structure, _, types = text.rpartition("): ")
    wanted = re.findall(r"\w+\[[\d, ]*\]", types)
    inner = structure.removeprefix("PyTreeDef(")
    if inner == "*":
        return "", [], wanted, ""
    if re.fullmatch(r"\{('\w+': \*(, )?)+\}", inner):
        return "{", [f'"{k}"' for k in re.findall(r"'(\w+)'", inner)], wanted, "}"
    if re.fullmatch(r"\[\*(, \*)*\]|\(\*(, \*)*,?\)", inner):
        return inner[0], [], wanted, inner[-1]
    return None


# --- parts that are None -------------------------------------------------------------------------


def keep_argument(case: Case) -> Iterator[Candidate]:
    """Return from a branch, in place of None, the argument that the other branch has a new value of."""
    said = re.search(r"\w+fun((?:\[[^\]]+\]|\.\w+)*) is .*\bNone\b", case.facts.message)
    if said is None or "branch outputs must have the same" not in case.facts.message:
        return
    keys = path_keys(said[1])
    returned = [
        (there, function, value)
        for there, function in find_branches(case)
        for value in returned_expressions(there, function)
    ]
    named = {
        part.id
        for _, _, value in returned
        for part in _at_path(value, keys)
        if isinstance(part, ast.Name)
    }
    for there, function, value in returned:
        for definition in reaching_definitions(case, there, value, keys):
            node = definition.node
            if definition.rest or not isinstance(node, ast.Constant) or node.value is not None:
                continue
            for name in sorted(named & set(parameters(function))):
                title = (
                    f"return `{name}` as it was, where the other branch returns a new value of it"
                )
                edit = definition.source.replace(node, name)
                yield Candidate("match_tree", title, (edit,), 1)


def _at_path(value: ast.expr, keys: Sequence[str]) -> Iterator[ast.expr]:
    """Yield the item of a tuple or a list that a path leads to."""
    for key in keys:
        if not isinstance(value, (ast.Tuple, ast.List)) or not key.isdigit():
            return
        if int(key) >= len(value.elts):
            return
        value = value.elts[int(key)]
    yield value
