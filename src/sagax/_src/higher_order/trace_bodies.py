"""Trace the bodies of control flow: jaxprs, structures, and shared checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.argument_checks.functions import check_results, unusable_leaf
from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.avals import same_type
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.operands import LoopOperands, LoopResults, partition
from sagax._src.core.shardings import same_sharding
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.trace import Tracer
from sagax._src.core.value import NUMBERS, aval_of, is_argument, sockets
from sagax._src.diagnostics.boundary import Boundary, function_code, function_name
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.higher_order import trace_cache
from sagax._src.higher_order.float0_leaves import (
    hidden_in_structure,
    is_no_tangent,
    without_no_tangents,
)
from sagax._src.primitives.structural import convert
from sagax._src.transforms.derived import derived


class Body:
    """A traced body: `jaxpr` takes its captured values (`consts`) first; `out_tree` is its result's."""

    __slots__ = ("consts", "jaxpr", "name", "out_tree")

    def __init__(self, jaxpr: ClosedJaxpr, consts: list, out_tree: Any, name: str) -> None:
        self.jaxpr = jaxpr
        self.consts = consts
        self.out_tree = out_tree
        self.name = name

    def closed(self) -> ClosedJaxpr:
        """Return the jaxpr with its captured values as constants."""
        inner, n = self.jaxpr.jaxpr, len(self.consts)
        if not n:
            return self.jaxpr
        split = derived(
            inner,
            (memo_keys.INPUTS_TO_CONSTANTS, n),
            lambda: inner.replace(constvars=inner.invars[:n], invars=inner.invars[n:]),
        )
        return ClosedJaxpr(split, self.consts)


def trace_body(
    fun: Callable,
    tree: Any,
    avals: Sequence[Any],
    *,
    transform: str,
    paths: Sequence[str] | Callable[[], Sequence[str]] = (),
    same: tuple | None = None,
) -> Body:
    """Trace `fun`, called with the positional arguments of structure `tree`.

    Args:
      paths: the body's names of its flat inputs, or a function that returns them.
      same: the functions and plain values that identify `fun`, if it is a wrapper of ours.
    """

    def traced() -> Body:
        out_tree = None

        def flat(*leaves: Any) -> list:
            nonlocal out_tree
            result = fun(*tree.unflatten(leaves))
            outs, out_tree = without_no_tangents(
                *trees.flatten_argument(transform, "result", result)
            )
            check_results(outs, result, transform, fun)
            return outs

        name = function_name(fun)
        info = DebugInfo(
            name, paths() if callable(paths) else paths, (), transform, function_code(fun)
        )
        with Boundary(f"tracing `{name}` in {transform}"), config.for_sub_jaxpr():
            jaxpr, consts = stage(flat, avals, info)
        inner = trace_cache.shared(hoist_constants(jaxpr), *(same or (fun,)))
        return Body(ClosedJaxpr(inner, ()), consts, out_tree, name)

    return trace_cache.traced(same or (fun,), (transform, tree, *avals), traced)


def operand_leaves(
    function: str, name: str, tree: Any, shape_of: Callable[[tuple], tuple] = tuple
) -> tuple[list, Any]:
    """Return the leaves of an argument, checked to be operands, and its structure.

    The structure recreates float0 arrays, with the shapes that `shape_of` returns.
    """
    leaves, treedef = trees.flatten_argument(function, name, tree)
    if any(map(is_no_tangent, leaves)):
        return operand_leaves(function, name, hidden_in_structure(tree, shape_of))
    for i, x in enumerate(leaves):
        if not is_argument(x):
            path = trees.argument_path(name, trees.key_paths(tree)[i])
            raise unusable_leaf(x, function, path, "let the function close over what is no array")
    return leaves, treedef


def weak_promote(values: list, outs: Sequence[Any]) -> list | None:
    """Cast weakly typed `values` to the dtypes of the body's `outs`; return None if all agree.

    A carry that starts as a Python number takes the dtype of the body's result, if that is lossless: 1.5 does not
    become an integer.
    """
    changed = False
    new = []
    for x, out in zip(values, outs, strict=True):
        have = aval_of(x)
        if (
            have.weak_type
            and not out.is_high
            and have.dtype != out.dtype
            and dims.same_shape(have.shape, out.shape)
        ):
            pair = ((have.dtype, True), (out.dtype, out.weak_type))
            dtype, _ = dtypes.promote(pair, config.current().x64)
            x = convert(x, dtype) if hasattr(x, "aval") else np.asarray(x, dtype)[()]
            changed = changed or dtype != have.dtype
        new.append(x)
    return new if changed else None


def _type_change(path: str, before: Any, after: Any, labels: tuple[str, str]) -> str:
    """Return the first line of the error for a carry whose type changes."""
    if "carry input" not in labels[0]:
        return ""
    start, end = (aval.str_short(short_dtypes=False) for aval in (before, after))
    return f"the carry changes its type: `{path}` starts as {start} and comes back as {end}"


def type_mismatch(
    function: str,
    what: str,
    expected: Sequence[Any],
    got: Sequence[Any],
    paths: Sequence[str] | Callable[[], Sequence[str]],
    labels: tuple[str, str],
    advice: str,
) -> ArgumentError | None:
    """Return the error for the first leaf whose type differs, or None."""
    if all(map(_same, got, expected)):
        return None
    if callable(paths):
        paths = paths()
    for have, target, path in zip(got, expected, paths, strict=True):
        if _same(have, target):
            continue
        shapes = have.shape != target.shape
        dtypes_differ = have.dtype != target.dtype
        which = (
            "shapes and dtypes do not match"
            if shapes and dtypes_differ
            else ("shapes do not match" if shapes else "dtypes do not match")
        )
        fix = advice
        if not (shapes or dtypes_differ) and have.memory_space is not target.memory_space:
            which = "memory spaces do not match"
            name = target.memory_space.name
            fix = f"put it there in {labels[1]}: sagax.device_put(x, sagax.memory.Space.{name})"
        elif same_type(have, target):
            which = "shardings do not match"
            parts = (
                [target.explicit_sharding.spec.axes(i) for i in range(target.ndim)]
                if target.explicit_sharding
                else []
            )
            spec = PartitionSpec(*parts)
            fix = f"reshard it in {labels[1]}: sagax.sharding.reshard(x, {spec!r})"
        if dtypes_differ and not shapes:
            w, h = dtypes.name(target.dtype), dtypes.name(have.dtype)
            fix = f"make both {w}, with .astype({w!r}) in {labels[1]}, or both {h}"
        return ArgumentError(
            f"{what}: {path} has type {target.str_short(short_dtypes=False)} in {labels[0]} but type "
            f"{have.str_short(short_dtypes=False)} in {labels[1]}, so the {which}",
            function=function,
            argument=path,
            expected=target,
            got=have,
            fix=fix,
            headline=_type_change(path, target, have, labels),
        )
    return None


def _same(a: Any, b: Any) -> bool:
    return same_type(a, b) and same_sharding(a.explicit_sharding, b.explicit_sharding)


def unchanged_carry(jaxpr: ClosedJaxpr, n_consts: int, n_carry: int) -> list[bool]:
    """Mark the parts of the carry that a body returns unchanged."""
    inner = jaxpr.jaxpr
    _, carry, _ = LoopOperands.split(inner.invars, n_consts, n_carry)
    return [v is out for v, out in zip(carry, inner.outvars, strict=False)]


def carry_to_consts(
    jaxpr: ClosedJaxpr, n_consts: int, fixed: Sequence[bool], drop_outputs: bool
) -> ClosedJaxpr:
    """Return the body with the marked parts of the carry as its last constants, optionally without their outputs."""
    inner = jaxpr.jaxpr

    def build() -> Any:
        consts, carry, slices = LoopOperands.split(inner.invars, n_consts, len(fixed))
        moved, unmoved = partition(carry, fixed)
        outs = inner.outvars
        if drop_outputs:
            carry_out, rows = LoopResults.split(outs, len(fixed))
            outs = [*partition(carry_out, fixed)[1], *rows]
        return inner.replace(invars=[*consts, *moved, *unmoved, *slices], outvars=outs)

    key = (memo_keys.CARRY_TO_CONSTANTS, n_consts, drop_outputs, *fixed)
    return ClosedJaxpr(derived(inner, key, build), jaxpr.consts)


def permute_inputs(closed: ClosedJaxpr, order: Sequence[int]) -> ClosedJaxpr:
    """Reorder the inputs of a jaxpr: new input i is old input order[i]."""
    inner = closed.jaxpr
    found = derived(
        inner,
        (memo_keys.PERMUTED_INPUTS, *order),
        lambda: inner.replace(invars=[inner.invars[i] for i in order]),
    )
    return ClosedJaxpr(found, closed.consts)


def with_tangents_grouped(pushed: ClosedJaxpr, moving: LoopOperands) -> ClosedJaxpr:
    """Differentiate a body, and put the tangents of each group behind it, not behind all inputs.

    `moving` marks the inputs that have tangents.
    """
    n_in, n = len(moving.flat()), len(pushed.in_avals)
    order = moving.like(range(n_in)) + moving.like_marked(range(n_in, n))
    return permute_inputs(pushed, order.flat())


def with_outputs(closed: ClosedJaxpr, outvars: Sequence[Any]) -> ClosedJaxpr:
    """Return the same jaxpr with other outputs."""
    inner = closed.jaxpr
    found = derived(
        inner, (memo_keys.OTHER_OUTPUTS, *outvars), lambda: inner.replace(outvars=list(outvars))
    )
    return ClosedJaxpr(found, closed.consts)


def as_value(x: Any) -> Any:
    """Convert an operand to a value with an aval."""
    return x if hasattr(x, "aval") or aval_of(x).is_high else sockets.concrete(x)


def as_result(x: Any) -> Any:
    """Convert a value that is passed on to one with an aval; a Python number stays as it is."""
    return x if type(x) in NUMBERS else as_value(x)


def with_numbers(outs: Sequence[Any], values: Sequence[Any], given: Sequence[Any]) -> list:
    """Return `outs` with the numbers that were `given` in place of the `values` made of them.

    A number that a function returns unchanged comes back as that number.
    """
    numbers = {id(v): x for v, x in zip(values, given, strict=True) if type(x) in NUMBERS}
    return [numbers.get(id(out), out) for out in outs] if numbers else list(outs)


def is_concrete(x: Any) -> bool:
    """Return whether the value is known now."""
    return not isinstance(x, Tracer)
