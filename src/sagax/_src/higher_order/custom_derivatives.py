"""Implement `custom_jvp` and `custom_vjp`: functions with custom derivative rules."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import positional_names, signature
from sagax._src.argument_checks.functions import (
    check_results,
    kind_of,
    structure_error,
    unusable_leaf,
)
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import same_type
from sagax._src.core.tangents import Zero
from sagax._src.core.value import aval_of, is_argument, is_operand, sockets
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.diagnostics.function_wrappers import copy_attributes, wraps
from sagax._src.higher_order import backward_logs
from sagax._src.higher_order.custom_derivative_primitives import (
    FlatFunction,
    FunctionKey,
    JvpRules,
    StageableFunction,
    VjpRules,
    bind_closed,
    custom_jvp_p,
    custom_vjp_p,
)
from sagax._src.higher_order.float0_leaves import (
    hidden_in_structure,
    is_no_tangent,
    without_no_tangents,
)
from sagax._src.higher_order.saved_residuals import in_checkpoint, saved
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.makers import add_any_p
from sagax._src.primitives.structural import convert, instantiate, zeros_of

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import accumulators


class SymbolicZero:
    """A symbolic zero tangent or cotangent, for rules that request symbolic zeros."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.str_short(short_dtypes=True)})"


class CustomVJPPrimal:
    """A leaf of the arguments of a forward rule with symbolic zeros: its value, and whether it is differentiated."""

    __slots__ = ("perturbed", "value")

    def __init__(self, value: Any, perturbed: bool) -> None:
        self.value = value
        self.perturbed = perturbed


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """Convert the arguments of a forward rule with symbolic zeros to plain arguments.

    >>> from sagax.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values
    >>> custom_vjp_primal_tree_values({"x": CustomVJPPrimal(3.0, True)})
    {'x': 3.0}
    """
    return trees.map(
        lambda leaf: leaf.value, tree, is_leaf=lambda x: isinstance(x, CustomVJPPrimal)
    )


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """Return the zero tangent of `val`, an array or a pytree of them: arrays, or a `SymbolicZero` each.

    >>> from sagax.custom_derivatives import zero_from_primal
    >>> zero_from_primal(1.5)
    Array(0., dtype=float32, weak_type=True)
    """

    def zero(x: Any) -> Any:
        aval = aval_of(x).to_tangent_aval()
        return SymbolicZero(aval) if symbolic_zeros else instantiate(Zero(aval))

    return trees.tree_map(zero, val)


class UndefinedRuleError(SagaxError, AttributeError):
    """A function with custom derivatives was called before its rules were defined."""


class _Custom:
    """Base class: holds the function and its nondifferentiable arguments, and binds as a method."""

    def __init__(
        self,
        fun: Callable,
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        self._check_function(fun, "fun")
        wrapper: Any = self
        copy_attributes(wrapper, fun)
        self.fun = fun
        self.nondiff_argnums = (
            *checks.positions(type(self).__name__, "nondiff_argnums", nondiff_argnums, repr),
            *self._named(nondiff_argnames),
        )

    def _check_function(self, f: Any, argument: str) -> None:
        checks.callable(type(self).__name__, argument, f, show=kind_of)

    def _named(self, names: Any) -> tuple[int, ...]:
        if not names:
            return ()
        known = arguments_of(self.fun)
        names = (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            checks.one_of(
                type(self).__name__,
                "nondiff_argnames",
                name,
                known,
                f"names of positional parameters of {self.name}: {', '.join(known)}",
                show=repr,
            )
        return tuple(known.index(name) for name in names)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        function: Any = self
        return self if instance is None else trees.Partial(function, instance)

    @property
    def name(self) -> str:
        return function_name(self.fun)

    def _paths(self, dynamic: Sequence[Any], positions: Sequence[int]) -> list[str]:
        """Return the user's names of the leaves of the differentiable arguments."""
        names = positional_names(self.fun, max(positions, default=-1) + 1)
        return [
            trees.argument_path(names[k], p)
            for k, x in zip(positions, dynamic, strict=True)
            for p in trees.key_paths(x)
        ]

    def _check(
        self, leaves: Sequence[Any], dynamic: Sequence[Any], positions: Sequence[int]
    ) -> None:
        for i, x in enumerate(leaves):
            if not is_argument(x):
                raise unusable_leaf(
                    x,
                    f"{type(self).__name__} {self.name}",
                    self._paths(dynamic, positions)[i],
                    "mark the argument as not differentiated: nondiff_argnums",
                )

    def _function_key(
        self, tree: Any, fixed: list, positions: list[int], cell: list
    ) -> FunctionKey:
        """Return the identity of the flat function for arguments of this structure."""
        return FunctionKey((self.fun, *fixed), (type(self).__name__, tree, tuple(positions)), cell)

    def _split(self, args: tuple, kwargs: dict) -> tuple[list, list, list[int]]:
        """Return the differentiable arguments, the others, and the positions of the former."""
        bound = resolve_kwargs(self.fun, args, kwargs)
        n = len(bound)
        for k in self.nondiff_argnums:
            if not -n <= k < n:
                raise ArgumentValueError(
                    function=type(self).__name__,
                    argument="nondiff_argnums",
                    got=k,
                    expected=f"a position from {-n} to {n - 1}: {self.name} was called with {n} argument"
                    + ("s" if n != 1 else ""),
                )
        fixed = {k % n for k in self.nondiff_argnums}
        dynamic = [i for i in range(len(bound)) if i not in fixed]
        return [bound[i] for i in dynamic], [bound[i] for i in sorted(fixed)], dynamic


def arguments_of(fun: Callable) -> list[str]:
    """Return the names of the positional parameters."""
    sig = signature(fun)
    if sig is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in sig.parameters.values() if p.kind in kinds]


def resolve_kwargs(fun: Callable, args: tuple, kwargs: dict) -> list:
    """Return all arguments by position, keywords and defaults included."""
    if not kwargs and type(fun) is FunctionType and not fun.__defaults__:
        return list(args)
    sig = signature(fun)
    if sig is None:
        return list(args)
    try:
        bound = sig.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(
            str(error),
            function=function_name(fun),
            got=f"{len(args)} positional arguments"
            + (f" and the keywords {', '.join(kwargs)}" if kwargs else ""),
            expected=f"arguments for {function_name(fun)}{sig}",
        ) from None
    bound.apply_defaults()
    if bound.kwargs:
        raise ArgumentError(
            f"keyword arguments could not be resolved to positions: {', '.join(bound.kwargs)}",
            function=function_name(fun),
            fix="functions with custom derivative rules take positional arguments",
        )
    return list(bound.args)


class custom_jvp(_Custom):
    """Attach a custom derivative rule to `fun`, set by `defjvp` or `defjvps`.

    Args:
      nondiff_argnums: arguments that are not differentiated; the rule gets them first.

    >>> @sagax.custom_jvp
    ... def f(x):
    ...     return x ** 2
    >>> f.defjvps(lambda t, ans, x: 10 * t)
    >>> float(sagax.grad(f)(3.0))
    10.0
    """

    jvp: Callable | None = None
    symbolic_zeros = False

    def defjvp(self, jvp: Callable, symbolic_zeros: bool = False) -> Callable:
        """Set the rule: `jvp(primals, tangents) -> (out, tangent out)`; tuples with an entry an argument."""
        self._check_function(jvp, "jvp")
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Set a rule for each argument: `jvp_i(tangent_i, out, *primals)`, or None without one."""
        if self.nondiff_argnums:
            raise ArgumentError(
                "Can't use ``defjvps`` with ``nondiff_argnums``.",
                function="custom_jvp.defjvps",
                fix="set one rule for all arguments with defjvp",
            )

        def jvp(primals: tuple, tangents: tuple) -> tuple:
            if len(jvps) != len(tangents):
                raise ArgumentValueError(
                    "there must be a rule, or None, for each argument",
                    function="custom_jvp.defjvps",
                    argument="jvps",
                    got=f"{len(jvps)} rules",
                    expected=f"{len(tangents)}: the number of arguments that {self.name} was called with",
                )
            out = self(*primals)
            total = None
            for t, rule in zip(tangents, jvps, strict=True):
                if rule is None:
                    continue
                part = rule(t, out, *primals)
                total = part if total is None else trees.map(add_any, total, part)
            if total is None:
                total = trees.map(lambda o: zeros_of(aval_of(o).to_tangent_aval()), out)
            return out, total

        self.defjvp(jvp)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise UndefinedRuleError(
                f"No JVP defined for custom_jvp function {self.name} using defjvp.",
                fix=f"set the rule first: {self.name}.defjvp(rule)",
            )
        dynamic, fixed, positions = self._split(args, kwargs)
        leaves, tree = without_no_tangents(*trees.flatten_argument(self.name, "arguments", dynamic))
        self._check(leaves, dynamic, positions)
        cell: list[Any] = []

        def flat(*xs: Any) -> list:
            out, cell[:] = _call_flat(
                self.fun, tree, xs, fixed, positions, f"{type(self).__name__} {self.name}"
            )
            return out

        def jvp(primals: Sequence, tangents: Sequence) -> tuple[list, list]:
            return self._rule(tree, fixed, cell, primals, tangents)

        rules = JvpRules(FlatFunction(jvp, self.jvp, fixed), self.symbolic_zeros)
        function_key = self._function_key(tree, fixed, positions, cell)
        inner = StageableFunction(
            FlatFunction(flat, self.fun, fixed), self.name, function_key=function_key
        )
        outs = bind_closed(custom_jvp_p, leaves, inner, rules)
        return cell[0].unflatten(outs)

    def _rule(
        self, tree: Any, fixed: list, cell: list, primals: Sequence, tangents: Sequence
    ) -> tuple[list, list]:
        if self.symbolic_zeros:
            given = [SymbolicZero(t.aval) if type(t) is Zero else t for t in tangents]
        else:
            given = [instantiate(t) for t in tangents]
        rule_name = function_name(self.jvp)
        pair = self.jvp(*fixed, tuple(tree.unflatten(primals)), tuple(tree.unflatten(given)))  # type: ignore[misc]
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise ArgumentError(
                f"Custom JVP rule {rule_name} for function {self.name} must produce a pair (list or tuple of length two) representing "
                f"primal and tangent outputs, but got {kind_of(pair)}",
                function="custom_jvp",
                argument=rule_name,
                got=kind_of(pair),
                fix="return (output, tangent of the output)",
            )
        outs, out_tree = trees.flatten_argument(rule_name, "primal output", pair[0])
        out_tangents, tangent_tree = trees.flatten_argument(rule_name, "tangent output", pair[1])
        if out_tree != tangent_tree:
            found = trees.structure_mismatch(
                out_tree, tangent_tree, "the primal output", "the tangent output"
            )
            raise structure_error(
                "custom_jvp",
                f"Custom JVP rule {rule_name} for function {self.name} must produce primal and tangent outputs with equal "
                "container (pytree) structures",
                found,
                "return a tangent for each array in the output; zeros where there is none",
            )
        check_results(outs, pair[0], "custom_jvp", self.jvp)
        paths = [trees.argument_path("output", p) for p in trees.key_paths(pair[0])]
        tangents_out = []
        for o, t, path in zip(outs, out_tangents, paths, strict=True):
            expected = aval_of(o).to_tangent_aval()
            if isinstance(t, SymbolicZero) or expected.dtype == dtypes.float0:
                tangents_out.append(Zero(expected))
                continue
            if not is_operand(t):
                raise unusable_leaf(t, f"custom_jvp rule {rule_name}", f"the tangent of {path}")
            if not same_type(aval_of(t), expected):
                raise ArgumentError(
                    f"Custom JVP rule {rule_name} for function {self.name} must produce primal and tangent outputs with corresponding "
                    "shapes and dtypes",
                    function="custom_jvp",
                    argument=f"the tangent of {path}",
                    expected=expected,
                    got=aval_of(t),
                    fix="convert the tangent to the dtype and shape of the output",
                )
            tangents_out.append(t)
        cell[:] = [out_tree]
        return outs, tangents_out


def _call_flat(
    fun: Callable, tree: Any, xs: Sequence, fixed: list, positions: list[int], name: str
) -> tuple[list, list]:
    """Call with flat differentiable arguments; return flat outputs and [their structure]."""
    dynamic = tree.unflatten(xs)
    total = len(dynamic) + len(fixed)
    args: list[Any] = [None] * total
    rest = iter(fixed)
    by_position = dict(zip(positions, dynamic, strict=True))
    for i in range(total):
        args[i] = by_position[i] if i in by_position else next(rest)
    result = fun(*args)
    outs, out_tree = without_no_tangents(*trees.flatten_argument(name, "result", result))
    check_results(outs, result, name, fun)
    return outs, [out_tree]


class custom_vjp(_Custom):
    """Attach a custom reverse-mode rule to `fun`, set by `defvjp(fwd, bwd)`.

    `fwd(*args) -> (out, residuals)` runs in place of `fun` under differentiation; `bwd(residuals, ct)` returns a
    tuple with a cotangent (or None for zero) for each argument. Arguments in `nondiff_argnums` come first in `bwd`.

    >>> @sagax.custom_vjp
    ... def f(x):
    ...     return x * x
    >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (5.0 * ct,))
    >>> float(sagax.grad(f)(3.0))
    5.0
    """

    fwd: Callable | None = None
    bwd: Callable | None = None
    symbolic_zeros = False
    optimize_remat = False
    with_accums = False
    remat_rules: tuple[Callable, Callable] | None = None

    def defvjp(
        self,
        fwd: Callable,
        bwd: Callable,
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Set the rules.

        Args:
          symbolic_zeros: `fwd` gets a `CustomVJPPrimal` for each leaf, with its `perturbed` flag, and `bwd` a
              `SymbolicZero` for each cotangent that is zero.
          optimize_remat: under `checkpoint` the function itself, and not `fwd`, computes the value if no residual is saved.
          generic_batching: accepted; `vmap` of the rules always treats each output as one of each example.
        """
        self._check_function(fwd, "fwd")
        self._check_function(bwd, "bwd")
        self.fwd, self.bwd, self.with_accums = fwd, bwd, False
        self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

    def defvjp_with_logs(self, fwd: Callable, bwd: Callable, **options: Any) -> None:
        """Set the rules; `bwd` returns a pair: the cotangents, and a dict of values to log, or None.

        `f_vjp.with_logs(ct)` of a function from `vjp` returns the logs too; all others drop them. `options` are
        those of `defvjp`.

        >>> @sagax.custom_vjp
        ... def f(x):
        ...     return x * x
        >>> f.defvjp_with_logs(lambda x: (f(x), x), lambda x, ct: ((2 * x * ct,), {"ct": ct}))
        >>> _, pullback = sagax.vjp(f, 3.0)
        >>> cotangents, logs = pullback.with_logs(1.0)
        >>> float(logs["ct"])
        1.0
        """
        self._check_function(bwd, "bwd")
        self.defvjp(fwd, _without_logs(bwd), **options)

    def defvjp_with_accums(self, fwd: Callable, bwd: Callable, **options: Any) -> None:
        """Set the rules; `bwd(residuals, ct, *accums)` adds cotangents to accumulators.

        `accums` has an accumulator for each argument, in its structure: a `ValAccum` of `experimental.hijax`, or
        a `NullAccum` where the argument is not differentiated. `accum.accum(x)` adds. The rule returns None, or a
        dict of values to log. `options` are those of `defvjp`.

        >>> @sagax.custom_vjp
        ... def f(x, y):
        ...     return x * y
        >>> f.defvjp_with_accums(
        ...     lambda x, y: (f(x, y), (x, y)),
        ...     lambda xy, ct, dx, dy: (dx.accum(ct * xy[1]), dy.accum(ct * xy[0]), None)[2],
        ... )
        >>> float(sagax.grad(f)(3.0, 5.0))
        5.0
        """
        self.defvjp(fwd, bwd, **options)
        self.with_accums = True

    def defremat(
        self, fwd: Callable, rem: Callable, bwd: Callable, generic_batching: bool = False
    ) -> None:
        """Set rules that say what `checkpoint` saves of the function, and what it computes again.

        Args:
          fwd: `fwd(*args) -> (out, residuals)`; the residuals are saved, whatever the policy.
          rem: `rem(residuals, *args) -> (out, residuals2)` runs in the backward pass, in place of `fwd`.
          bwd: `bwd(residuals2, ct)` returns a cotangent for each argument, as in `defvjp`.
          generic_batching: accepted, as in `defvjp`.

        Outside of `checkpoint`, `rem` runs right after `fwd`, unless `defvjp` sets other rules.

        >>> @sagax.custom_vjp
        ... def f(x):
        ...     return snp.sin(x)
        >>> f.defremat(
        ...     lambda x: (f(x), snp.cos(x)),
        ...     lambda cos, x: (f(x), cos),
        ...     lambda cos, ct: (cos * ct,),
        ... )
        >>> round(float(sagax.grad(sagax.checkpoint(f))(0.0)), 3)
        1.0
        """
        for argument, rule in (("fwd", fwd), ("rem", rem), ("bwd", bwd)):
            self._check_function(rule, argument)

        @wraps(fwd)
        def forward(*args: Any) -> tuple[Any, Any]:
            out, residuals = _pair(fwd(*args), fwd, "(out, residuals)")
            _, residuals = _pair(rem(saved(residuals), *args), rem, "(out, residuals)")
            return out, residuals

        self.remat_rules = (forward, bwd)
        if self.fwd is None:
            self.defvjp(forward, bwd)

    def defremat_with_logs(
        self, fwd: Callable, rem: Callable, bwd: Callable, generic_batching: bool = False
    ) -> None:
        """Set rules as `defremat` does; `bwd` returns (cotangents, logs) as for `defvjp_with_logs`."""
        self._check_function(bwd, "bwd")
        self.defremat(fwd, rem, _without_logs(bwd), generic_batching)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise UndefinedRuleError(
                f"No VJP defined for custom_vjp function {self.name} using defvjp.",
                fix=f"set the rules first: {self.name}.defvjp(fwd, bwd)",
            )
        dynamic, fixed, positions = self._split(args, kwargs)
        leaves, tree = without_no_tangents(*trees.flatten_argument(self.name, "arguments", dynamic))
        self._check(leaves, dynamic, positions)
        # the backward rule lives as long as the pullback: it holds types, not values
        avals = [aval_of(x) for x in leaves]
        paths = functools.cache(
            lambda: self._paths(tree.unflatten([0] * tree.num_leaves), positions)
        )
        cell: list[Any] = []
        res_tree: list[Any] = []

        def flat(*xs: Any) -> list:
            out, cell[:] = _call_flat(
                self.fun, tree, xs, fixed, positions, f"{type(self).__name__} {self.name}"
            )
            return out

        def fwd(xs: Sequence, marks: Sequence[bool]) -> tuple[list, list]:
            return self._forward(tree, fixed, positions, xs, marks, cell, res_tree)

        def bwd(residuals: Sequence, cts: Sequence) -> list:
            return self._backward(tree, fixed, avals, paths, residuals, cts, cell, res_tree)

        rules = VjpRules(
            FlatFunction(fwd, self.fwd, fixed),
            FlatFunction(bwd, self.bwd, fixed),
            self.symbolic_zeros,
            self.optimize_remat,
        )
        function_key = self._function_key(tree, fixed, positions, cell)
        inner = StageableFunction(
            FlatFunction(flat, self.fun, fixed), self.name, function_key=function_key
        )
        outs = bind_closed(custom_vjp_p, leaves, inner, rules)
        return cell[0].unflatten(outs)

    def _forward(
        self,
        tree: Any,
        fixed: list,
        positions: list[int],
        xs: Sequence,
        marks: Sequence[bool],
        cell: list,
        res_tree: list,
    ) -> tuple[list, list]:
        fwd, bwd = self.fwd, self.bwd
        if self.remat_rules is not None and in_checkpoint():
            fwd, bwd = self.remat_rules
        fwd_name = function_name(fwd)
        if self.symbolic_zeros:
            xs = [CustomVJPPrimal(x, m) for x, m in zip(xs, marks, strict=True)]
        dynamic = iter(tree.unflatten(xs))
        rest = iter(fixed)
        total = len(positions) + len(fixed)
        pair = fwd(*[next(dynamic) if i in positions else next(rest) for i in range(total)])  # type: ignore[misc]
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise ArgumentError(
                f"Custom VJP fwd rule {fwd_name} for function {self.name} must produce a pair (list or tuple of length two) where the "
                f"first element represents the primal output and the second element represents residuals, but got {kind_of(pair)}",
                function="custom_vjp",
                argument=fwd_name,
                got=kind_of(pair),
                fix="return (out, residuals)",
            )
        outs, out_tree = trees.flatten_argument(fwd_name, "primal output", pair[0])
        if cell and cell[0] != out_tree:
            found = trees.structure_mismatch(cell[0], out_tree, self.name, fwd_name)
            raise structure_error(
                "custom_vjp",
                f"Custom VJP fwd rule {fwd_name} for function {self.name} must produce a pair whose first element has the "
                "structure of the function's output",
                found,
            )
        check_results(outs, pair[0], "custom_vjp", fwd)
        cell[:] = [out_tree]
        residuals, tree_of_residuals = without_no_tangents(
            *trees.flatten_argument(fwd_name, "residuals", pair[1])
        )
        for i, x in enumerate(residuals):
            if not is_argument(x):
                raise unusable_leaf(
                    x,
                    f"custom_vjp fwd rule {fwd_name}",
                    trees.argument_path(
                        "residuals", trees.key_paths(hidden_in_structure(pair[1]))[i]
                    ),
                    "give it to bwd as an argument in nondiff_argnums",
                )
        res_tree[:] = [tree_of_residuals, bwd, marks]
        return outs, residuals

    def _backward(
        self,
        tree: Any,
        fixed: list,
        avals: Sequence,
        paths: Callable[[], Sequence[str]],
        residuals: Sequence,
        cts: Sequence,
        cell: list,
        res_tree: list,
    ) -> list:
        tree_of_residuals, bwd, marks = res_tree
        bwd_name = function_name(bwd)
        if self.symbolic_zeros:
            given = [SymbolicZero(c.aval) if type(c) is Zero else c for c in cts]
        else:
            given = [
                c if hasattr(c, "aval") or is_no_tangent(c) else sockets.concrete(c)
                for c in map(instantiate, cts)
            ]
        arguments = (*fixed, tree_of_residuals.unflatten(residuals), cell[0].unflatten(given))
        if self.with_accums:
            accums = accumulators.accumulators(tree.unflatten(avals), tree.unflatten(marks))
            backward_logs.add(bwd(*arguments, *accums), bwd_name)
            result = tuple(map(accumulators.sums, accums))
        else:
            result = bwd(*arguments)
        n = len(trees.treedef_children(tree))
        if isinstance(result, list):
            result = tuple(result)
        if not isinstance(result, tuple) or len(result) != n:
            raise ArgumentError(
                f"Custom VJP bwd rule {bwd_name} for function {self.name} must produce a tuple of length equal to the number of "
                f"differentiated arguments, {n}",
                function="custom_vjp",
                argument=bwd_name,
                got=kind_of(result),
                expected=f"a tuple of length {n}",
                fix="return (ct,) for a single argument"
                if n == 1
                else "return a cotangent, or None for zero, for each argument",
                returned_by=bwd,
            )
        primal = trees.of_objects(tree)
        out: list[Any] = []
        for i, (part, expected) in enumerate(zip(result, primal, strict=True)):
            primal_leaves, primal_tree = trees.flatten(expected)
            if part is None:
                out.extend([None] * sum(not is_no_tangent(x) for x in primal_leaves))
                continue
            try:
                cotangents = (
                    trees.broadcast_prefix(part, expected, is_leaf=lambda x: x is None)
                    if _has_none(part)
                    else primal_tree.flatten_up_to(part)
                )
                out += [ct for ct, x in zip(cotangents, primal_leaves) if not is_no_tangent(x)]
            except (ValueError, TypeError):
                found = trees.structure_mismatch(
                    expected, part, f"argument {i} of {self.name}", f"output {i} of {bwd_name}"
                )
                raise structure_error(
                    "custom_vjp",
                    f"Custom VJP bwd rule {bwd_name} for function {self.name} must produce cotangents with the structure of "
                    "the arguments",
                    found,
                    "return the containers of the argument, with None for zero",
                ) from None
        return [
            self._checked(ct, aval, i, paths, bwd_name)
            for i, (ct, aval) in enumerate(zip(out, avals, strict=True))
        ]

    def _checked(
        self, ct: Any, aval: Any, i: int, paths: Callable[[], Sequence[str]], bwd_name: str
    ) -> Any:
        expected = aval.to_tangent_aval()
        if ct is None or isinstance(ct, SymbolicZero) or expected.dtype == dtypes.float0:
            return Zero(expected)
        if not is_operand(ct):
            raise unusable_leaf(
                ct, f"custom_vjp bwd rule {bwd_name}", f"the cotangent of {paths()[i]}"
            )
        have = aval_of(ct)
        if dims.same_shape(have.shape, expected.shape):
            if have.dtype == expected.dtype:
                return ct
            if (
                not dtypes.is_extended(have.dtype)
                and (dtypes.is_complex(expected.dtype) or not dtypes.is_complex(have.dtype))
            ):  # a rule may compute in another precision: convert the cotangent to that of the argument
                return convert(ct if hasattr(ct, "aval") else sockets.concrete(ct), expected.dtype)
        raise ArgumentValueError(
            f"Custom VJP bwd rule {bwd_name} for function {self.name} must produce cotangents with the shapes and dtypes of the arguments",
            function="custom_vjp",
            argument=f"the cotangent of {paths()[i]}",
            expected=expected,
            got=have,
            fix="sum over the axes along which the argument was broadcast"
            if not dims.same_shape(have.shape, expected.shape)
            else "take its real part",
        )


def _without_logs(bwd: Callable) -> Callable:
    """Return the rule without what it logs, which goes to the caller of the pullback."""

    @wraps(bwd)
    def without_logs(*args: Any) -> Any:
        return backward_logs.split(bwd(*args), function_name(bwd))

    return without_logs


def _pair(result: Any, rule: Callable, expected: str) -> tuple[Any, Any]:
    if not (isinstance(result, (tuple, list)) and len(result) == 2):
        raise ArgumentError(
            f"the rule {function_name(rule)} must return a pair",
            function="custom_vjp.defremat",
            argument=function_name(rule),
            got=kind_of(result),
            expected=expected,
        )
    return result[0], result[1]


def _has_none(tree: Any) -> bool:
    return any(x is None for x in trees.leaves(tree, lambda x: x is None))


def add_any(x: Any, y: Any) -> Any:
    """Return the sum of two tangents."""
    return add_any_p.bind(x, y)
