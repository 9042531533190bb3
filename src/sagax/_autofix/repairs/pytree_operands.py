"""Repair containers that are used as arrays: arithmetic on trees, norms of trees, results to unpack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import reaching_definitions
from sagax._autofix.repairs.source_file import PRIMARIES, Source, argument, keyword_value
from sagax._src.diagnostics.model import Edit

_CONTAINERS = ("dict", "list", "tuple", "OrderedDict", "defaultdict")
_ARITHMETIC = (ast.BinOp, ast.UnaryOp)
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


# --- arithmetic on trees -------------------------------------------------------------------------


@at_expression
def map_over_leaves(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `params - rate * grads`, of containers, as `tree.map(lambda p, g: p - rate * g, ...)`."""
    message = case.facts.message
    if "unsupported operand" not in message and "bad operand type" not in message:
        if not re.search(r"can't multiply sequence|can only concatenate", message):
            return
    if not isinstance(node, _ARITHMETIC):
        return
    whole = _whole_arithmetic(source, node)
    trees: dict[str, list[ast.expr]] = {}
    structures: set[str] = set()
    unknown: list[ast.expr] = []  # evaluated after the error
    for operand in _operands(whole):
        if not case.measure(source, operand) and isinstance(operand, (ast.Name, ast.Attribute)):
            unknown.append(operand)
        for measured in case.measure(source, operand)[:1]:
            if measured.shape is None or measured.kind in _CONTAINERS:
                if measured.structure:  # arrays and nothing else
                    trees.setdefault(source.code(operand), []).append(operand)
                    structures.add(measured.structure.partition(": ")[0])
    if not trees or len(structures) > 1:
        return
    yield from _map_candidates(source, node, whole, trees)
    if unknown and case.measured is not None:
        more = {name: list(parts) for name, parts in trees.items()}
        for operand in unknown:
            more.setdefault(source.code(operand), []).append(operand)
        yield from _map_candidates(source, node, whole, more)


def _map_candidates(
    source: Source, node: ast.expr, whole: ast.expr, trees: dict[str, list[ast.expr]]
) -> Iterator[Candidate]:
    names = _short_names(source, node, list(trees))
    texts: dict[ast.expr, str] = {
        part: name for name, parts in zip(names, trees.values(), strict=True) for part in parts
    }
    tree, imports = source.spell("jax.tree.map")
    parent = source.parents.get(whole)
    if isinstance(parent, ast.AugAssign):  # params -= rate * grads
        yield from _mapped_update(source, parent, whole, texts, list(trees), names)
        return
    body = substitute(source, whole, texts)
    text = f"{tree}(lambda {', '.join(names)}: {body}, {', '.join(trees)})"
    title = "compute leaf by leaf with `tree.map`: containers have no arithmetic"
    yield Candidate("tree_map", title, (source.replace(whole, text), *imports), 1)


def _mapped_update(
    source: Source,
    statement: ast.AugAssign,
    whole: ast.expr,
    texts: dict[ast.expr, str],
    trees: list[str],
    names: list[str],
) -> Iterator[Candidate]:
    tree, imports = source.spell("jax.tree.map")
    target = source.code(statement.target)
    sign = _SIGNS.get(type(statement.op))
    if sign is None or target in trees:
        return
    old = source.fresh("old", statement)
    body = substitute(source, whole, texts)
    body = body if isinstance(whole, (*PRIMARIES, ast.Constant)) else f"({body})"
    listed = ", ".join([target, *trees])
    text = f"{target} = {tree}(lambda {', '.join([old, *names])}: {old} {sign} {body}, {listed})"
    title = "compute leaf by leaf with `tree.map`: containers have no arithmetic"
    yield Candidate("tree_map", title, (source.replace(statement, text), *imports), 1)


def _whole_arithmetic(source: Source, node: ast.expr) -> ast.expr:
    """Return the largest arithmetic expression around an operation."""
    while isinstance(parent := source.parents.get(node), _ARITHMETIC):
        node = parent
    return node


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _operands(node.operand)
    elif not isinstance(node, ast.Constant):
        yield node


def _short_names(source: Source, node: ast.AST, trees: list[str]) -> list[str]:
    """Return a name for a leaf of each tree: the first letter of the tree's own name."""
    found: list[str] = []
    for tree in trees:
        last = re.findall(r"[A-Za-z]\w*", tree)[-1:] or ["leaf"]
        name = source.fresh(last[0][0].lower(), node)
        while name in found:
            name += "_"
        found.append(name)
    return found


# --- reductions of trees -------------------------------------------------------------------------

_OF_ALL = ("norm", "sum", "mean", "max", "min", "any", "all", "isfinite", "isnan", "isinf", "abs", "absolute", "square", "size")  # fmt: skip


@at_expression
def flatten_tree(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `linalg.norm(grads)`, of a container, as the norm of all of its numbers."""
    said = re.search(
        r"requires ndarray or scalar arguments, got <class '(\w+)'>", case.facts.message
    )
    if said is None or said[1] not in _CONTAINERS or not isinstance(node, ast.Call):
        return
    meaning = source.meaning(node.func)
    if not node.args or meaning.rpartition(".")[2] not in _OF_ALL or keyword_value(node, "axis"):
        return
    value = node.args[0]
    if isinstance(value, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)):
        return
    if case.measured is not None and not any(m.structure for m in case.measure(source, value)):
        return
    case.measure(source, value)
    ravel, imports = source.spell("jax.flatten_util.ravel_pytree")
    if imports:  # the module is not part of the package's own names
        ravel = "ravel_pytree"
        line = f"from {source.package}.flatten_util import ravel_pytree"
        imports = [source.import_line(line)]
    text = f"{ravel}({source.code(value)})[0]"
    title = "join the arrays of the container to one vector first"
    yield Candidate("flatten_tree", title, (source.replace(value, text), *imports), 0)


@at_expression
def index_leaves(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `trees[i]`, of a dict of arrays and an array as the index, as that item of each array."""
    item = source.enclosing(node, ast.Subscript)
    if not case.facts.hashed or item is None or not isinstance(item.ctx, ast.Load):
        return
    measured = [m for m in case.measure(source, item.value) if m.structure and m.shape is None]
    if not measured:
        return
    tree, imports = source.spell("jax.tree.map")
    leaf = source.fresh("leaf", item)
    text = f"{tree}(lambda {leaf}: {leaf}[{source.code(item.slice)}], {source.code(item.value)})"
    title = f"take the item of each array in `{source.code(item.value)}`: the container has no positions"
    yield Candidate("tree_map", title, (source.replace(item, text), *imports), 1)


# --- one container for another -------------------------------------------------------------------


@at_expression
def convert_container(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make a tuple of a list, or the reverse, where two trees are walked together."""
    said = re.search(
        r"(?:tree|rest\[\d+\]) is a (list|tuple) of length (\d+), but (?:tree|rest\[\d+\]) is a (list|tuple) of length \2",
        case.facts.message,
    )
    if said is None or said[1] == said[3] or not isinstance(node, ast.Call):
        return
    at = re.search(r"rest\[(\d+)\]", said[0])
    position = 2 + int(at[1]) if at is not None else 2
    for rank, (place, wanted) in enumerate(((1, said[3]), (position, said[1])), 1):
        if place >= len(node.args):
            continue
        given = node.args[place]
        title = f"let `{source.code(given)}` be a {wanted}, as the other tree is"
        for found in reaching_definitions(case, source, given):
            there, value = found.source, found.node
            if found.rest or not isinstance(value, (ast.List, ast.Tuple, ast.ListComp)):
                continue
            edit = there.replace(value, _converted(there, value, wanted))
            yield Candidate("match_container", title, (edit,), rank)
        edit = source.replace(given, f"{wanted}({source.code(given)})")
        yield Candidate("match_container", title, (edit,), rank + 1)


@at_expression
def broadcast_prefix(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the leaves of a shorter tree to all that is below them in the first one: `tree.broadcast(rates, params)`."""
    if "does not have the structure of tree" not in case.facts.message:
        return
    at = re.search(r"but rest\[(\d+)\]\S* is a leaf of type", case.facts.message)
    if at is None or not isinstance(node, ast.Call) or len(node.args) < 3 + int(at[1]):
        return
    tree, short = node.args[1], node.args[2 + int(at[1])]
    broadcast, imports = source.spell("jax.tree.broadcast")
    text = f"{broadcast}({source.code(short)}, {source.code(tree)})"
    title = (
        f"give each leaf of `{source.code(short)}` to all leaves of `{source.code(tree)}` below it"
    )
    yield Candidate("broadcast_prefix", title, (source.replace(short, text), *imports), 1)


def _converted(source: Source, value: ast.expr, wanted: str) -> str:
    text = source.code(value)
    inner = text[1:-1].strip() if text[:1] in "([" else text
    if isinstance(value, ast.ListComp):
        return f"{wanted}({inner})"
    if wanted == "list":
        return f"[{inner.rstrip(',')}]"
    one = isinstance(value, ast.List) and len(value.elts) == 1 and not inner.endswith(",")
    return f"({inner}{',' if one else ''})"


# --- results that hold more than one thing -------------------------------------------------------

_IS_TUPLE = re.compile(
    r"'tuple' object has no attribute|instances of '[\w.]+' and 'tuple'|instances of 'tuple' and"
    r"|operand type\(s\) for [^:]*: (?:'tuple' and|'[\w.]+' and 'tuple')"
    r"|got <class 'tuple'>|not 'tuple'|passed to tuple\.__format__|bad operand type for unary [^:]*: 'tuple'"
)
_FIRST = ("jax.value_and_grad",)
_SECOND = ("jax.experimental.checkify.checkify",)
_BOTH = ("jax.lax.scan", "jax.jvp", "jax.vjp", "jax.linearize", "jax.grad", "jax.lax.top_k", "jax.numpy.linalg.eigh", "jax.numpy.linalg.qr")  # fmt: skip


@at_expression
def unpack_result(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Unpack the result of a call that gives several things, where one of them is meant."""
    if not _IS_TUPLE.search(case.facts.message):
        return
    for name in source.nodes(ast.Name, node):
        if not isinstance(name.ctx, ast.Load) or source.meaning(name):
            continue
        scope = source.function(name) or source.tree
        made = [
            s
            for s in source.nodes(ast.Assign, scope)
            if [getattr(t, "id", "") for t in s.targets] == [name.id]
        ]
        kinds = {_result_kind(case, source, s.value) for s in made}
        if len(kinds) != 1 or (kind := kinds.pop()) is None:
            continue
        for rank, (text, more) in enumerate(_unpackings(source, name, kind), 1):
            edits: list[Edit] = []
            for statement in made:
                edits.append(source.replace(statement.targets[0], text))
                if more:
                    end = source.span(statement)
                    line = f"\n{source.indent(statement)}{more}"
                    edits.append(source.insert(end.end_line, end.end_column or 0, line))
            title = f"unpack the result: `{text} = ...`"
            yield Candidate("unpack_result", title, tuple(edits), rank, assumes=kind == "both")
        return


def _result_kind(case: Case, source: Source, value: ast.expr) -> str | None:
    """Return which part of a call's result is meant: "first", "error" or "both"; None of others."""
    if not isinstance(value, ast.Call):
        return None
    meanings = applied_functions(case, source, value.func)
    if not meanings:
        return None
    if any(m in _SECOND for m in meanings):
        return "error"
    if any(m in _FIRST for m in meanings):
        return "first"
    return "both" if any(m in _BOTH for m in meanings) else None


def applied_functions(case: Case, source: Source, func: ast.expr, depth: int = 0) -> list[str]:
    """Return the functions of this package that were applied to make a function."""
    meaning = source.meaning(func)
    if meaning.startswith("jax."):
        return [meaning]
    found: list[str] = []
    if depth > 4:
        return found
    if isinstance(func, ast.Call):
        found += applied_functions(case, source, func.func, depth + 1)
        if (inner := argument(func, 0, "fun")) is not None and found:
            found += applied_functions(case, source, inner, depth + 1)
        return found
    for definition in reaching_definitions(case, source, func):
        if definition.node is not func and isinstance(definition.node, ast.Call):
            found += applied_functions(case, definition.source, definition.node, depth + 1)
    return found


def _unpackings(source: Source, name: ast.Name, kind: str) -> Iterator[tuple[str, str]]:
    """Yield what to assign a result to, and a statement to add."""
    if kind == "error":
        error = source.fresh("error", name)
        yield f"{error}, {name.id}", f"{error}.throw()"
        return
    second = f"_, {name.id}"
    first = f"{name.id}, _"
    if kind == "first":
        yield (second if "grad" in name.id else first), ""
        return
    yield first, ""
    yield second, ""
