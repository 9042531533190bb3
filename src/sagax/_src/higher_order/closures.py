"""Implement `closure_convert` and `custom_gradient`: turn captured values into arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.argument_checks.functions import check_function, kind_of, structure_error
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import eval_jaxpr
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order import accumulators, backward_logs
from sagax._src.higher_order.custom_derivatives import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp,
    custom_vjp_primal_tree_values,
)
from sagax._src.higher_order.trace_bodies import Body, operand_leaves, trace_body
from sagax._src.primitives.structural import zeros_of

_NO_FUNCTION = "the first argument is the function"


class UnsupportedOptionError(ArgumentError, NotImplementedError):
    """An option of jax that sagax does not support."""


# closure_convert ------------------------------------------------------------------------------------


class Converted:
    """A traced function of its arguments and of its captured values."""

    __slots__ = ("__name__", "_constants", "_count", "_jaxpr", "_moved", "_out_tree", "_tree")

    def __init__(self, body: Body, tree: Any, moved: Sequence[int]) -> None:
        # not the body itself, whose constants are values of the trace
        self._jaxpr = body.jaxpr.jaxpr
        self._out_tree = body.out_tree
        self._count = len(body.consts)
        self._tree = tree
        self._moved = tuple(moved)  # the captured values that became arguments
        self._constants = {i: c for i, c in enumerate(body.consts) if i not in self._moved}
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
        consts = [given.get(i, self._constants.get(i)) for i in range(self._count)]
        outs = eval_jaxpr(self._jaxpr, (), *consts, *leaves)
        return self._out_tree.unflatten(outs)


def closure_convert(fun: Callable, *example_args: Any) -> tuple[Callable, list]:
    """Convert `fun` to a function that captures no differentiated values, and return these values too.

    Use it in a function with a custom derivative rule that takes another function. The captured values of `fun` that
    have derivatives become arguments, for which the rule can define derivatives.

    Args:
      example_args: arguments of the types with which the result will be called.

    Returns:
      (converted, values): `converted(*args, *values)` is `fun(*args)`. `values` are the floating point or
      complex traced values; others stay captured.

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
    """Define a function and its reverse-mode rule together: `fun` returns its value and the rule.

    `fun(*args) -> (value, rule)`; `rule(ct)` takes a cotangent of the value and returns a tuple with a cotangent
    for each argument (for a single argument also the cotangent itself). The rule may capture intermediate
    values of `fun`.

    Args:
      with_logs: the rule returns (cotangents, logs), a dict of values to log; see `custom_vjp.defvjp_with_logs`.
      remat: `fun` returns (value, rem) instead, and `rem(*args)` the value and the rule. Under `checkpoint`, `rem`
        runs in the backward pass, and what it captures is saved; see `custom_vjp.defremat`.
      with_accums: `ValAccum` or `RefAccum`, or a pytree of these that is a prefix of the arguments. The rule is
        then called as `rule(ct, *accums)`, and adds cotangents to accumulators of these kinds; arguments that are
        not differentiated get a `NullAccum`. See `custom_vjp.defvjp_with_accums`.

    Raises:
      TypeError: `fun` returns no such pair, or the rule no cotangents of the arguments; names the leaf.
      NotImplementedError: `remat` and `with_accums` together.

    >>> @sagax.custom_gradient
    ... def f(x):
    ...     return x ** 2, lambda ct: (ct * x,)
    >>> float(f(3.0)), float(sagax.grad(f)(3.0))
    (9.0, 3.0)
    """
    if remat and with_accums is not None:
        raise UnsupportedOptionError(
            "custom_gradient with both remat and with_accums is not supported",
            function="custom_gradient",
            argument="with_accums",
            got=repr(with_accums),
            fix="write the rules with sagax.custom_vjp: defremat",
        )
    if fun is None:
        return functools.partial(
            custom_gradient, with_logs=with_logs, remat=remat, with_accums=with_accums
        )
    user = fun
    check_function(user, _NO_FUNCTION, "custom_gradient", "fun")
    name = function_name(user)

    @wraps(user)
    def value(*args: Any) -> Any:
        return _pair(user(*args), name, remat)[0]

    wrapped: Any = custom_vjp(value)
    if remat:
        define = wrapped.defremat_with_logs if with_logs else wrapped.defremat
        define(*_remat_rules(user, name, with_logs))
    elif with_accums is not None:
        wrapped.defvjp(*_accumulating_rules(user, name, with_accums), symbolic_zeros=True)
    else:
        define = wrapped.defvjp_with_logs if with_logs else wrapped.defvjp

        def forward(*args: Any) -> tuple[Any, Any]:
            out, rule = _pair(user(*args), name)
            return out, _traced_rule(rule, out, name, len(args), with_logs)

        define(forward, lambda rule, ct: rule(ct))
    return wrapped


def _pair(result: Any, name: str, remat: bool = False) -> tuple[Any, Callable]:
    """Check what a function of `custom_gradient` returns."""
    if not (isinstance(result, (tuple, list)) and len(result) == 2 and callable(result[1])):
        raise ArgumentError(
            f"{name} must return a pair: its value, and a function from "
            + ("its arguments to the value and the rule" if remat else _RULE),
            function="custom_gradient",
            argument=name,
            got=kind_of(result),
            expected="(value, rem)" if remat else "(value, rule)",
        )
    return result[0], result[1]


_RULE = "a cotangent of the value to the cotangents of its arguments"


def _traced_rule(rule: Callable, out: Any, name: str, n_arguments: int, with_logs: bool) -> Any:
    """Trace a rule on a cotangent of `out`; the result is a pytree of the values that it captures."""
    leaves, tree = trees.flatten_argument(name, "value", out)
    cts = [aval_of(x).to_tangent_aval() for x in leaves]
    body = trace_body(rule, trees.treedef_tuple((tree,)), cts, transform="custom_gradient")
    return trees.Partial(_Rule(body, n_arguments, with_logs), *body.consts)


def _remat_rules(user: Callable, name: str, with_logs: bool) -> tuple[Callable, ...]:
    """Return the rules fwd, rem and bwd of `custom_vjp.defremat`."""

    def forward(*args: Any) -> tuple[Any, Any]:
        out, rem = _pair(user(*args), name, remat=True)

        def rules(*args: Any) -> tuple[Any, Any]:
            out, rule = _pair(rem(*args), function_name(rem))
            return out, _traced_rule(rule, out, name, len(args), with_logs)

        leaves, tree = trees.flatten_argument(name, "arguments", args)
        avals = [aval_of(x) for x in leaves]
        body = trace_body(rules, tree, avals, transform="custom_gradient")
        return out, trees.Partial(_Traced(body), *body.consts)

    return forward, lambda rem, *args: rem(*args), lambda rule, ct: rule(ct)


def _accumulating_rules(user: Callable, name: str, kinds: Any) -> tuple[Callable, Callable]:
    """Return the rules fwd and bwd of a function whose rule adds to accumulators of these kinds."""

    def forward(*primals: Any) -> tuple[Any, Any]:
        args = custom_vjp_primal_tree_values(primals)
        out, rule = _pair(user(*args), name)
        avals = trees.map(aval_of, args)
        marks = trees.map(
            lambda p: p.perturbed, primals, is_leaf=lambda x: isinstance(x, CustomVJPPrimal)
        )

        @wraps(rule)
        def collect(ct: Any) -> tuple[Any, Any]:
            accums = accumulators.accumulators(avals, marks, kinds)
            logs = rule(ct, *accums)
            return tuple(map(accumulators.sums, accums)), logs

        return out, _traced_rule(collect, out, name, len(args), True)

    def backward(rule: Callable, ct: Any) -> Any:
        zeros = trees.map(
            lambda c: zeros_of(c.aval) if isinstance(c, SymbolicZero) else c,
            ct,
            is_leaf=lambda c: isinstance(c, SymbolicZero),
        )
        return backward_logs.split(rule(zeros), name)

    return forward, backward


class _Traced:
    """A traced function of its captured values and its arguments."""

    __slots__ = ("__name__", "body")

    def __init__(self, body: Body) -> None:
        self.body = body
        self.__name__ = body.name

    def __call__(self, *values: Any) -> Any:
        n = len(self.body.consts)
        leaves = trees.flatten(values[n:])[0]
        outs = eval_jaxpr(self.body.jaxpr.jaxpr, (), *values[:n], *leaves)
        return self.body.out_tree.unflatten(outs)


class _Rule:
    """A traced rule of custom_gradient, as a function of its captured values and the cotangent."""

    __slots__ = ("__name__", "body", "n_arguments", "with_logs")

    def __init__(self, body: Body, n_arguments: int, with_logs: bool) -> None:
        self.with_logs = with_logs
        self.body = body
        self.n_arguments = n_arguments
        self.__name__ = body.name

    def __call__(self, *values: Any) -> Any:
        leaves = trees.flatten(values[-1])[0]
        outs = eval_jaxpr(self.body.jaxpr.jaxpr, (), *values[:-1], *leaves)
        found = self.body.out_tree.unflatten(outs)
        if self.with_logs or isinstance(found, tuple) or self.n_arguments != 1:
            return found
        return (found,)
