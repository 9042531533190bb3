"""Repair operands with another number of axes, or with their axes in another order."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import reaching_definitions
from sagax._autofix.repairs.source_file import Source, argument, keyword_value
from sagax._src.diagnostics.model import Edit

_Shape = tuple[int, ...]
_MAX_LABELED = 6  # axes of an operand whose orders are tried
_SOLVERS = {
    "jax.numpy.linalg.solve": (0, 1),
    "jax.scipy.linalg.solve": (0, 1),
    "jax.scipy.linalg.solve_triangular": (0, 1),
    "jax.scipy.linalg.cho_solve": (None, 1),
    "jax.scipy.linalg.lu_solve": (None, 1),
}


def _shape(case: Case, source: Source, node: ast.expr) -> _Shape | None:
    """Return the shape that an expression always has."""
    shapes = {m.shape for m in case.measure(source, node)}
    return shapes.pop() if len(shapes) == 1 else None


# --- one vector for each matrix ------------------------------------------------------------------


@at_expression
def give_vectors_an_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Solve for a vector for each matrix of a stack: `solve(a, b[..., None])[..., 0]`."""
    if not re.search(r"do not fit|differ|sizes", case.facts.message):
        return
    if isinstance(node, ast.Call) and source.meaning(node.func) in _SOLVERS:
        at = _SOLVERS[source.meaning(node.func)]
        matrix = argument(node, 0, "a")
        vector = argument(node, at[1], "b")
        if at[0] is None and isinstance(matrix, (ast.Tuple, ast.List)) and matrix.elts:
            matrix = matrix.elts[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        matrix, vector = node.left, node.right
    elif isinstance(node, ast.Call) and source.meaning(node.func) == "jax.numpy.matmul":
        matrix, vector = argument(node, 0, "a"), argument(node, 1, "b")
    else:
        return
    if matrix is None or vector is None:
        return
    shapes = _shape(case, source, matrix), _shape(case, source, vector)
    if shapes[0] is None or shapes[1] is None or len(shapes[0]) < 3:
        return
    stack, last = shapes[0][:-2], shapes[0][-1]
    if shapes[1] != (*stack, last):
        return
    column = source.replace(vector, f"{source.primary(vector)}[..., None]")
    before, after = source.around(node, "(" * isinstance(node, ast.BinOp), "")[:1], None
    closing = ")[..., 0]" if isinstance(node, ast.BinOp) else "[..., 0]"
    after = source.around(node, "", closing)
    title = "one vector for each matrix: columns for the operation, and vectors again behind it"
    yield Candidate("new_axis", title, (column, *before, *after), 1)


# --- arrays that are joined ----------------------------------------------------------------------


@at_expression
def match_ranks(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the arrays that are concatenated equal numbers of axes."""
    if "differ in their number of dimensions" not in case.facts.message:
        return
    if not isinstance(node, ast.Call) or not node.args:
        return
    axis = keyword_value(node, "axis") or argument(node, 1, "axis")
    at = _integer(axis) if axis is not None else 0
    for definition in reaching_definitions(case, source, node.args[0]):
        there, items = definition.source, getattr(definition.node, "elts", [])
        if at is None or not items or any(isinstance(e, ast.Starred) for e in items):
            continue
        shapes = [_shape(case, there, e) for e in items]
        known = [s for s in shapes if s is not None]
        if len(known) != len(items):
            continue
        full = max(known, key=len)
        short = [(e, s) for e, s in zip(items, known, strict=True) if len(s) == len(full) - 1]
        if not short or any(len(s) < len(full) - 1 for s in known):
            continue
        for new in range(len(full)):
            if not all(_joins((*s[:new], 1, *s[new:]), full, at) for _, s in short):
                continue
            index = ", ".join([":"] * new + ["None"])
            index = index if new < len(full) - 1 or new < 2 else "..., None"
            edits = [there.replace(e, f"{there.primary(e)}[{index}]") for e, _ in short]
            names = ", ".join(f"`{there.code(e)}`" for e, _ in short)
            title = f"give {names} an axis of size 1"
            yield Candidate("reshape", title, tuple(edits), 1 + (new != at % len(full)))


def _joins(shape: _Shape, other: _Shape, axis: int) -> bool:
    """Return whether two shapes are equal but for the axis that arrays are joined along."""
    at = axis % len(other)
    pairs = enumerate(zip(shape, other, strict=True))
    return all(a == b for i, (a, b) in pairs if i != at)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _integer(node.operand)
        return None if found is None else -found
    value = getattr(node, "value", None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# --- labels of einsum ----------------------------------------------------------------------------


@at_expression
def reorder_labels(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Reorder the labels of einsum, so that each has one size, in the terms of a whole function."""
    said = re.search(r"the label '(\w)' has size", case.facts.message)
    shapes = [
        tuple(int(n) for n in re.findall(r"\d+", text))
        for text in re.findall(r"\(([\d, ]*)\)", case.facts.data.get("got", ""))
    ]
    calls = source.calls_of("jax.numpy.einsum", within=node)
    text = calls[0].args[0] if calls and calls[0].args else None
    if said is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return
    terms = text.value.replace(" ", "").split("->")[0].split(",")
    if len(terms) != len(shapes) or "." in text.value or len(set(terms)) != len(terms):
        return
    function = source.function(node) or source.tree
    rows = _label_orders(terms, shapes)
    for rank, renamed in enumerate(rows[:2], 1):
        changes = {old: new for old, new in renamed.items() if old != new}
        everywhere = _renamed_terms(source, function, changes)
        said_terms = ", ".join(f"'{new}' for '{old}'" for old, new in changes.items())
        title = f"label the axes in the order that the arrays have: {said_terms}"
        yield Candidate("einsum_axes", title, tuple(everywhere), rank, assumes=True)
        alone = [e for e in everywhere if e.span == source.span(text)]
        if len(everywhere) > len(alone):
            title += ", in this call alone"
            yield Candidate("einsum_axes", title, tuple(alone), rank + 2, assumes=True)


def _label_orders(terms: Sequence[str], shapes: Sequence[_Shape]) -> list[dict[str, str]]:
    """Return orders of the labels in which each has one size, those with few moves first."""
    if any(len(t) != len(s) or len(t) > _MAX_LABELED for t, s in zip(terms, shapes, strict=True)):
        return []
    found: list[tuple[int, dict[str, str]]] = []
    partial: list[tuple[int, dict[str, str], dict[str, int]]] = [(0, {}, {})]
    for term, shape in zip(terms, shapes, strict=True):
        longer: list[tuple[int, dict[str, str], dict[str, int]]] = []
        for moved, renamed, sizes in partial:
            for order in set(itertools.permutations(term)):
                pairs = list(zip(order, shape, strict=True))
                if any(sizes.get(label, size) != size for label, size in pairs):
                    continue
                if any(dict(pairs)[label] != size for label, size in pairs):
                    continue
                moves = sum(a != b for a, b in zip(term, order, strict=True))
                new = {**renamed, term: "".join(order)}
                longer.append((moved + moves, new, {**sizes, **dict(pairs)}))
        partial = sorted(longer, key=lambda p: (p[0], sorted(p[1].items())))[:200]
    found = [(moved, renamed) for moved, renamed, _ in partial if moved]
    # axes that move alike in all operands are likelier than others
    found.sort(key=lambda f: (f[0], len({_moves(a, b) for a, b in f[1].items()})))
    return [renamed for _, renamed in found]


def _moves(old: str, new: str) -> _Shape:
    return tuple(old.index(label) for label in new)


def _renamed_terms(source: Source, function: ast.AST, changes: Mapping[str, str]) -> list[Edit]:
    edits: list[Edit] = []
    for call in source.calls_of("jax.numpy.einsum", within=function):
        text = call.args[0] if call.args else None
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            continue
        new = re.sub(r"\w+", lambda m: changes.get(m[0], m[0]), text.value)
        if new != text.value:
            edits.append(source.replace(text, f'"{new}"'))
    return edits
