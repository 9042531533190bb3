"""Repair operands and sequences whose types or sizes do not fit the operation."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import (
    reaching_definitions,
    resolve_functions,
    returned_expressions,
)
from sagax._autofix.repairs.source_file import PRIMARIES, Function, Source, argument
from sagax._autofix.repairs.types import find_loop_call

_Shape = tuple[int, ...]


@at_expression
def convert_booleans(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Convert Boolean operands of arithmetic to integers, or negate them by `~`."""
    if "has dtype bool" not in case.facts.message:
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        text = f"~{source.primary(node.operand)}"
        title = "the negation of a Boolean array is `~`"
        yield Candidate("astype", title, (source.replace(node, text),), 1)
        if isinstance(source.parents.get(node), (ast.Call, ast.Subscript, ast.Return)):
            return  # a mask is wanted
        sides = [node.operand]
    elif isinstance(node, ast.BinOp):
        sides = [node.left, node.right]
    else:
        return
    at = {int(n) for n in re.findall(r"operand (\d)", case.facts.message)}
    named = [side for i, side in enumerate(sides) if i in at]
    for chosen in (sides, named):
        edits = [source.with_method(side, ".astype(int)") for side in chosen]
        title = "convert what is Boolean to integers: arithmetic is defined for numbers"
        yield Candidate("astype", title, tuple(edits), 1 if chosen is sides else 2)


@at_expression
def give_scalars_an_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give scalars an axis where arrays are concatenated; stack them if all are scalars."""
    if "Zero-dimensional arrays cannot be concatenated" not in case.facts.message:
        return
    if not isinstance(node, ast.Call) or not node.args:
        return
    numpy, imports = source.spell("jax.numpy")
    for definition in reaching_definitions(case, source, node.args[0]):
        there, items = definition.source, getattr(definition.node, "elts", [])
        shapes = [case.measure(there, e) for e in items if not isinstance(e, ast.Starred)]
        scalars = [
            e
            for e, found in zip(
                [e for e in items if not isinstance(e, ast.Starred)], shapes, strict=True
            )
            if found and all(m.shape == () or m.kind in ("int", "float") for m in found)
        ]
        if not scalars:
            continue
        if len(scalars) == len(items):
            name = source.code(node.func)
            text = name.removesuffix("concatenate") + "stack"
            if name.endswith("concatenate"):
                edit = source.replace(node.func, text)
                yield Candidate("stack", "stack scalars along a new axis", (edit,), 1)
        edits = [there.replace(e, f"{numpy}.atleast_1d({there.code(e)})") for e in scalars]
        names = ", ".join(f"`{there.code(e)}`" for e in scalars)
        yield Candidate("add_axis", f"give {names} an axis", (*edits, *imports), 1)


def trim_sequences(case: Case) -> Iterator[Candidate]:
    """Trim the sequences of a scan to one length."""
    if "different leading axis sizes" not in case.facts.message:
        return
    found = find_loop_call(case)
    if found is None:
        return
    source, call = found
    xs = argument(call, 2, "xs")
    sizes = {
        m[0]: int(m[1])
        for m in re.findall(r"xs((?:\[[^\]]*\]|\.\w+)*): (\d+)", case.facts.data.get("got", ""))
    }
    if xs is None or len(set(sizes.values())) < 2:
        return
    least = min(sizes.values())
    longer = [(path, size) for path, size in sizes.items() if size > least]
    shown = next(iter(reaching_definitions(case, source, xs)), None)
    if shown is not None and shown.source is source:  # steps = (rewards, values)
        xs = shown.node
    parts = [(_display_part(source, xs, path), size) for path, size in longer]
    known = [(part, size) for part, size in parts if part is not None]
    if len(known) != len(longer):
        return
    for rank, first in enumerate((True, False), 1):
        edits = [
            source.replace(part, source.primary(part) + _trim_text(size - least, first))
            for part, size in known
        ]
        names = ", ".join(f"`{source.code(part)}`" for part, _ in known)
        which = "first" if first else "last"
        title = f"take the {which} {least} of {names}: a scan reads all its sequences in step"
        yield Candidate("slice_sequence", title, tuple(edits), rank)


def _trim_text(more: int, first: bool) -> str:
    return f"[:-{more}]" if first else f"[{more}:]"


def _display_part(source: Source, node: ast.expr, path: str) -> ast.expr | None:
    """Return the part of a display at a path such as `[1]['w']`."""
    for key in re.findall(r"\[([^\]]*)\]", path):
        if isinstance(node, ast.Dict):
            named = (
                v
                for k, v in zip(node.keys, node.values, strict=True)
                if isinstance(k, ast.Constant) and repr(k.value) == key
            )
            found = next(named, None)
        elif isinstance(node, (ast.Tuple, ast.List)) and key.isdigit():
            found = node.elts[int(key)] if int(key) < len(node.elts) else None
        else:
            found = None
        if found is None:
            return None
        node = found
    return node


def take_real_part(case: Case) -> Iterator[Candidate]:
    """Return the real part of a complex loss."""
    if "requires real-valued outputs" not in case.facts.message:
        return
    source, node = case.source, case.node
    functions: list[tuple[Source, Function]] = []
    if source is not None and isinstance(node, ast.Call):
        for called in (node, node.func):
            if isinstance(called, ast.Call) and called.args:
                functions += list(resolve_functions(case, source, called.args[0]))
    for defining, function in functions[:1]:
        for value in returned_expressions(defining, function):
            numpy, imports = defining.spell("jax.numpy")
            for name, what in (("real", "real part"), ("abs", "magnitude")):
                text = f"{numpy}.{name}({defining.code(value)})"
                title = f"return the {what}: a loss is a real number"
                edits = (defining.replace(value, text), *imports)
                yield Candidate("real_loss", title, edits, 1 if name == "real" else 2)


# --- shapes --------------------------------------------------------------------------------------


@at_expression
def align_shapes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Insert, drop or exchange axes of an operand, so that the shapes broadcast."""
    if "differ in size along axis" not in case.facts.message:
        return
    if isinstance(node, ast.BinOp):
        sides = [node.left, node.right]
    elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
        sides = [node.left, node.comparators[0]]
    elif isinstance(node, ast.Call) and len(node.args) >= 2:
        sides = list(node.args[-2:])
    else:
        return
    measured = [case.measure(source, side) for side in sides]
    shapes = [_only_shape([m.shape for m in found]) for found in measured]
    if shapes[0] is None or shapes[1] is None:
        return
    if len(shapes[0]) == len(shapes[1]) == 1:
        yield from _outer(source, sides)
    for i, side in ((1, sides[1]), (0, sides[0])):
        shape, other = shapes[i], shapes[1 - i]
        assert shape is not None
        assert other is not None
        for text, what in _alignments(shape, other):
            edit = source.replace(side, f"{source.primary(side)}{text}")
            title = f"let `{source.code(side)}` be {what}"
            rank = 1 if isinstance(side, PRIMARIES) else 2
            yield Candidate("reshape", title, (edit,), rank)


def _outer(source: Source, sides: Sequence[ast.expr]) -> Iterator[Candidate]:
    """Yield the operation of each element of one vector with each of the other: `arange(n) < lengths[:, None]`."""
    counts = [
        isinstance(s, ast.Call) and source.meaning(s.func).endswith((".arange", ".linspace"))
        for s in sides
    ]
    for side, counted in zip(sides[::-1], counts[::-1], strict=True):
        edit = source.replace(side, f"{source.primary(side)}[:, None]")
        title = f"let `{source.code(side)}` be a column: a row for each of its elements"
        # positions go along the rows
        rank = 0 if any(counts) and not counted else 3
        yield Candidate("outer", title, (edit,), rank, assumes=True)


def _only_shape(shapes: Sequence[_Shape | None]) -> _Shape | None:
    return shapes[0] if shapes and all(s == shapes[0] for s in shapes) else None


def _alignments(shape: _Shape, other: _Shape) -> Iterator[tuple[str, str]]:
    """Yield indices for an array, with a word for each, after which it broadcasts to `other`."""
    missing = len(other) - len(shape)
    if missing > 0:
        for kept in itertools.combinations(range(len(other)), len(shape)):
            sizes = [1] * len(other)
            for axis, size in zip(kept, shape, strict=True):
                sizes[axis] = size
            if _broadcasts(tuple(sizes), other):
                items = [":" if axis in kept else "None" for axis in range(len(other))]
                while len(items) > 1 and items[-1] == ":":
                    items.pop()
                what = "a column" if items == [":", "None"] else f"of shape {_text(sizes)}"
                yield f"[{', '.join(items)}]", what
    elif len(shape) == 2 and _broadcasts(shape[::-1], other):
        yield ".T", "transposed"
    if 1 in shape and missing < 0:
        axis = shape.index(1)
        rest = shape[:axis] + shape[axis + 1 :]
        if _broadcasts(rest, other):
            items = [":"] * axis + ["0"]
            yield f"[{', '.join(items)}]", f"of shape {_text(rest)}"


def _broadcasts(shape: _Shape, other: _Shape) -> bool:
    return len(shape) == len(other) and all(
        a in (b, 1) or b == 1 for a, b in zip(shape, other, strict=True)
    )


def _text(sizes: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, sizes)) + ("," if len(sizes) == 1 else "") + ")"
