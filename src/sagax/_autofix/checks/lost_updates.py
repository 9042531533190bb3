"""Find updates that get lost: elements set to what was read from them and changed, with an index that occurs twice."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
from typing import Any, NamedTuple

import numpy as np

from sagax._autofix.repairs.source_file import Source
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import user_span

_MOST_ROWS = 64  # repeated indices that are looked at: each takes a pass over all updates
# of equal values these differ from what each change after the other gives
_ADDING_UP = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)

__all__ = ["OwnUpdate", "check_lost_updates", "own_update"]


class OwnUpdate(NamedTuple):
    """The parts of `array.at[index].set(value)`, whose value reads `array[index]` at `read`."""

    call: ast.Call
    array: ast.expr
    index: ast.expr
    value: ast.expr
    read: ast.expr


def own_update(source: Source, node: ast.AST | None) -> OwnUpdate | None:
    """Return the parts of a call that sets elements by what was read from them; None for other nodes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    items = node.func.value
    if node.func.attr != "set" or len(node.args) != 1 or not isinstance(items, ast.Subscript):
        return None
    at = items.value
    if not isinstance(at, ast.Attribute) or at.attr != "at":
        return None
    wanted = (ast.dump(at.value), ast.dump(items.slice))

    def is_read(part: ast.AST) -> bool:
        return (
            isinstance(part, ast.Subscript)
            and (ast.dump(part.value), ast.dump(part.slice)) == wanted
        )

    function = source.function(node) or source.tree
    for part in ast.walk(node.args[0]):
        if is_read(part) and isinstance(part, ast.expr):
            return OwnUpdate(node, at.value, items.slice, node.args[0], part)
        if isinstance(part, ast.Name):
            values = source.assigned(part.id, function)
            if len(values) == 1 and any(map(is_read, ast.walk(values[0]))):
                return OwnUpdate(node, at.value, items.slice, node.args[0], part)
    return None


def check_lost_updates(
    ins: list[Any], params: dict[str, Any], stack: Any
) -> tuple[type[Warning], str] | None:
    """Return the warning for a scatter of changed elements that sets one element several times."""
    found = _repeated_index(ins, params)
    span = user_span(stack) if found is not None else None
    source = _source(span.file, tuple(linecache.getlines(span.file))) if span is not None else None
    if found is None or span is None or source is None:
        return None
    update = own_update(source, source.at(span))
    if update is None:
        return None
    value = update.value
    if not found.differ and not (isinstance(value, ast.BinOp) and isinstance(value.op, _ADDING_UP)):
        return None
    return (
        cautions.LostUpdateWarning,
        f"index {found.index} is set {found.count} times, each time to the element before with a change: "
        "one of the changes stays, the others are lost",
    )


class _RepeatedIndex(NamedTuple):
    """An index that is set `count` times, and whether the values differ."""

    index: str
    count: int
    differ: bool


def _repeated_index(ins: list[Any], params: dict[str, Any]) -> _RepeatedIndex | None:
    """Return an index that occurs several times; None where all of its values are those before."""
    x, indices, updates = ins
    numbers = params["dimension_numbers"]
    if numbers.operand_batching_dims or not indices.size or not updates.size:
        return None
    vectors = indices.reshape(-1, indices.shape[-1])
    kept = [d for d in range(updates.ndim) if d not in numbers.update_window_dims]
    values = np.moveaxis(updates, kept, range(len(kept))).reshape(len(vectors), -1)
    dims = numbers.scatter_dims_to_operand_dims
    sizes = [x.shape[d] for d in dims]
    inside = np.all((vectors >= 0) & (vectors < sizes), axis=1)
    vectors, values = vectors[inside], values[inside]
    rows, of_row, counts = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    for row in np.flatnonzero(counts > 1)[:_MOST_ROWS]:
        written = values[of_row.reshape(-1) == row]
        there: list[Any] = [slice(None)] * x.ndim
        for d, i in zip(dims, rows[row], strict=True):
            there[d] = int(i)
        before = np.asarray(x[tuple(there)]).reshape(-1)
        if before.shape == written[0].shape and np.array_equal(written[0], before):
            continue
        at = [int(i) for i in rows[row]]
        differ = bool(np.any(written != written[0]))
        return _RepeatedIndex(str(at[0] if len(at) == 1 else tuple(at)), int(counts[row]), differ)
    return None


@functools.lru_cache(maxsize=64)
def _source(file: str, lines: tuple[str, ...]) -> Source | None:
    with contextlib.suppress(SyntaxError):
        return Source(file, "".join(lines).rstrip("\n") + "\n")
    return None
