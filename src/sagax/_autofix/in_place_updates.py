"""Let calls whose result is thrown away update their argument in place, as NumPy would.

A script that calls `x.at[i].add(v)` for its effect means that x changes. The run with this change is
what a repair of the script is compared with.
"""

from __future__ import annotations

import ast
import builtins
import tokenize
from collections.abc import Mapping, Sequence
from typing import Any

from sagax._autofix.collect_facts import structure_text
from sagax._autofix.repairs.source_file import Source, parameters, stores
from sagax._src import trees
from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.model import Edit, Span
from sagax._src.runtime.array import ConcreteArray

__all__ = ["instrument", "updated_arguments"]

_UPDATE = "__sagax_update__"
# functions that return their first argument in another shape
_RESHAPING = {
    f"jax.numpy.{name}"
    for name in ("append", "insert", "delete", "reshape", "ravel", "squeeze", "expand_dims", "transpose", "pad")
}  # fmt: skip
_PARTS = ("_buffer", "_host", "_shards")


def updated_arguments(source: Source, call: ast.Call) -> list[ast.expr]:
    """Return the expressions that a call may mean to update: its array, or its arguments."""
    function = call.func
    if isinstance(function, ast.Attribute) and not source.meaning(function):
        owner = function.value
        if isinstance(owner, ast.Subscript) and getattr(owner.value, "attr", "") == "at":
            assert isinstance(owner.value, ast.Attribute)
            return [owner.value.value]
        found: list[ast.expr] = [owner, *call.args]
    elif source.meaning(function) in ("jax.tree.map", "jax.tree_util.tree_map"):
        found = call.args[1:2]
    elif source.meaning(function) in _RESHAPING:
        found = call.args[:1]
    else:
        found = [*call.args, *[k.value for k in call.keywords]]
    return [a for a in found if isinstance(a, (ast.Name, ast.Attribute, ast.Subscript))]


def instrument(changed: Mapping[str, str], calls: Sequence[Span]) -> dict[str, str]:
    """Return the texts of files in which these calls update their arguments."""
    setattr(builtins, _UPDATE, _update)
    texts = dict(changed)
    for file in {span.file for span in calls}:
        if file not in texts:
            with tokenize.open(file) as handle:
                texts[file] = handle.read()
        source = Source(file, texts[file])
        edits: list[Edit] = []
        for span in calls:
            node = source.at(span) if span.file == file else None
            if isinstance(node, ast.Expr):
                node = node.value
            if isinstance(node, ast.Call):
                edits += _update_edits(source, node)
        texts[file] = apply(texts[file], edits)
    return texts


def _update_edits(source: Source, call: ast.Call) -> list[Edit]:
    arguments = [a for a in updated_arguments(source, call) if _can_assign(source, a)]
    if not arguments:
        return []
    targets = "".join(f"{source.code(a)}, " for a in arguments)
    is_method = isinstance(call.func, ast.Attribute) and not source.meaning(call.func)
    reshapes = source.meaning(call.func) in _RESHAPING
    return source.around(call, f"{targets}= {_UPDATE}({is_method}, {reshapes}, ", f", {targets})")


def _can_assign(source: Source, node: ast.expr) -> bool:
    """Return whether an assignment binds the variable that the expression reads."""
    if not isinstance(node, ast.Name):
        return isinstance(node, (ast.Attribute, ast.Subscript)) and not source.meaning(node)
    function = source.function(node)
    if node.id in source.imports:
        return False
    if function is None or isinstance(function, ast.Lambda):
        return function is None
    return node.id in parameters(function) or node.id in stores(function.body)


def _update(is_method: bool, reshapes: bool, result: Any, *arguments: Any) -> tuple[Any, ...]:
    """Return the arguments; the one that has the structure of the result takes its values.

    If several have it, what the call means to update cannot be told, unless it is a method's array.
    """
    if reshapes and len(arguments) == 1:
        return (result,)  # the variable takes another array
    if len(arguments) == 1 and trees.tree_structure(arguments[0]) == trees.tree_structure(result):
        if not any(isinstance(x, ConcreteArray) for x in trees.leaves(arguments[0])):
            return (result,)  # numbers, which nothing else holds
    wanted = structure_text(result)
    alike = [i for i, argument in enumerate(arguments) if structure_text(argument) == wanted]
    if not wanted or not alike or (len(alike) > 1 and not (is_method and alike[0] == 0)):
        return arguments
    i = alike[0]
    leaves = trees.leaves(arguments[i])
    if not all(isinstance(x, ConcreteArray) for x in leaves):  # traced, for a derivative
        return (*arguments[:i], result, *arguments[i + 1 :])
    for old, new in zip(leaves, trees.leaves(result), strict=True):
        for name in _PARTS:
            if hasattr(new, name):
                setattr(old, name, getattr(new, name))
    return arguments
