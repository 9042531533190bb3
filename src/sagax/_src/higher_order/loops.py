"""Implement `map` and `associative_scan` by other loops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import positional_names
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.argument_checks.functions import check_function, check_results, structure_error
from sagax._src.core import dims
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, TreeError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.scan import loop_length, traced_scan
from sagax._src.higher_order.trace_bodies import operand_leaves
from sagax._src.primitives import cumulative
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import concatenate, rev, stack
from sagax._src.primitives.slicing import index_in_dim, slice_in_dim
from sagax._src.primitives.structural import convert, expand_dims, moveaxis, reshape, squeeze
from sagax._src.transforms.batch import BatchAxis, batch_flat, move_batch_dim


def map(f: Callable, xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply `f` sequentially to the slices of `xs` along its leading axis, and stack the results.

    It takes the memory of one example, `vmap` that of all; `batch_size` examples run at a time.

    >>> sagax.lax.map(lambda x: x * x, snp.arange(4))
    Array([0, 1, 4, 9], dtype=int32)
    """
    check_function(f, "lax.map: f argument should be a callable.", "map", "f")
    batch_size = _check_batch_size(batch_size)
    if not batch_size:

        @wraps(f)
        def step(_: tuple, x: Any) -> tuple:
            y = f(x)
            check_results(trees.flatten_argument("map", "result", y)[0], y, "map", f)
            return (), y

        return traced_scan(
            "map", step, (), xs, None, names=functools.partial(_names, f, xs), same=("map", f)
        )[1]
    leaves, tree = operand_leaves("map", "xs", xs)
    n = loop_length(f"map of {function_name(f)}", "map", xs, leaves, None)
    count = n // batch_size
    whole, rest = count * batch_size, n % batch_size
    parts = []
    if dims.is_dim(count) or count:  # symbolic: both parts, one of which may be empty
        shape = (count, batch_size)
        blocks = tree.unflatten(
            [reshape(slice_in_dim(x, 0, whole), (*shape, *aval_of(x).shape[1:])) for x in leaves]
        )
        stacked = map(lambda block: _examples(f, block), blocks)
        parts.append(trees.map(lambda y: reshape(y, (whole, *aval_of(y).shape[2:])), stacked))
    if dims.is_dim(rest) or rest or not parts:
        parts.append(_examples(f, tree.unflatten([slice_in_dim(x, whole, n) for x in leaves])))
    if len(parts) == 1:
        return parts[0]
    return trees.map(lambda a, b: concatenate([a, b], 0), *parts)


def _check_batch_size(size: Any) -> int:
    """Check the batch size and return it; 0 for sequential execution."""
    if size is None:
        return 0
    in_range = "an int of at least 0, or None"
    return checks.integer("map", "batch_size", size, "an int, or None", least=0, in_range=in_range)


def _names(f: Callable, xs: Any) -> list[str]:
    (name,) = positional_names(f, 1)
    return [trees.argument_path(name, p) for p in trees.key_paths(xs)]


def _examples(f: Callable, xs: Any) -> Any:
    """Apply `f` to all slices at a time."""
    leaves, tree = trees.flatten(xs)
    axis = BatchAxis(aval_of(leaves[0]).shape[0])
    out_tree: Any = None

    def flat(*values: Any) -> list:
        nonlocal out_tree
        result = f(tree.unflatten(values))
        outs, out_tree = trees.flatten_argument("map", "result", result)
        check_results(outs, result, "map", f)
        return outs

    outs, out_dims = batch_flat(flat, axis, leaves, [0] * len(leaves))
    return out_tree.unflatten(
        [move_batch_dim(x, d, 0, axis) for x, d in zip(outs, out_dims, strict=True)]
    )


def associative_scan(fn: Callable, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Compute all prefixes of `elems` along `axis` by the associative `fn`, in logarithmic depth.

    `fn(a, b)` combines two pytrees like `elems` whose arrays hold several elements along `axis`. With `reverse`
    it computes all suffixes, from the end.

    >>> sagax.lax.associative_scan(snp.add, snp.arange(5))
    Array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    check_function(
        fn, "lax.associative_scan: fn argument should be callable.", "associative_scan", "fn"
    )
    leaves, tree = operand_leaves("associative_scan", "elems", elems)
    if not leaves:
        return elems
    paths = [trees.argument_path("elems", p) for p in trees.key_paths(elems)]
    axis = _common_axis(leaves, paths, axis)
    of = f"associative_scan of {function_name(fn)}"
    if reverse:
        leaves = [rev(x, (axis,)) for x in leaves]

    def combine(a: Any, b: Any) -> list:
        result = fn(tree.unflatten(a), tree.unflatten(b))
        out, out_tree = trees.flatten_argument("associative_scan", "result", result)
        if out_tree != tree:
            found = trees.structure_mismatch(tree, out_tree, "elems", "the result of fn")
            raise structure_error(
                of, "fn must return the structure of elems", found, kind=TreeError
            )
        check_results(out, result, "associative_scan", fn)
        for x, y, path in zip(a, out, paths, strict=True):
            have, expected = aval_of(y), aval_of(x)
            if have.dtype != expected.dtype or not dims.same_shape(have.shape, expected.shape):
                raise ArgumentError(
                    "fn must return arrays of the shapes and dtypes of its arguments",
                    function=of,
                    argument=f"the result of fn at {path}",
                    expected=expected,
                    got=have,
                    fix="combine element by element along the scanned axis",
                )
        return out

    if dims.is_dim(aval_of(leaves[0]).shape[axis]):
        outs = _scan_in_order(combine, leaves, axis)
    else:
        outs = cumulative.prefix_scan(combine, leaves, axis)
        if aval_of(leaves[0]).shape[axis] > 1:  # joined elements are strongly typed
            outs = [convert(x, aval_of(x).dtype) for x in outs]
    if reverse:
        outs = [rev(x, (axis,)) for x in outs]
    return tree.unflatten(outs)


def _scan_in_order(combine: Callable, leaves: list, axis: int) -> list:
    """Compute all prefixes sequentially, for an axis of symbolic size."""
    before = [slice_in_dim(x, 0, 1, 1, axis) for x in leaves]
    rows = [expand_dims(moveaxis(x, axis, 0), (axis + 1,)) for x in leaves]

    def step(carry: tuple, xs: list) -> tuple:
        first, state = carry
        joined = [select_n(first, j, x) for x, j in zip(xs, combine(state, xs), strict=True)]
        return (np.bool_(False), joined), joined

    _, found = traced_scan("associative_scan", step, (np.bool_(True), before), rows, None)
    return [moveaxis(squeeze(y, (axis + 1,)), 0, axis) for y in found]


def _common_axis(leaves: list, paths: list[str], axis: Any) -> int:
    """Return the scanned axis, which must have the same size in all arrays."""
    for x, path in zip(leaves, paths, strict=True):
        if aval_of(x).ndim == 0:
            raise ArgumentValueError(
                "associative_scan needs arrays with an axis to scan along",
                function="associative_scan",
                argument=path,
                got=x,
                expected="an array with at least one dimension",
            )
    axis = canonical_axis(axis, aval_of(leaves[0]).ndim, "associative_scan")
    sizes: list[Any] = [
        aval_of(x).shape[axis] if axis < aval_of(x).ndim else "no such axis" for x in leaves
    ]
    if not all(not isinstance(s, str) and dims.same(s, sizes[0]) for s in sizes):
        shown = ", ".join(f"{p}: {s}" for p, s in zip(paths, sizes, strict=True))
        raise ArgumentValueError(
            f"Array inputs to associative_scan must have the same size along axis {axis}",
            function="associative_scan",
            argument="elems",
            got=shown,
            expected="equal sizes",
        )
    return axis


def one_by_one(
    call: Callable[..., Sequence[Any]],
    size: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    unrolled: bool,
) -> list:
    """Apply `call(*args)` to each example in turn; stack the results. Mapped dimensions come first."""
    mapped = [x for x, d in zip(args, in_dims, strict=True) if d is not None]

    def of_one(xs: Sequence[Any]) -> list:
        given = iter(xs)
        return list(
            call(*[x if d is None else next(given) for x, d in zip(args, in_dims, strict=True)])
        )

    if not unrolled:
        return list(map(of_one, mapped))
    rows = [of_one([index_in_dim(x, i, keepdims=False) for x in mapped]) for i in range(size)]
    return [stack(column) for column in zip(*rows, strict=True)]
