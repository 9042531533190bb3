"""Assume what a script that fails without transformations, too, can only mean, and note what was assumed.

Such a run gives a result to compare repairs with, where no rule of the library allows what the script
does. An assumption is made only where nothing else would have a meaning.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import sagax.tree
import sagax.tree_util
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.higher_order.custom_derivatives import custom_jvp, custom_vjp
from sagax._src.trees import leaves
from sagax.sharding import PartitionSpec

_assumed: dict[str, None] = {}
_assuming: list[bool] = []


def assumed() -> tuple[str, ...]:
    """Return the assumptions that this run needed."""
    return tuple(_assumed)


def assume(package: ModuleType) -> None:
    """Let what no rule of the library allows have its only meaning, for the rest of this process.

    A function with a rule of its own is differentiated by its operations, trees are paired leaf by leaf,
    a tree of tuples that is unpacked into as many names is a tuple of trees, floats that are whole numbers
    are indices, what has no common axis to map over is not mapped, one argument needs no tuple around it,
    two axes of an array with more are exchanged, and specs are as short as their arguments.
    """
    _assuming.append(True)
    custom_jvp.__call__ = custom_vjp.__call__ = _call_without_rule
    pair: Any = _unpackable(_paired_by_leaf(sagax.tree_util.tree_map))
    sagax.tree.map = sagax.tree_util.tree_map = pair
    package.__dict__["jvp"] = _of_one_argument(package.jvp)
    package.__dict__["shard_map"] = _with_shorter_specs(package.shard_map)
    for name, function in (("__getitem__", _item), ("transpose", _transpose)):
        setattr(Array, name, function(getattr(Array, name)))


def _item(real: Any) -> Any:
    def item(self: Any, index: Any) -> Any:
        try:
            return real(self, index)
        except (IndexError, TypeError):
            whole = tuple(map(_whole, index)) if isinstance(index, tuple) else _whole(index)
            found = real(self, whole)
            _assumed["whole numbers as indices"] = None
            return found

    return item


def _whole(index: Any) -> Any:
    """Return an index of floats as one of integers, if they are whole numbers; else itself."""
    if isinstance(index, float):
        return int(index) if index.is_integer() else index
    if isinstance(index, Tracer) or getattr(getattr(index, "dtype", None), "kind", "") != "f":
        return index
    numbers = np.asarray(index)
    return index.astype(int) if bool(np.all(numbers == np.floor(numbers))) else index


def _transpose(real: Any) -> Any:
    def transpose(self: Any, *axes: Any) -> Any:
        if len(axes) == 2 and self.ndim > 2 and all(isinstance(a, int) for a in axes):
            _assumed["two axes for `transpose` as those to exchange"] = None
            return self.swapaxes(*axes)
        return real(self, *axes)

    return transpose


def _call_without_rule(self: Any, *args: Any, **kwargs: Any) -> Any:
    _assumed["derivatives by operations, without rules of their own"] = None
    return self.fun(*args, **kwargs)


def _of_one_argument(real: Callable[..., Any]) -> Callable[..., Any]:
    def jvp(fun: Any, primals: Any, tangents: Any, **options: Any) -> Any:
        given = [x if isinstance(x, (tuple, list)) else (x,) for x in (primals, tangents)]
        if any(a is not b for a, b in zip(given, (primals, tangents), strict=True)):
            _assumed["primals and tangents of one argument"] = None
        return real(fun, *given, **options)

    return jvp


def _with_shorter_specs(real: Callable[..., Any]) -> Callable[..., Any]:
    def shard_map(f: Any = None, /, **options: Any) -> Any:
        if f is None:
            return lambda g: shard_map(g, **options)

        def call(*args: Any) -> Any:
            specs = options.get("in_specs")
            each = (specs,) * len(args) if isinstance(specs, PartitionSpec) else specs
            if not isinstance(each, (tuple, list)) or len(each) != len(args):
                return real(f, **options)(*args)
            shorter = tuple(map(_shorter_spec, each, args))
            return real(f, **{**options, "in_specs": shorter})(*args)

        return call

    return shard_map


def _shorter_spec(spec: Any, argument: Any) -> Any:
    if not isinstance(spec, PartitionSpec) or len(spec) <= np.ndim(argument):
        return spec
    _assumed["specs as short as their arguments"] = None
    return PartitionSpec(*tuple(spec)[: np.ndim(argument)])


# --- trees ---------------------------------------------------------------------------------------


def _paired_by_leaf(real: Callable[..., Any]) -> Callable[..., Any]:
    def paired(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
        try:
            return real(f, tree, *rest, is_leaf=is_leaf)
        except ValueError:
            columns = [sagax.tree_util.tree_leaves(r, is_leaf=is_leaf) for r in (tree, *rest)]
            if len({len(column) for column in columns}) != 1:
                raise
            first = columns[0]
            for column in columns[1:]:
                if [np.shape(x) for x in column] != [np.shape(x) for x in first]:
                    raise
            outs = [f(*row) for row in zip(*columns, strict=True)]
            _assumed["trees paired leaf by leaf"] = None
            structure = sagax.tree_util.tree_structure(tree, is_leaf=is_leaf)
            return structure.unflatten(outs)

    return paired


def _unpackable(real: Callable[..., Any]) -> Callable[..., Any]:
    """Give several trees where a tree of tuples is unpacked into as many names as each tuple has items."""

    def mapped(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
        found = real(f, tree, *rest, is_leaf=is_leaf)
        count = _unpacked_names(sys._getframe(1))
        if not count or (isinstance(found, (tuple, list)) and len(found) == count):
            return found
        structure = sagax.tree_util.tree_structure(tree, is_leaf=is_leaf)
        parts = structure.flatten_up_to(found)
        if not parts or not all(isinstance(p, tuple) and len(p) == count for p in parts):
            return found
        _assumed["results of each leaf unpacked"] = None
        return tuple(structure.unflatten(column) for column in zip(*parts, strict=True))

    return mapped


def _unpacked_names(frame: Any) -> int:
    """Return the number of names that the result of the call at work in a frame is unpacked into; 0 of others."""
    called = False
    for instruction in dis.get_instructions(frame.f_code):
        if called:
            unpacks = instruction.opname == "UNPACK_SEQUENCE"
            return int(instruction.arg or 0) if unpacks else 0
        called = instruction.offset == frame.f_lasti
    return 0


# --- mapped axes ---------------------------------------------------------------------------------


def mapped_axes(in_axes: Any, axes: Sequence[Any], args: Sequence[Any]) -> Sequence[Any]:
    """Return an axis for each argument, with those that no array has left out where that is assumed."""
    if not _assuming or len(axes) != len(args):
        return axes
    if len(args) == 1 and not isinstance(in_axes, (tuple, list, int, type(None))):
        _assumed["`in_axes` as that of the one argument"] = None
    return tuple(map(_mappable_axis, axes, args))


def _mappable_axis(axis: Any, tree: Any) -> Any:
    """Return the axis to map an argument over; None if its parts have no such axis of one size."""
    if not isinstance(axis, int):
        return axis
    shapes = [np.shape(x) for x in leaves(tree)]
    if all(-len(s) <= axis < len(s) for s in shapes) and len({s[axis] for s in shapes}) <= 1:
        return axis
    _assumed["arguments not mapped that have no axis of one size"] = None
    return None
