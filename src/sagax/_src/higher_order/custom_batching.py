"""Implement `custom_vmap` and `sequential_vmap`: functions with custom batching rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import (
    check_function,
    check_results,
    kind_of,
    structure_error,
)
from sagax._src.core import dims
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.operands import CallOperands
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero, nonzero_marks, nonzero_tangents
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.diagnostics.function_wrappers import copy_attributes
from sagax._src.higher_order.call import call, jit_p
from sagax._src.higher_order.custom_derivatives import UndefinedRuleError, resolve_kwargs
from sagax._src.higher_order.scan import traced_scan
from sagax._src.higher_order.trace_bodies import operand_leaves, trace_body
from sagax._src.primitives.structural import instantiate
from sagax._src.source_stacks import apart
from sagax._src.transforms.batch import BatchAxis, batch_flat, move_batch_dim, move_batch_dims
from sagax._src.transforms.jvp import jvp_flat, jvp_jaxpr

custom_vmap_p = Primitive(
    "custom_vmap_call",
    family=HIGHER_ORDER,
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)

# Operands: captured values, then arguments. `rule(size, which, *args)`, on flat values mapped along 0 where
# marked in `which`, returns flat outputs and marks.


custom_vmap_p.sets_vma = True


@custom_vmap_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return jaxpr.out_avals


@custom_vmap_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@custom_vmap_p.show
def _(*, jaxpr: ClosedJaxpr, name: str, **_: Any) -> dict:
    return {"name": name, "call": jaxpr}


@custom_vmap_p.reference
def _(*xs: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return eval_jaxpr(jaxpr.jaxpr, (), *xs)


custom_vmap_p.impl = lambda *xs, jaxpr, name, **_: call(jaxpr, xs, name=name)


@custom_vmap_p.lower
def _(b: Any, *xs: Any, jaxpr: ClosedJaxpr, name: str, **_: Any) -> list:
    return b.call(jaxpr.jaxpr, xs, name)


@custom_vmap_p.batch
def _(
    axis: Any,
    args: Sequence,
    in_dims: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    rule: Callable,
    n_consts: int,
    name: str,
) -> tuple:
    captured, arguments = CallOperands.split(in_dims, n_consts)
    if any(d is not None for d in captured):
        raise ArgumentError(
            f"{name} closes over a value that vmap maps, which its rule does not know of",
            function="custom_vmap",
            argument=name,
            fix="pass the value as an argument",
        )
    which = [d is not None for d in arguments]
    outs, marks = rule(axis.size, which, *move_batch_dims(args[n_consts:], arguments))
    return outs, [0 if m else None for m in marks]


@custom_vmap_p.jvp
def _(
    primals: Sequence,
    tangents: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    rule: Callable,
    n_consts: int,
    name: str,
) -> tuple:
    marks = CallOperands.split(nonzero_marks(tangents), n_consts)
    if any(
        marks.captured
    ):  # the rule does not cover captured values: differentiate the function instead
        return jit_p.rule("jvp")(primals, tangents, jaxpr=jaxpr, name=name)
    n_out = len(jaxpr.out_avals)
    wide, _ = jvp_jaxpr(jaxpr, tuple(marks.flat()), True)
    n = len(marks.arguments)
    moving = [i for i, m in enumerate(marks.arguments) if m]

    def pushed_rule(size: Any, which: Sequence[bool], *values: Any) -> tuple[list, list]:
        """Differentiate the rule, at primals and tangents that are mapped together.

        Where no argument is mapped together with its tangent, the rule sees no mapped argument, and its derivative is
        mapped.
        """
        axis = BatchAxis(size)
        together = [which[i] and mapped for i, mapped in zip(moving, which[n:], strict=True)]
        if not any(together):
            dims_in = [0 if mapped else None for mapped in which]
            marked: list[bool] = []
            alone = functools.partial(at_one_example, size, marked)
            values_out, dims_out = batch_flat(alone, axis, values, dims_in)
            if not any(marked):  # else the rule maps outputs although no argument is mapped
                return move_batch_dims(values_out, dims_out), [d is not None for d in dims_out]
        both = list(which[:n])
        for i, mapped in zip(moving, which[n:], strict=True):
            both[i] = both[i] or mapped
        xs = [
            move_batch_dim(x, 0 if w else None, 0 if b else None, axis)
            for x, w, b in zip(values, which, both)
        ]
        ts: list[Any] = [Zero.like(aval_of(x)) for x in xs]
        for i, t, mapped in zip(moving, values[n:], which[n:], strict=True):
            ts[i] = move_batch_dim(t, 0 if mapped else None, 0 if both[i] else None, axis)
        found: list[bool] = []

        def at(*ys: Any) -> list:
            outs, found[:] = rule(size, both, *ys)
            return outs

        outs, out_ts = jvp_flat(at, xs, ts)
        return [*outs, *(instantiate(t) for t in out_ts)], [*found, *found]

    def at_one_example(size: Any, marked: list[bool], *values: Any) -> list:
        """Differentiate the rule at one example; store which outputs it maps."""
        ts: list[Any] = [Zero.like(aval_of(x)) for x in values[:n]]
        for i, t in zip(moving, values[n:], strict=True):
            ts[i] = t

        def at(*xs: Any) -> list:
            outs, marked[:] = rule(size, [False] * n, *xs)
            return outs

        outs, out_ts = jvp_flat(at, values[:n], ts)
        return [*outs, *(instantiate(t) for t in out_ts)]

    given = nonzero_tangents(tangents)
    outs = custom_vmap_p.bind(
        *primals, *given, jaxpr=wide, rule=pushed_rule, n_consts=n_consts, name=name
    )
    return outs[:n_out], outs[n_out:]


@custom_vmap_p.linearize
def _(
    primals: Sequence, tangents: Sequence, *, jaxpr: ClosedJaxpr, name: str, **params: Any
) -> tuple:
    # values by the function with its rule, derivatives by those of its operations
    outs = custom_vmap_p.bind(*primals, jaxpr=jaxpr, name=name, **params)
    _, pushed = jit_p.rule("linearize")(primals, tangents, jaxpr=jaxpr, name=name)
    return outs, pushed


# public ---------------------------------------------------------------------------------------------


class custom_vmap:
    """Attach a custom batching rule for `vmap` to `fun`, set by `def_vmap`.

    Without `vmap` it is `fun`. Reverse mode differentiates `fun`, forward mode `fun` and its rule; for custom
    derivatives wrap it in `custom_vjp` or `custom_jvp`.

    >>> @sagax.custom_batching.custom_vmap
    ... def f(x, y):
    ...     return x + y
    >>> @f.def_vmap
    ... def rule(axis_size, in_batched, xs, ys):
    ...     return xs * ys, True
    >>> sagax.vmap(f)(snp.arange(3), snp.arange(3))
    Array([0, 1, 4], dtype=int32)
    """

    vmap_rule: Callable | None = None

    def __init__(self, fun: Callable) -> None:
        check_function(fun, "the first argument is the function", "custom_vmap", "fun")
        wrapper: Any = self
        copy_attributes(wrapper, fun)
        self.fun = fun

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        function: Any = self
        return self if instance is None else trees.Partial(function, instance)

    def __repr__(self) -> str:
        return f"<custom_vmap function {function_name(self.fun)}>"

    def def_vmap(self, vmap_rule: Callable) -> Callable:
        """Set the rule: `rule(axis_size, in_batched, *args) -> (out, out_batched)`.

        `in_batched` has for each argument a pytree of bools: which leaves are mapped, along their leading axis.
        `out_batched` marks the mapped leaves of `out`, in its structure.
        """
        check_function(vmap_rule, "the rule is a function", "custom_vmap.def_vmap", "vmap_rule")
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = function_name(self.fun)
        if self.vmap_rule is None:
            raise UndefinedRuleError(
                f"No batching rule defined for custom_vmap function {name} using def_vmap.",
                fix=f"set the rule first: {name}.def_vmap(rule)",
            )
        args = tuple(resolve_kwargs(self.fun, args, kwargs))
        leaves, tree = operand_leaves(f"custom_vmap {name}", "args", args)
        avals = [aval_of(x) for x in leaves]
        body = trace_body(self.fun, tree, avals, transform="custom_vmap")
        rule = functools.partial(_run_rule, self.vmap_rule, name, tree, body.out_tree, body.jaxpr)
        outs = custom_vmap_p.bind(
            *body.consts, *leaves, jaxpr=body.jaxpr, rule=rule, n_consts=len(body.consts), name=name
        )
        return body.out_tree.unflatten(outs)


def _run_rule(
    rule: Callable,
    name: str,
    tree: Any,
    out_tree: Any,
    jaxpr: ClosedJaxpr,
    size: Any,
    which: Sequence[bool],
    *values: Any,
) -> tuple[list, list]:
    """Call the user's rule on flat values; return its checked flat outputs and which are mapped."""
    rule_name = function_name(rule)
    of = f"custom_vmap rule {rule_name} of {name}"
    result = apart(rule, size, list(tree.unflatten(which)), *tree.unflatten(values))
    if not (isinstance(result, (tuple, list)) and len(result) == 2):
        raise ArgumentError(
            f"the rule must return a pair (out, out_batched), but it returned {kind_of(result)}",
            function=of,
            argument=rule_name,
            got=kind_of(result),
            expected="a pair: the outputs of all examples, and which of them are mapped",
        )
    outs, have = trees.flatten_argument(of, "out", result[0])
    marks, marks_tree = trees.flatten_argument(of, "out_batched", result[1])
    if have != marks_tree:
        found = trees.structure_mismatch(have, marks_tree, "out", "out_batched")
        raise structure_error(
            of,
            "structure of output value and output batching specification returned by custom vmap rule do not match",
            found,
            "return a bool for each array in out, in the same containers",
            kind=ArgumentValueError,
        )
    if have != out_tree:
        found = trees.structure_mismatch(out_tree, have, name, rule_name)
        raise structure_error(
            of,
            f"the rule must return what {name} returns, for all examples",
            found,
            f"return the containers that {name} returns",
            kind=ArgumentValueError,
        )
    check_results(outs, result[0], "custom_vmap", rule)
    paths = trees.key_paths(result[0])
    for i, (out, mark, expected) in enumerate(zip(outs, marks, jaxpr.out_avals, strict=True)):
        path = trees.argument_path("out", paths[i])
        checks.instance(
            of,
            trees.argument_path("out_batched", paths[i]),
            mark,
            (bool, np.bool_),
            "True or False",
            message="which outputs are mapped must be said by bools",
            show=kind_of,
        )
        aval = aval_of(out)
        if mark and not any(which) and dims.same_shape(aval.shape, expected.shape):
            mark = marks[i] = False  # rules that always return True, although no argument is mapped
        shape = (size, *expected.shape) if mark else expected.shape
        if not dims.same_shape(aval.shape, shape) or aval.dtype != expected.dtype:
            raise ShapeError(
                f"the rule must return what {name} returns, for all examples",
                function=of,
                argument=path,
                expected=expected.update(shape=shape),
                got=aval,
                fix=f"stack the examples along axis 0 and keep the dtype, as {name} does"
                if mark
                else "say that the output is mapped: True in out_batched",
            )
    return outs, [bool(m) for m in marks]


def sequential_vmap(f: Callable) -> custom_vmap:
    """Make `vmap` run `f` sequentially for each example, in a loop.

    >>> f = sagax.custom_batching.sequential_vmap(lambda x: x + 1)
    >>> sagax.vmap(f)(snp.arange(3))
    Array([1, 2, 3], dtype=int32)
    """
    wrapped = custom_vmap(f)

    @wrapped.def_vmap
    def one_by_one(axis_size: Any, in_batched: list, *args: Any) -> tuple:
        leaves, tree = trees.flatten(args)
        marks = trees.flatten(tuple(in_batched))[0]
        out_tree = None

        def step(_: Any, xs: Sequence[Any]) -> tuple:
            nonlocal out_tree
            given = iter(xs)
            values = [next(given) if m else x for x, m in zip(leaves, marks, strict=True)]
            outs, out_tree = trees.flatten(f(*tree.unflatten(values)))
            return (), outs

        mapped = [x for x, m in zip(leaves, marks, strict=True) if m]
        _, outs = traced_scan("sequential_vmap", step, (), mapped, axis_size, same=(object(),))
        out: Any = out_tree
        return out.unflatten(outs), out.unflatten([True] * len(outs))

    return wrapped
