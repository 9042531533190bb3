"""Functions given to control flow, traced: their jaxprs, structures, and the checks they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.control.words import check_results, unusable_leaf
from sagax._src.core import dtypes
from sagax._src.core.avals import same_type
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo
from sagax._src.core.stage import hoist_constants, stage
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.boundary import Boundary, function_name
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.primitives.structural import convert


class Body:
    """A traced body: `jaxpr` takes its captured values (`consts`) first; `out_tree` is its result's."""

    __slots__ = ("consts", "jaxpr", "name", "out_tree")

    def __init__(self, jaxpr: ClosedJaxpr, consts: list, out_tree: Any, name: str) -> None:
        self.jaxpr = jaxpr
        self.consts = consts
        self.out_tree = out_tree
        self.name = name

    def closed(self) -> ClosedJaxpr:
        """The jaxpr with its captured values as constants."""
        inner, n = self.jaxpr.jaxpr, len(self.consts)
        split = inner.replace(constvars=inner.invars[:n], invars=inner.invars[n:])
        return ClosedJaxpr(split, self.consts)


def trace_body(
    fun: Callable, tree: Any, avals: Sequence[Any], *, transform: str, paths: Sequence[str] = ()
) -> Body:
    """Trace `fun`, called with the positional arguments of structure `tree`."""
    out_tree = None

    def flat(*leaves: Any) -> list:
        nonlocal out_tree
        result = fun(*tree.unflatten(leaves))
        outs, out_tree = trees.flatten_argument(transform, "result", result)
        check_results(outs, result, transform, fun)
        return outs

    info = DebugInfo(function_name(fun), paths, (), transform)
    with Boundary(f"tracing `{function_name(fun)}` in {transform}"):
        jaxpr, consts = stage(flat, avals, info)
    return Body(ClosedJaxpr(hoist_constants(jaxpr), ()), consts, out_tree, function_name(fun))


def operand_leaves(function: str, name: str, tree: Any) -> tuple[list, Any]:
    """The leaves of an argument as values, checked to be operands, and its structure."""
    leaves, treedef = trees.flatten_argument(function, name, tree)
    for i, x in enumerate(leaves):
        if not is_operand(x):
            path = trees.argument_path(name, trees.key_paths(tree)[i])
            raise unusable_leaf(x, function, path, "let the function close over what is no array")
    return leaves, treedef


def weak_promote(values: list, outs: Sequence[Any]) -> list | None:
    """`values` with weakly typed leaves given the types that the body's `outs` have, or None.

    A carry that starts as a Python number takes the dtype that the body gives it, as far as that loses
    nothing: 1.5 does not become an integer.
    """
    changed = False
    new = []
    for x, out in zip(values, outs, strict=True):
        have = aval_of(x)
        if (
            have.weak_type
            and (not same_type(have, out) or not out.weak_type)
            and have.shape == out.shape
        ):
            pair = ((have.dtype, True), (out.dtype, out.weak_type))
            x = _retyped(x, have.with_dtype(*dtypes.promote(pair, config.current().x64)))
            changed = changed or aval_of(x) is not have
        new.append(x)
    return new if changed else None


def _retyped(x: Any, aval: Any) -> Any:
    if hasattr(x, "aval"):
        return convert(x, aval.dtype, aval.weak_type)
    if not aval.weak_type:
        return np.asarray(x, aval.dtype)[()]
    return {"f": float, "c": complex}.get(dtypes.kind(aval.dtype), int)(x)


def type_mismatch(
    function: str,
    what: str,
    expected: Sequence[Any],
    got: Sequence[Any],
    paths: Sequence[str],
    labels: tuple[str, str],
    advice: str,
) -> ArgumentError | None:
    """The error for the first leaf whose type differs, or None."""
    for have, want, path in zip(got, expected, paths, strict=True):
        if same_type(have, want):
            continue
        shapes = have.shape != want.shape
        dtypes_differ = have.dtype != want.dtype
        which = (
            "shapes and dtypes do not match"
            if shapes and dtypes_differ
            else ("shapes do not match" if shapes else "dtypes do not match")
        )
        fix = advice
        if dtypes_differ and not shapes:
            w, h = dtypes.name(want.dtype), dtypes.name(have.dtype)
            fix = f"make both {w}, with .astype({w!r}) in {labels[1]}, or both {h}"
        return ArgumentError(
            f"{what}: {path} has type {want.str_short(short_dtypes=False)} in {labels[0]} but type "
            f"{have.str_short(short_dtypes=False)} in {labels[1]}, so the {which}",
            function=function,
            argument=path,
            expected=want,
            got=have,
            fix=fix,
        )
    return None


def permute_inputs(closed: ClosedJaxpr, order: Sequence[int]) -> ClosedJaxpr:
    """The same program with its inputs in another order: new input i is old input order[i]."""
    inner = closed.jaxpr
    key = ("permuted", tuple(order))
    found = inner.memo.get(key)
    if found is None:
        found = inner.memo[key] = inner.replace(invars=[inner.invars[i] for i in order])
    return ClosedJaxpr(found, closed.consts)


def with_outputs(closed: ClosedJaxpr, outvars: Sequence[Any]) -> ClosedJaxpr:
    """The same program with other outputs."""
    return ClosedJaxpr(closed.jaxpr.replace(outvars=list(outvars)), closed.consts)


def is_concrete(x: Any) -> bool:
    """Whether the value is known now."""
    return not isinstance(x, Tracer)
