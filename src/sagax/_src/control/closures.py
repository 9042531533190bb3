"""Functions turned inside out for derivative rules: closure_convert, custom_gradient, linear_call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.control.bodies import Body, operand_leaves, trace_body
from sagax._src.control.call import call
from sagax._src.control.custom_derivatives import custom_vjp
from sagax._src.control.words import check_function, kind_of, structure_error
from sagax._src.core import dims, dtypes
from sagax._src.core.jaxpr import ClosedJaxpr, Var, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.structural import instantiate
from sagax._src.transforms.batch import batch_jaxpr, place
from sagax._src.transforms.derived import derived
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.transpose import transposed_from

_NO_FUNCTION = "the first argument is the function"


class UnsupportedOptionError(ArgumentError, NotImplementedError):
    """An option that sagax knows but does not support."""


# closure_convert ------------------------------------------------------------------------------------


class Converted:
    """A traced function of its arguments and of the values that it closed over."""

    __slots__ = ("__name__", "_body", "_kept", "_moved", "_tree")

    def __init__(self, body: Body, tree: Any, moved: Sequence[int]) -> None:
        self._body = body
        self._tree = tree
        self._moved = tuple(moved)  # which captured values come as arguments
        self._kept = {i: c for i, c in enumerate(body.consts) if i not in self._moved}
        self.__name__ = body.name

    def __call__(self, *args: Any) -> Any:
        n = len(args) - len(self._moved)
        leaves, tree = trees.flatten_argument(self.__name__, "arguments", args[: max(n, 0)])
        if tree != self._tree:
            found = trees.structure_mismatch(self._tree, tree, "the example", "the arguments")
            raise structure_error(
                f"the converted {self.__name__}",
                "the arguments have another structure than the example that it was converted with",
                found,
                f"pass arguments like the example, then the {len(self._moved)} values it closed over",
            )
        given = dict(zip(self._moved, args[n:], strict=True))
        consts = [given.get(i, self._kept.get(i)) for i in range(len(self._body.consts))]
        outs = eval_jaxpr(self._body.jaxpr.jaxpr, (), *consts, *leaves)
        return self._body.out_tree.unflatten(outs)


def closure_convert(fun: Callable, *example_args: Any) -> tuple[Callable, list]:
    """`fun` as a function that closes over nothing that is differentiated, and the values it closed over.

    For a function with a derivative rule of its own that takes another function: the values that `fun` refers to
    and that have derivatives become arguments, so that the rule can say what their derivatives are.

    Args:
      example_args: arguments of the types with which the result will be called.

    Returns:
      (converted, values): `converted(*args, *values)` is `fun(*args)`. `values` are floating point or complex
      traced values; others stay closed over.

    >>> import sagax, sagax.numpy as np
    >>> def slope(y):
    ...     converted, values = sagax.closure_convert(lambda x: x * y, 1.0)
    ...     return converted(2.0, *values)
    >>> float(sagax.grad(slope)(3.0))
    2.0
    """
    check_function(fun, _NO_FUNCTION, "closure_convert", "fun")
    leaves, tree = operand_leaves("closure_convert", "example_args", example_args)
    body = trace_body(fun, tree, [aval_of(x) for x in leaves], transform="closure_convert")
    moved = [
        i
        for i, c in enumerate(body.consts)
        if isinstance(c, Tracer) and dtypes.is_inexact(c.aval.dtype)
    ]
    return Converted(body, tree, moved), [body.consts[i] for i in moved]


# custom_gradient ------------------------------------------------------------------------------------


def custom_gradient(
    fun: Callable | None = None,
    *,
    with_logs: bool = False,
    remat: bool = False,
    with_accums: Any = None,
) -> Callable:
    """The function that `fun` computes, with the reverse-mode rule that `fun` returns beside its value.

    `fun(*args) -> (value, rule)`; `rule(ct)` takes a cotangent of the value and returns a tuple with a cotangent
    for each argument (of a single argument also the cotangent itself). The rule may refer to everything that
    `fun` computed.

    Args:
      with_logs, remat, with_accums: not supported; `custom_vjp` and `checkpoint` have what they are for.

    Raises:
      TypeError: `fun` returns no such pair, or the rule no cotangents of the arguments; names the leaf.

    >>> import sagax
    >>> @sagax.custom_gradient
    ... def f(x):
    ...     return x ** 2, lambda ct: (ct * x,)
    >>> float(f(3.0)), float(sagax.grad(f)(3.0))
    (9.0, 3.0)
    """
    options = {"with_logs": with_logs, "remat": remat, "with_accums": with_accums}
    for option, given in options.items():
        if given:
            raise UnsupportedOptionError(
                f"custom_gradient with {option} is not supported",
                function="custom_gradient",
                argument=option,
                got=repr(given),
                fix="write the rule with sagax.custom_vjp; logs can be returned as cotangents of an extra argument",
            )
    if fun is None:
        return custom_gradient
    user = fun
    check_function(user, _NO_FUNCTION, "custom_gradient", "fun")
    name = function_name(user)

    def pair(*args: Any) -> tuple[Any, Callable]:
        result = user(*args)
        if not (isinstance(result, (tuple, list)) and len(result) == 2 and callable(result[1])):
            raise ArgumentError(
                f"{name} must return a pair: its value, and a function from a cotangent of the value to the "
                "cotangents of its arguments",
                function="custom_gradient",
                argument=name,
                got=kind_of(result),
                expected="(value, rule)",
            )
        return result[0], result[1]

    @functools.wraps(user, updated=())
    def value(*args: Any) -> Any:
        return pair(*args)[0]

    def forward(*args: Any) -> tuple[Any, Any]:
        out, rule = pair(*args)
        leaves, tree = trees.flatten_argument(name, "value", out)
        cts = [aval_of(x).to_tangent_aval() for x in leaves]
        body = trace_body(rule, trees.treedef_tuple((tree,)), cts, transform="custom_gradient")
        return out, trees.Partial(_Rule(body, len(args)), *body.consts)

    wrapped: Any = custom_vjp(value)
    wrapped.defvjp(forward, lambda rule, ct: rule(ct))
    return wrapped


class _Rule:
    """A traced rule of custom_gradient, as a function of what it captured and the cotangent."""

    __slots__ = ("__name__", "body", "n_arguments")

    def __init__(self, body: Body, n_arguments: int) -> None:
        self.body = body
        self.n_arguments = n_arguments
        self.__name__ = body.name

    def __call__(self, *values: Any) -> Any:
        leaves = trees.flatten(values[-1])[0]
        outs = eval_jaxpr(self.body.jaxpr.jaxpr, (), *values[:-1], *leaves)
        found = self.body.out_tree.unflatten(outs)
        return found if isinstance(found, tuple) or self.n_arguments != 1 else (found,)


# linear_call ----------------------------------------------------------------------------------------

linear_call_p = Primitive("linear_call", multiple_results=True, holds_program=True)

# Operands: residuals, then linear ones. `jaxpr` takes them all and gives the outputs; `transposed` takes residuals
# and cotangents of the outputs and gives cotangents of the linear operands; None: the transpose of `jaxpr`.


linear_call_p.tells_vma = True


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
    linear = tangents[n_residuals:]
    if any(type(t) is not Zero for t in linear):
        given = [instantiate(t) for t in linear]
        operands = (*primals[:n_residuals], *given)
        pushed = linear_call_p.bind(*operands, jaxpr=jaxpr, n_residuals=n_residuals, **params)
    marks = tuple(type(t) is not Zero for t in tangents[:n_residuals])
    if any(marks):  # the function itself says how it depends on what it is not linear in
        given = [t for t in tangents[:n_residuals] if type(t) is not Zero]
        widened, some = jvp_jaxpr(jaxpr, (*marks, *((False,) * len(linear))))
        outs = iter(call(widened, [*primals, *given], name=params["name"])[len(out) :])
        pushed = [
            add_tangents(p, next(outs)) if m else p for p, m in zip(pushed, some, strict=True)
        ]
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
    residuals = args[:n_residuals]
    if any(type(r) is Linear for r in residuals):
        raise ArgumentError(
            "only the linear arguments of linear_call can be transposed",
            function=f"linear_call of {name}",
            argument="residual_args",
            fix="pass what the function is linear in as linear_args",
        )
    given = [instantiate(c) for c in cts]
    if transposed is None:
        transposed = transposed_from(jaxpr, n_residuals)
    found = linear_call_p.bind(
        *residuals, *given, jaxpr=transposed, transposed=jaxpr, n_residuals=n_residuals, name=name
    )
    linear = args[n_residuals:]
    pulled = [c if type(a) is Linear else None for a, c in zip(linear, found, strict=True)]
    return [*((None,) * n_residuals), *pulled]


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
    # all linear operands and all outputs are mapped, so that the two programs stay transposes of one another
    residual_dims = tuple(in_dims[:n_residuals])
    linear = args[n_residuals:]
    mapped = [place(x, d, 0, axis) for x, d in zip(linear, in_dims[n_residuals:], strict=True)]
    forward, _ = batch_jaxpr(jaxpr, axis, (*residual_dims, *((0,) * len(linear))), True)
    n_out = len(jaxpr.out_avals)
    back = None
    if transposed is not None:
        back, _ = batch_jaxpr(transposed, axis, (*residual_dims, *((0,) * n_out)), True)
    outs = linear_call_p.bind(
        *args[:n_residuals],
        *mapped,
        jaxpr=forward,
        transposed=back,
        n_residuals=n_residuals,
        name=name,
    )
    return outs, [0] * n_out


def linear_call(
    fun: Callable, fun_transpose: Callable, residual_args: Any, linear_args: Any
) -> Any:
    """`fun(residual_args, linear_args)`, a function linear in its second argument, with its transpose given.

    `fun_transpose(residual_args, ct)` takes a cotangent of the result and returns one of `linear_args`. Reverse
    mode uses it, and transposing it gives `fun` again. Derivatives with respect to `residual_args` are those of
    `fun`.

    Raises:
      TypeError: `fun_transpose` does not return what `linear_args` is; the message names the leaf.

    >>> import sagax
    >>> from sagax.custom_derivatives import linear_call
    >>> half = lambda x: linear_call(lambda r, x: x / r, lambda r, ct: ct / r, 2.0, x)
    >>> float(half(3.0)), float(sagax.grad(half)(3.0))
    (1.5, 0.5)
    """
    for what, f in (("fun", fun), ("fun_transpose", fun_transpose)):
        check_function(f, f"{what} must be a function", "linear_call", what)
    residuals, r_tree = operand_leaves("linear_call", "residual_args", residual_args)
    linear, l_tree = operand_leaves("linear_call", "linear_args", linear_args)
    r_avals, l_avals = [aval_of(x) for x in residuals], [aval_of(x) for x in linear]
    both = trees.treedef_tuple((r_tree, l_tree))
    body = trace_body(fun, both, [*r_avals, *l_avals], transform="linear_call")
    out_avals = body.jaxpr.out_avals
    back_tree = trees.treedef_tuple((r_tree, body.out_tree))
    back = trace_body(fun_transpose, back_tree, [*r_avals, *out_avals], transform="linear_call")
    of = f"linear_call of {body.name}"
    if back.out_tree != l_tree:
        found = trees.structure_mismatch(
            l_tree, back.out_tree, "linear_args", f"the result of {back.name}"
        )
        raise structure_error(
            of,
            "transpose output pytree structure must match that of linear inputs",
            found,
            "return from fun_transpose a cotangent for each array in linear_args",
        )
    for want, have, path in zip(
        l_avals, back.jaxpr.out_avals, trees.key_paths(linear_args), strict=True
    ):
        if have.dtype != want.dtype or not dims.same_shape(have.shape, want.shape):
            raise ArgumentError(
                f"{back.name} must return cotangents of the types of linear_args",
                function=of,
                argument=f"the cotangent of {trees.argument_path('linear_args', path)}",
                expected=want,
                got=have,
                fix="return the transpose: a cotangent of the shape and dtype of linear_args",
            )
    # what either function captured comes as residuals of both
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
    return body.out_tree.unflatten(outs)


def _with_inputs(closed: ClosedJaxpr, at: int, avals: Sequence[Any]) -> ClosedJaxpr:
    """The same program with further inputs, which it does not read, from place `at` on."""
    if not avals:
        return closed
    inner = closed.jaxpr

    def wider() -> Any:
        invars = [*inner.invars[:at], *(Var(a) for a in avals), *inner.invars[at:]]
        return inner.replace(invars=invars)

    return ClosedJaxpr(derived(inner, ("more inputs", at, *avals), wider), closed.consts)
