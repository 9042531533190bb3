"""Implement `vmap`: vectorize a function of one example over a batch."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import trees
from sagax._src.api import arguments
from sagax._src.api.autodiff_common import info_of
from sagax._src.api.reference_arguments import ReferenceArguments
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import check_results
from sagax._src.core import dims
from sagax._src.core.high_types import MappingSpec
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name, tracing
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.float0_leaves import is_no_tangent, without_no_tangents
from sagax._src.higher_order.trace_bodies import as_result, as_value
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.structural import reduce_sum

if TYPE_CHECKING or lazy_imports():
    from sagax._src.api import eager_transforms, vmappables
    from sagax._src.transforms import batch as batch_transform


def _is_axis(x: Any) -> bool:
    return x is None


def vmap(
    fun: Callable,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: Any = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable:
    """Map `fun` over an axis of its arguments, with vectorized operations.

    Args:
      in_axes: which axis of each positional argument is mapped: an int, None (not mapped), or a tuple
        (or list) with an entry an argument, each an int, None or a pytree of them. Keyword arguments are mapped over
        axis 0.
      out_axes: where the mapped axis appears in the results: an int, None (the result is the same for
        all examples) or a pytree of them.
      axis_name: a name for collectives such as `lax.psum`.
      axis_size: the number of examples, needed if nothing is mapped.
      sum_match: where `out_axes` is None, sum results that differ over the examples.
      spmd_axis_name: the axis of a mesh, or axes, along which a `shard_map` inside divides the examples.

    Raises:
      ValueError: sizes disagree, or an axis does not exist; the message names the arguments.

    >>> sagax.vmap(lambda x, y: x * y, in_axes=(0, None))(snp.arange(3), 2)
    Array([0, 2, 4], dtype=int32)
    """
    arguments.check_callable(fun, "vmap")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    of_one_kind = all(_axis_ok(axis) for axis in trees.leaves((in_axes,)))
    if not of_one_kind or not (in_axes is None or isinstance(in_axes, tuple) or _axis_ok(in_axes)):
        raise ArgumentError(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments",
            function="vmap",
            argument="in_axes",
            got=checks.shown(in_axes),
            expected="an int, None, or a tuple with an int, None or a pytree of them for each argument",
        )
    if not all(_axis_ok(axis) for axis in trees.leaves((out_axes,))):
        raise ArgumentError.about(
            "vmap", "out_axes", checks.shown(out_axes), "an int, None, or a pytree of them"
        )
    if axis_size is not None:
        axis_size = _check_size(axis_size)
    try:
        hash(axis_name)
    except TypeError:
        raise ArgumentError.about(
            "vmap", "axis_name", axis_name, "a string, or another hashable value"
        ) from None

    def make(fun: Any) -> Callable:
        return _mapped(fun, in_axes, out_axes, axis_name, axis_size, spmd_axis_name, sum_match)

    key = ("vmap", in_axes, out_axes, axis_name, axis_size, spmd_axis_name, sum_match)
    return eager_transforms.transformed(fun, key, make, dynamic=range, dynamic_scalars=False)


def _mapped(
    fun: Callable,
    in_axes: Any,
    out_axes: Any,
    axis_name: Any,
    axis_size: Any,
    spmd_axis_name: Any,
    sum_match: bool,
) -> Callable:
    """Map with checked options."""

    def _mapped_by_handlers(args: tuple, kwargs: dict) -> Any:
        def make(f: Callable, ins: Any, outs: Any, size: Any) -> Callable:
            return _mapped(f, ins, outs, axis_name, size, spmd_axis_name, sum_match)

        def spread_out(axes: Any, tree: Any) -> list:
            return _spread_out(fun, axes, tree, tree.num_leaves)

        axes = _spread_in(fun, in_axes, args, kwargs, vmappables.is_vmappable)
        return vmappables.mapped(make, fun, args, kwargs, axes, out_axes, axis_size, spread_out)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ArgumentValueError(
                "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to the "
                f"function, but got len(in_axes)={len(in_axes)}, len(args)={len(args)}",
                function="vmap",
                argument="in_axes",
                got=in_axes,
                expected=f"one entry for each positional argument: {len(args)}",
                fix="give one entry for each positional argument; keyword arguments are always mapped over axis 0",
            )
        if vmappables.registry and any(
            map(vmappables.is_vmappable, trees.leaves((args, kwargs), vmappables.is_vmappable))
        ):
            return _mapped_by_handlers(args, kwargs)
        leaves, tree = arguments.flatten_named(
            f"vmap of {function_name(fun)}",
            (args, kwargs),
            lambda: arguments.named_arguments(fun, args, kwargs),
        )
        paths = functools.cache(lambda: arguments.leaf_paths(fun, args, kwargs))
        axes = _spread_in(fun, in_axes, args, kwargs)
        if any(map(is_no_tangent, leaves)):  # each example gets its part of the shape
            leaves = [
                _example_of_no_tangent(x, axis) if is_no_tangent(x) else x
                for x, axis in zip(leaves, axes, strict=True)
            ]
            axes = [None if is_no_tangent(x) else axis for x, axis in zip(leaves, axes)]
        # unmapped arguments are passed unchanged, and may be anything
        mapped_leaves = [0 if axis is None else x for x, axis in zip(leaves, axes, strict=True)]
        arguments.check_operands(mapped_leaves, paths, "vmap", fun)
        in_dims = [
            _dimension(x, axis, i, paths)
            for i, (x, axis) in enumerate(zip(leaves, axes, strict=True))
        ]
        size = _size(fun, leaves, in_dims, axis_size, paths)
        references = ReferenceArguments(leaves, [d is not None for d in in_dims])
        cell: list[Any] = []

        def with_examples(shape: tuple) -> tuple:
            at = out_axes if isinstance(out_axes, int) else 0
            at = at if at >= 0 else at + len(shape) + 1
            return (*shape[:at], size, *shape[at:])

        def flat(*xs: Any) -> list:
            some, named = tree.unflatten(xs)
            result = fun(*some, **named)
            outs, out_tree = trees.flatten_argument("vmap", "result", result)
            if not dims.is_dim(size):
                outs, out_tree = without_no_tangents(outs, out_tree, with_examples)
            check_results(outs, result, "vmap", fun)
            cell[:] = [out_tree]
            return outs

        # unmapped numbers stay numbers, by which Python code may decide
        values = [
            x if d is None else as_value(x) for x, d in zip(references.values, in_dims, strict=True)
        ]
        mapped_avals = [None if d is None else aval_of(x) for x, d in zip(values, in_dims)]
        cut = batch_transform.example_sharding(mapped_avals, in_dims)
        axis = batch_transform.BatchAxis(size, axis_name, spmd_axis_name, cut)
        with tracing(fun, "vmap"):
            outs, out_dims = batch_transform.batch_flat(
                references.on_values(flat) if references else flat,
                axis,
                values,
                in_dims,
                info_of(fun, "vmap", paths),
            )
        if references:
            outs, written = references.split(outs)
            out_dims, written_dims = references.split(out_dims)
            where = [in_dims[i] for i in references.positions]
            moved = zip(written, written_dims, where, strict=True)
            references.store([batch_transform.move_batch_dim(*x, axis) for x in moved])
        (out_tree,) = cell
        out_dims_requested = _spread_out(fun, out_axes, out_tree, len(outs))
        moved_outs = []
        for i, (x, d, w) in enumerate(zip(outs, out_dims, out_dims_requested, strict=True)):
            x = as_result(x) if w is None and d is None else as_value(x)
            if w is None and d is not None and sum_match:
                x, d = reduce_sum(x, (d,)), None
            if w is None and d is not None:
                path = trees.argument_path("out_axes", _paths_of(out_tree)[i])
                raise ArgumentValueError(
                    f"at vmap {path}, got axis spec None but output was batched on axis {d}",
                    function="vmap",
                    argument="out_axes",
                    got=out_axes,
                    expected="an int where the result depends on a mapped argument",
                )
            if w is not None and not (isinstance(w, MappingSpec) or aval_of(x).is_high):
                ndim = aval_of(x).ndim + (d is None)
                if not -ndim <= w < ndim:
                    path = trees.argument_path("result", _paths_of(out_tree)[i])
                    raise ArgumentValueError(
                        f"vmap got inconsistent out_axes: axis {w} is out of bounds for {path} with {ndim} dimensions, the mapped "
                        "one included",
                        function="vmap",
                        argument="out_axes",
                        got=out_axes,
                        expected=f"an axis from {-ndim} to {ndim - 1}",
                    )
                w %= ndim
            moved_outs.append(batch_transform.move_batch_dim(x, d, w, axis))
        return out_tree.unflatten(moved_outs)

    return mapped


def _example_of_no_tangent(x: Any, axis: int | None) -> Any:
    """Return the float0 array of one example, of a batch mapped along `axis`."""
    return x if axis is None else np.zeros(np.delete(x.shape, axis), x.dtype)


def _axis_ok(axis: Any) -> bool:
    known = isinstance(axis, (int, MappingSpec)) and not isinstance(axis, bool)
    return known or type(axis) in vmappables.spec_types


def _check_size(size: Any) -> Any:
    if dims.is_dim(size) or (checks.is_index(size) and operator.index(size) >= 0):
        return size if dims.is_dim(size) else operator.index(size)
    raise ArgumentError.about(
        "vmap", "axis_size", checks.shown(size), "an int of at least 0: the number of examples"
    )


def _spread_in(
    fun: Any, in_axes: Any, args: tuple, kwargs: dict, is_leaf: Callable | None = None
) -> list:
    """Return the entry of `in_axes` for each leaf; keyword arguments are mapped over axis 0."""
    spec = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    names = arguments.positional_names(fun, len(args))
    axes: list = []
    for i, (entry, arg) in enumerate(zip(spec, args, strict=True)):
        try:
            shape = arg if is_leaf is None else trees.structure(arg, is_leaf)
            axes.extend(trees.broadcast_prefix(entry, shape, is_leaf=_is_axis))
        except (ValueError, TypeError):
            found = trees.prefix_mismatch(entry, arg, f"in_axes[{i}]", names[i], is_leaf=_is_axis)
            raise ArgumentValueError(
                f"vmap in_axes specification must be a tree prefix of the corresponding value: {'; '.join(map(str, found))}",
                function="vmap",
                argument=f"in_axes[{i}]",
                got=entry,
                expected=f"a prefix of the structure of {names[i]}",
            ) from None
    axes.extend([0] * len(trees.leaves(kwargs, is_leaf)))
    return axes


def _structure_of_objects(out_tree: Any) -> Any:
    """Return the structure of the result with an object at each leaf.

    Nodes may refuse arrays of wrong shapes, and the mapped axes of the leaves are not moved yet.
    """
    result = trees.of_objects(out_tree)
    if len(trees.leaves(result)) > out_tree.num_leaves:  # tangents of integers need no axis
        result = trees.map(lambda x: None if is_no_tangent(x) else x, result)
    return result


def _paths_of(out_tree: Any) -> list:
    return trees.key_paths(_structure_of_objects(out_tree))


def _spread_out(fun: Any, out_axes: Any, out_tree: Any, count: int) -> list:
    if type(out_axes) is vmappables.LateAxes:
        return out_axes.found
    if out_axes is None or isinstance(out_axes, (int, MappingSpec)):
        return [out_axes] * count
    result = _structure_of_objects(out_tree)
    try:
        return trees.broadcast_prefix(out_axes, result, is_leaf=_is_axis)
    except (ValueError, TypeError):
        found = trees.prefix_mismatch(
            out_axes, trees.structure(result), "out_axes", "the result", is_leaf=_is_axis
        )
        raise ArgumentValueError(
            f"vmap out_axes specification must be a tree prefix of the corresponding value: {'; '.join(map(str, found))}",
            function="vmap",
            argument="out_axes",
            got=out_axes,
            expected=f"a prefix of the structure of the result of {function_name(fun)}",
        ) from None


def _dimension(x: Any, axis: int | None, i: int, paths: Callable[[], list[str]]) -> int | None:
    if axis is None:
        return None
    if isinstance(axis, MappingSpec) or aval_of(x).is_high:
        return axis
    ndim = aval_of(x).ndim
    if not -ndim <= axis < ndim:
        what = (
            "is a scalar and has no axis to map over"
            if ndim == 0
            else f"has {ndim} dimension{'s' if ndim > 1 else ''}"
        )
        raise ArgumentValueError(
            f"vmap was requested to map its argument along axis {axis}, but {paths()[i]} {what}",
            function="vmap",
            argument=paths()[i],
            got=x,
            expected=f"an array of rank {axis + 1 if axis >= 0 else -axis} or more",
            fix="use None in in_axes for arguments that are not mapped",
        )
    return axis % ndim


def _size(
    fun: Any, leaves: list, in_dims: list, axis_size: Any, paths: Callable[[], list[str]]
) -> Any:
    sizes = [
        (aval_of(x).shape[d], i)
        for i, (x, d) in enumerate(zip(leaves, in_dims, strict=True))
        if d is not None and not aval_of(x).is_high
    ]
    if not sizes:
        if axis_size is None:
            raise ArgumentValueError(
                "vmap must have at least one non-None value in in_axes",
                function="vmap",
                argument="in_axes",
                expected="an axis of some argument, or axis_size",
                fix=f"map an argument of {function_name(fun)} over an axis, or pass axis_size=...",
            )
        return axis_size
    first = sizes[0][0] if axis_size is None else axis_size
    if all(dims.same(s, first) for s, _ in sizes):
        return first
    groups: dict[Any, list[int]] = {}
    for s, i in sizes:
        groups.setdefault(s, []).append(i)
    lines = []
    for s, members in sorted(groups.items(), key=lambda g: -len(g[1])):
        named = [
            f"axis {in_dims[i]} of {paths()[i]} ({aval_of(leaves[i]).str_short(short_dtypes=False)})"
            for i in members[:3]
        ]
        more = f" and {len(members) - 3} more" if len(members) > 3 else ""
        lines.append(f"\n  size {s}: {', '.join(named)}{more}")
    if axis_size is not None:
        lines.append(f"\n  size {axis_size}: the argument axis_size")
    raise ArgumentValueError(
        f"vmap got inconsistent sizes for array axes to be mapped:{''.join(lines)}",
        function="vmap",
        fix="give all mapped arguments the same size, or use None in in_axes for those that are not mapped",
        about=(tuple(paths()[i] for _, i in sizes), function_name(fun)),
    )
