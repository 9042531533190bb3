"""Implement `linear_call` and `custom_transpose`: linear functions with custom transposes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.argument_checks.functions import check_function, kind_of, structure_error
from sagax._src.core import dims, memo_keys
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED
from sagax._src.core.jaxpr import ClosedJaxpr, Var, eval_jaxpr
from sagax._src.core.operands import CallOperands
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import hoist_constants
from sagax._src.core.tangents import (
    Zero,
    linear_marks,
    nonzero_marks,
    nonzero_tangents,
    spread_tangents,
)
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.diagnostics.function_wrappers import copy_attributes
from sagax._src.higher_order.call import call
from sagax._src.higher_order.custom_derivatives import UndefinedRuleError
from sagax._src.higher_order.trace_bodies import operand_leaves, trace_body
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.structural import instantiate
from sagax._src.transforms.batch import batch_jaxpr, move_batch_dim
from sagax._src.transforms.derived import derived
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.transpose import transpose_jaxpr

linear_call_p = Primitive(
    "linear_call",
    family=HIGHER_ORDER,
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)

# Operands: residuals, then linear ones. `jaxpr` maps them all to the outputs; `transposed` maps residuals
# and cotangents of the outputs to cotangents of the linear operands; None: the transpose of `jaxpr`.


linear_call_p.sets_vma = True


@linear_call_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return jaxpr.out_avals


@linear_call_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@linear_call_p.reference
def _(*xs: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return eval_jaxpr(jaxpr.jaxpr, (), *xs)


linear_call_p.impl = lambda *xs, jaxpr, name, **_: call(jaxpr, xs, name=name)


@linear_call_p.lower
def _(b: Any, *xs: Any, jaxpr: ClosedJaxpr, name: str, **_: Any) -> list:
    return b.call(jaxpr.jaxpr, xs, name)


@linear_call_p.jvp
def _(
    primals: Sequence, tangents: Sequence, *, jaxpr: ClosedJaxpr, n_residuals: int, **params: Any
) -> tuple:
    out = linear_call_p.bind(*primals, jaxpr=jaxpr, n_residuals=n_residuals, **params)
    pushed: list[Any] = [Zero.like(a) for a in jaxpr.out_avals]
    of_residuals, of_linear = CallOperands.split(tangents, n_residuals)
    if any(nonzero_marks(of_linear)):
        operands = (*primals[:n_residuals], *map(instantiate, of_linear))
        pushed = linear_call_p.bind(*operands, jaxpr=jaxpr, n_residuals=n_residuals, **params)
    marks = nonzero_marks(of_residuals)
    if any(marks):  # differentiate the function itself with respect to its residuals
        given = nonzero_tangents(of_residuals)
        widened, some = jvp_jaxpr(jaxpr, (*marks, *[False] * len(of_linear)))
        outs = call(widened, [*primals, *given], name=params["name"])[len(out) :]
        more = spread_tangents(outs, some, jaxpr.out_avals)
        pushed = list(map(add_tangents, pushed, more))
    return out, pushed


@linear_call_p.transpose
def _(
    cts: Sequence,
    *args: Any,
    jaxpr: ClosedJaxpr,
    transposed: ClosedJaxpr | None,
    n_residuals: int,
    name: str,
) -> list:
    residuals, linear = CallOperands.split(args, n_residuals)
    if any(linear_marks(residuals)):
        raise ArgumentError(
            f"{name} has a transpose in its linear arguments only",
            function=name,
            argument="residual_args",
            fix="pass what the function is linear in as linear_args",
        )
    turned, marks, back = transposed, (True,) * len(linear), jaxpr
    if turned is not None:  # the user's function, which takes arrays
        given = list(map(instantiate, cts))
    else:  # cotangents that are not reached stay symbolic zeros
        nonzero = nonzero_marks(cts)
        turned, marks = transpose_jaxpr(jaxpr, (*[False] * n_residuals, *marks), nonzero)
        given = nonzero_tangents(cts)
        back = jaxpr if all((*marks, *nonzero, not turned.consts)) else None
    operands = [*turned.consts, *residuals]
    found = linear_call_p.bind(
        *operands,
        *given,
        jaxpr=ClosedJaxpr(hoist_constants(turned.jaxpr), ()),
        transposed=back,
        n_residuals=len(operands),
        name=name,
    )
    cts_linear = spread_tangents(found, marks, jaxpr.in_avals[n_residuals:])
    pulled = [c if lin else None for lin, c in zip(linear_marks(linear), cts_linear, strict=True)]
    return [*[None] * n_residuals, *pulled]


@linear_call_p.batch
def _(
    axis: Any,
    args: Sequence,
    in_dims: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    transposed: ClosedJaxpr | None,
    n_residuals: int,
    name: str,
) -> tuple:
    # all linear operands and all outputs are mapped, so that the two jaxprs stay transposes of each other
    operands = CallOperands.split(args, n_residuals)
    residual_dims, linear_dims = CallOperands.split(in_dims, n_residuals)
    mapped = [
        move_batch_dim(x, d, 0, axis) for x, d in zip(operands.arguments, linear_dims, strict=True)
    ]
    forward, _ = batch_jaxpr(jaxpr, axis, (*residual_dims, *[0] * len(mapped)), True)
    n_out = len(jaxpr.out_avals)
    back = None
    if transposed is not None:
        back, _ = batch_jaxpr(transposed, axis, (*residual_dims, *[0] * n_out), True)
    outs = linear_call_p.bind(
        *operands.captured,
        *mapped,
        jaxpr=forward,
        transposed=back,
        n_residuals=n_residuals,
        name=name,
    )
    return outs, [0] * n_out


# public ---------------------------------------------------------------------------------------------


def linear_call(
    fun: Callable, fun_transpose: Callable, residual_args: Any, linear_args: Any
) -> Any:
    """Apply `fun(residual_args, linear_args)`, linear in its second argument, with a custom transpose.

    `fun_transpose(residual_args, ct)` takes a cotangent of the result and returns one of `linear_args`. Reverse
    mode uses it, and transposing it gives `fun` again. Derivatives with respect to `residual_args` are those of
    `fun`. That `fun` is linear is not checked.

    Raises:
      TypeError: `fun_transpose` does not return the types of `linear_args`; the message names the leaf.

    >>> from sagax.custom_derivatives import linear_call
    >>> half = lambda x: linear_call(lambda r, x: x / r, lambda r, ct: ct / r, 2.0, x)
    >>> float(half(3.0)), float(sagax.grad(half)(3.0))
    (1.5, 0.5)
    """
    for what, f in (("fun", fun), ("fun_transpose", fun_transpose)):
        check_function(f, f"{what} must be a function", "linear_call", what)
    outs, out_tree = _apply("linear_call", fun, fun_transpose, residual_args, linear_args)
    return out_tree.unflatten(outs)


class custom_transpose:
    """Attach a custom transpose to `fun(residual_args, linear_args)`, set by `def_transpose`.

    Call it as `f(residual_args, linear_args)`, or as `f(out_types, residual_args, linear_args)`, where `out_types` has
    an object with a shape and a dtype for each result, which is checked. Reverse mode uses the rule, and transposing
    that gives `fun` again; everything else (`jvp`, `vmap`, `jit`, derivatives with respect to `residual_args`)
    differentiates `fun`. `linear_call` does the same in one call.

    Raises:
      AttributeError: called before the rule was set.
      TypeError: results do not match `linear_args` (of the rule) or `out_types` (of `fun`); names the leaf.

    >>> @sagax.custom_transpose.custom_transpose
    ... def divide(r, x):
    ...     return x / r
    >>> @divide.def_transpose
    ... def divide_back(r, ct):
    ...     return ct / r
    >>> float(divide(2.0, 3.0)), float(sagax.grad(divide, 1)(2.0, 3.0))
    (1.5, 0.5)
    """

    transpose: Callable | None = None

    def __init__(self, fun: Callable) -> None:
        check_function(fun, "the first argument is the function", "custom_transpose", "fun")
        wrapper: Any = self
        copy_attributes(wrapper, fun)
        self.fun = fun

    def __repr__(self) -> str:
        return f"<custom_transpose function {function_name(self.fun)}>"

    def def_transpose(self, transpose: Callable) -> Callable:
        """Set the rule: `transpose(residual_args, ct)` gives a cotangent of `linear_args`, in its structure."""
        where = "custom_transpose.def_transpose"
        check_function(transpose, "the rule is a function", where, "transpose")
        self.transpose = transpose
        return transpose

    def __call__(self, *args: Any) -> Any:
        name = function_name(self.fun)
        if len(args) not in (2, 3):
            raise ArgumentError(
                "a function with a transpose of its own takes its residual arguments and its linear arguments",
                function=f"custom_transpose of {name}",
                got=f"{len(args)} argument" + ("s" if len(args) != 1 else ""),
                expected=f"{name}(residual_args, linear_args) or {name}(out_types, residual_args, linear_args)",
                fix="pass several residual or linear values as one tuple; () where there are no residuals",
            )
        if self.transpose is None:
            raise UndefinedRuleError(
                f"No transpose defined for custom_transpose function {name} using def_transpose.",
                fix=f"set the rule first: {name}.def_transpose(rule)",
            )
        outs, out_tree = _apply("custom_transpose", self.fun, self.transpose, *args[-2:])
        if len(args) == 3:
            _check_out_types(f"custom_transpose of {name}", name, outs, out_tree, args[0])
        return out_tree.unflatten(outs)


def _check_out_types(
    of: str, name: str, outs: Sequence[Any], out_tree: Any, out_types: Any
) -> None:
    """Raise, naming the leaf, unless the results are of the declared types."""
    declared, tree = trees.flatten_argument(of, "out_types", out_types)
    if tree != out_tree:
        found = trees.structure_mismatch(tree, out_tree, "out_types", f"the result of {name}")
        fix = f"give out_types the containers that {name} returns"
        raise structure_error(of, "the result has another structure than out_types", found, fix)
    for out, expected, path in zip(outs, declared, trees.key_paths(out_types), strict=True):
        have = aval_of(out)
        if not (hasattr(expected, "shape") and hasattr(expected, "dtype")):
            raise ArgumentError(
                "out_types holds a shape and a dtype for each result",
                function=of,
                argument=trees.argument_path("out_types", path),
                got=kind_of(expected),
                expected="an array or a sagax.ShapeDtypeStruct",
            )
        if not dims.same_shape(have.shape, tuple(expected.shape)) or have.dtype != expected.dtype:
            raise ArgumentError(
                f"{name} must return what out_types says",
                function=of,
                argument=trees.argument_path(f"the result of {name}", path),
                expected=have.update(shape=tuple(expected.shape), dtype=expected.dtype),
                got=have,
                fix=f"leave out_types out: {name}(residual_args, linear_args)",
            )


def _apply(
    function: str, fun: Callable, fun_transpose: Callable, residual_args: Any, linear_args: Any
) -> tuple[list, Any]:
    """Return the flat results of `fun`, whose transpose is `fun_transpose`, and their structure."""
    residuals, r_tree = operand_leaves(function, "residual_args", residual_args)
    linear, l_tree = operand_leaves(function, "linear_args", linear_args)
    r_avals, l_avals = [aval_of(x) for x in residuals], [aval_of(x) for x in linear]
    both = trees.treedef_tuple((r_tree, l_tree))
    body = trace_body(fun, both, [*r_avals, *l_avals], transform=function)
    out_avals = body.jaxpr.out_avals
    back_tree = trees.treedef_tuple((r_tree, body.out_tree))
    back = trace_body(fun_transpose, back_tree, [*r_avals, *out_avals], transform=function)
    of = f"{function} of {body.name}"
    if back.out_tree != l_tree:
        found = trees.structure_mismatch(
            l_tree, back.out_tree, "linear_args", f"the result of {back.name}"
        )
        raise structure_error(
            of,
            "transpose output pytree structure must match that of linear inputs",
            found,
            f"return from {back.name} a cotangent for each array in linear_args",
        )
    for expected, have, path in zip(
        l_avals, back.jaxpr.out_avals, trees.key_paths(linear_args), strict=True
    ):
        if have.dtype != expected.dtype or not dims.same_shape(have.shape, expected.shape):
            raise ArgumentError(
                f"{back.name} must return cotangents of the types of linear_args",
                function=of,
                argument=f"the cotangent of {trees.argument_path('linear_args', path)}",
                expected=expected,
                got=have,
                fix="return the transpose: a cotangent of the shape and dtype of linear_args",
            )
    # values captured by either function become residuals of both
    n_body, n_back = len(body.consts), len(back.consts)
    jaxpr = _with_inputs(body.jaxpr, n_body, back.jaxpr.in_avals[:n_back])
    transposed = _with_inputs(back.jaxpr, 0, body.jaxpr.in_avals[:n_body])
    operands = [*body.consts, *back.consts, *residuals]
    outs = linear_call_p.bind(
        *operands,
        *linear,
        jaxpr=jaxpr,
        transposed=transposed,
        n_residuals=len(operands),
        name=body.name,
    )
    return outs, body.out_tree


def _with_inputs(closed: ClosedJaxpr, at: int, avals: Sequence[Any]) -> ClosedJaxpr:
    """Return the same jaxpr with additional unused inputs from index `at` on."""
    if not avals:
        return closed
    inner = closed.jaxpr

    def wider() -> Any:
        invars = [*inner.invars[:at], *(Var(a) for a in avals), *inner.invars[at:]]
        return inner.replace(invars=invars)

    return ClosedJaxpr(derived(inner, (memo_keys.MORE_INPUTS, at, *avals), wider), closed.consts)
