"""Map types of libraries under `vmap` by handlers that they register.

`to_elt(cont, index, x, spec)` makes one example of `x`: `cont(part, spec)` gives the example of a part. `from_elt(cont,
axis_size, elt, spec)` makes the batch again: `cont(axis_size, part, axis)` gives the batch of a part. Both run twice,
with parts in the same order: once to find the parts, and once with their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src import trees
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.primitives.slicing import index_in_dim


class Handlers(NamedTuple):
    """Hold what a library registers for a type."""

    spec_type: type
    axis_size_type: type
    to_elt: Callable[..., Any]
    from_elt: Callable[..., Any]
    make_iota: Callable[..., Any] | None


registry: dict[type, Handlers] = {}
spec_types: set[type] = set()


def register(data_type: type, handlers: Handlers) -> None:
    """Map values of `data_type` by these handlers."""
    registry[data_type] = handlers
    spec_types.add(handlers.spec_type)


def is_vmappable(x: Any) -> bool:
    return type(x) in registry


class LateAxes:
    """The axes of results that become known when the function has run."""

    def __init__(self) -> None:
        self.found: list = []


class _Elements:
    """The parts of a value: mapped as arrays, and its example as a value of the type."""

    def __init__(self, x: Any, spec: Any) -> None:
        self.x, self.spec = x, spec
        self.values: list = []
        self.axes: list = []
        self.wants_index = False
        self._convert(self._example, self._first_index)

    def _convert(self, cont: Callable, index: Callable) -> Any:
        return registry[type(self.x)].to_elt(cont, index, self.x, self.spec)

    def _example(self, part: Any, spec: Any) -> Any:
        self.values.append(part)
        self.axes.append(spec)
        return part if spec is None else index_in_dim(part, 0, spec, keepdims=False)

    def _first_index(self) -> Any:
        self.wants_index = True
        return np.int32(0)

    def element(self, parts: Iterator[Any], index: Any) -> Any:
        """Return the example whose parts come next."""
        return self._convert(lambda part, spec: next(parts), lambda: index)


def mapped(
    make: Callable[[Callable, Any, Any, Any], Callable],
    fun: Callable,
    args: tuple,
    kwargs: dict,
    in_axes: Sequence[Any],
    out_axes: Any,
    axis_size: Any,
    spread_out: Callable[[Any, Any], list],
) -> Any:
    """Apply `make(function, in_axes, out_axes, axis_size)`, which maps arrays, to arguments with such values.

    `in_axes` has an entry for each leaf of (args, kwargs), `spread_out(out_axes, result)` gives them for results.
    """
    leaves, tree = trees.flatten((args, kwargs), is_vmappable)
    elements = [
        _Elements(x, axis) if is_vmappable(x) else None
        for x, axis in zip(leaves, in_axes, strict=True)
    ]
    values = [x if e is None else tuple(e.values) for x, e in zip(leaves, elements, strict=True)]
    axes = [a if e is None else tuple(e.axes) for a, e in zip(in_axes, elements, strict=True)]
    if any(e is not None and e.wants_index for e in elements):
        sizes = [
            aval_of(x).shape[a]
            for e in elements
            if e is not None
            for x, a in zip(e.values, e.axes, strict=True)
            if a is not None
        ]
        values.append(np.arange(sizes[0] if axis_size is None else axis_size, dtype=np.int32))
        axes.append(0)
    late, cell = LateAxes(), []

    @wraps(fun)
    def on_parts(given: Sequence[Any]) -> list:
        index = given[-1] if len(given) > len(leaves) else None
        xs = [
            x if e is None else e.element(iter(x), index)
            for x, e in zip(given, elements, strict=False)
        ]
        some, named = tree.unflatten(xs)
        outs, out_tree = trees.flatten(fun(*some, **named), is_vmappable)
        wanted = spread_out(out_axes, out_tree)
        cell[:] = [outs, out_tree, wanted]
        parts: list = []
        late.found = []

        def keep(size: Any, part: Any, axis: Any) -> Any:
            parts.append(part)
            late.found.append(axis)
            return part

        for x, axis in zip(outs, wanted, strict=True):
            _batch(x, axis, axis_size, keep)
        return parts

    found = iter(make(on_parts, (tuple(axes),), late, axis_size)(tuple(values)))
    outs, out_tree, wanted = cell
    batches = [
        _batch(x, axis, axis_size, lambda size, part, axis: next(found))
        for x, axis in zip(outs, wanted, strict=True)
    ]
    return out_tree.unflatten(batches)


def _batch(x: Any, axis: Any, size: Any, cont: Callable) -> Any:
    """Return a batch of an example `x`."""
    if not is_vmappable(x):
        return cont(size, x, axis)
    return registry[type(x)].from_elt(cont, size, x, axis)
