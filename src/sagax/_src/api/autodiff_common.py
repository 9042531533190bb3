"""Share the parts of autodiff transformations: flat functions, pullbacks, input checks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src import config, trees
from sagax._src.api import arguments
from sagax._src.argument_checks.functions import check_results, kind_of
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.jaxpr import DebugInfo
from sagax._src.core.references import Ref
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.boundary import function_code, function_name, tracing
from sagax._src.diagnostics.errors import ArgumentError, DtypeError
from sagax._src.diagnostics.function_wrappers import copy_attributes
from sagax._src.higher_order.trace_bodies import as_value, with_numbers
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.structural import instantiate

if TYPE_CHECKING or lazy_imports():
    from sagax._src.transforms import linearize as linearize_transform
    from sagax._src.transforms import transpose as transpose_transform


class FlatFunction:
    """Wrap `fun` as a function of flat operands.

    Auxiliary data become further outputs, so that they are concrete after the transformation. After
    a call, `out_tree` and `split` describe the outputs.
    """

    __slots__ = ("_aux", "fun", "has_aux", "name", "out_tree", "tree")

    def __init__(self, fun: Callable, tree: Any, name: str, has_aux: bool = False) -> None:
        self.fun, self.tree, self.name, self.has_aux = fun, tree, name, has_aux
        self.out_tree: Any = None
        self._aux: Any = None

    def __call__(self, *leaves: Any) -> list:
        result = self.fun(*self.tree.unflatten(leaves))
        extra: list = []
        if self.has_aux:
            result, aux = _split_aux(result, self.name, self.fun)
            aux_leaves, aux_tree = trees.flatten_argument(self.name, "auxiliary data", aux)
            marks = [is_operand(x) for x in aux_leaves]
            extra = [x for x, m in zip(aux_leaves, marks) if m]
            self._aux = (aux_tree, marks, [None if m else x for x, m in zip(aux_leaves, marks)])
        outs, self.out_tree = trees.flatten_argument(self.name, "result", result)
        fix = None
        if self.name != "linear_transpose" and not self.has_aux:
            fix = "to return other things too, pass has_aux=True and return (output, others)"
        check_results(outs, result, self.name, self.fun, fix)
        return [*outs, *extra]

    def split(self, outs: Sequence[Any]) -> tuple[list, Any]:
        """Split flat outputs into the outputs proper and the auxiliary data, unflattened."""
        n = self.out_tree.num_leaves
        if not self.has_aux:
            return list(outs), None
        aux_tree, marks, others = self._aux
        given = iter(outs[n:])
        return list(outs[:n]), aux_tree.unflatten(
            [next(given) if m else x for m, x in zip(marks, others)]
        )


def _split_aux(result: Any, name: str, fun: Any) -> tuple[Any, Any]:
    if not (isinstance(result, (tuple, list)) and len(result) == 2):
        raise ArgumentError(
            f"with has_aux=True {function_name(fun)} must return a pair (output, auxiliary data), but it "
            f"returned {kind_of(result)}",
            function=name,
            got=kind_of(result),
            expected="a pair (output, auxiliary data)",
            fix="return (output, aux), or leave out has_aux",
        )
    return tuple(result)


def has_derivative(x: Any) -> bool:
    """Return whether values like `x` are differentiable."""
    if type(x) is Ref:
        return False
    aval = aval_of(x)
    if aval.is_high:
        aval = aval.to_tangent_aval()
    return aval.is_high or dtypes.is_inexact(aval.dtype)


class _pulling(tracing):
    """Enter the boundary around a backward pass, in which user-defined rules may run."""

    __slots__ = ()

    @property
    def phrase(self) -> str:  # type: ignore[override]
        return f"pulling cotangents back through `{function_name(self.function)}` for {self.reason}"


class Pullback:
    """Map cotangents of flat outputs to those of the flat inputs."""

    __slots__ = ("avals", "boundary", "marks", "linear", "safe_where", "zero_cotangents")

    def __init__(
        self,
        linear: linearize_transform.LinearMap,
        marks: list[bool],
        avals: list,
        zero_cotangents: list[Zero],
        boundary: Any,
        safe_where: bool | None = None,
    ) -> None:
        self.boundary = boundary
        self.safe_where = safe_where  # None: the setting of that name
        self.linear = linear
        self.marks = marks  # which inputs are differentiable
        self.avals = avals
        self.zero_cotangents = zero_cotangents  # auxiliary outputs have no cotangents

    def with_residuals(self, linear: linearize_transform.LinearMap) -> Pullback:
        """Return the same pullback by another linear map."""
        return Pullback(
            linear, self.marks, self.avals, self.zero_cotangents, self.boundary, self.safe_where
        )

    def inexact(self, cts: Sequence[Any]) -> list:
        """Return the cotangents of the differentiable inputs."""
        return self._pulled([*cts, *self.zero_cotangents])

    def _pulled(self, cts: Sequence[Any]) -> list:
        with self.boundary, config.with_option("safe_where", self.safe_where):
            found = pull_back(self.linear, cts)
        return [as_value(instantiate(c)) for c in found]

    def __call__(self, cts: Sequence[Any]) -> list:
        return self.of_all([*cts, *self.zero_cotangents])

    def of_all(self, cts: Sequence[Any]) -> list:
        """Return the cotangents of the inputs, given one for each output, auxiliary ones too."""
        found = iter(self._pulled(cts))
        return [
            next(found) if m else instantiate(Zero(a))
            for m, a in zip(self.marks, self.avals, strict=True)
        ]


def info_of(fun: Any, name: str, paths: Callable[[], Sequence[str]]) -> DebugInfo:
    """Describe the transformed function and its flat arguments for messages."""
    return DebugInfo(function_name(fun), paths, (), name, function_code(fun))


def vjp_flat(
    fun: Callable,
    leaves: Sequence[Any],
    tree: Any,
    name: str,
    has_aux: bool,
    paths: Callable[[], Sequence[str]],
    safe_where: bool | None = None,
    references: Any = None,
    nonzero: Sequence[bool] | None = None,
    given: Sequence[Any] | None = None,
) -> tuple:
    """Compute flat outputs, a flat pullback, the output structure and auxiliary data.

    `references` are those among the arguments, whose contents are differentiated; `nonzero` are the arguments
    that have tangents; `given` are the arguments as they were, where `leaves` are made of them.
    """
    flat = FlatFunction(fun, tree, name, has_aux)
    values = [as_value(x) for x in leaves]
    marks = [has_derivative(x) for x in values]
    if nonzero is not None:
        marks = [m and nz for m, nz in zip(marks, nonzero, strict=True)]
    info = info_of(fun, name, lambda: [p for p, m in zip(paths(), marks, strict=True) if m])
    with tracing(fun, name):
        function = references.on_values(flat) if references else flat
        outs, linear = linearize_transform.linearize_flat(function, values, marks, None, info)
    outs = with_numbers(outs, values, leaves if given is None else given)
    if references:
        outs, written = references.split(outs)
        references.store(written)
    total = len(outs)
    outs, aux = flat.split(outs)  # what is not traced stays as it is: numbers are no arrays
    avals = [aval_of(x).to_tangent_aval() for x in values]
    zero_cotangents = [Zero(aval_of(outs[0])) for _ in range(total - len(outs))] if outs else []
    pull = Pullback(linear, marks, avals, zero_cotangents, _pulling(fun, name), safe_where)
    return outs, pull, flat.out_tree, aux


def pull_back(linear: linearize_transform.LinearMap, cts: Sequence[Any]) -> list:
    """Compute input cotangents of a linear jaxpr from one output cotangent (maybe `Zero`) each."""
    known_cotangents = [
        ct for ct, t in zip(cts, linear.out_tangents, strict=True) if type(t) is not Zero
    ]
    inputs = [Linear(v.aval) for v in linear.jaxpr.invars]
    return transpose_transform.backward(linear.jaxpr, linear.residuals, inputs, known_cotangents)


def fix_other_arguments(
    fun: Callable, args: tuple, kwargs: dict, positions: Sequence[int]
) -> Callable:
    """Fix all arguments of `fun` but those at `positions`."""

    def partial(*some: Any) -> Any:
        full = list(args)
        for k, x in zip(positions, some, strict=True):
            full[k] = x
        return fun(*full, **kwargs)

    copy_attributes(partial, fun)
    partial.__qualname__ = function_name(fun)  # also for functions without a name
    return partial


def leaf_names(fun: Any, args: tuple, positions: Sequence[int]) -> list[str]:
    """Name the leaves of the positional arguments at `positions`, as the user would."""
    names = arguments.positional_names(fun, len(args))
    return [trees.argument_path(names[k], p) for k in positions for p in trees.key_paths(args[k])]


def check_inputs(
    name: str,
    fun: Any,
    args: tuple,
    positions: Sequence[int],
    leaves: Sequence[Any],
    holomorphic: bool,
    allow_int: bool = False,
    forward: bool = False,
) -> None:
    paths = functools.partial(leaf_names, fun, args, positions)
    arguments.check_operands(leaves, paths, name, fun)
    for i, x in enumerate(leaves):
        if type(x) is Ref:
            raise ArgumentError(
                f"{name} cannot differentiate with respect to a reference, whose gradient is another reference",
                function=name,
                argument=paths()[i],
                got=repr(x.aval),
                fix="pass it in another argument, or use vjp and the method `with_refs` of its result",
            )
        if aval_of(x).is_high:
            continue
        dtype = aval_of(x).dtype
        if holomorphic:
            if not dtype_predicates.is_complex(dtype):
                raise DtypeError(
                    f"{name} with holomorphic=True requires inputs with complex dtype",
                    function=name,
                    argument=paths()[i],
                    got=x,
                    expected="complex numbers",
                    fix="convert the input with astype('complex64'), or leave out holomorphic",
                )
        elif forward and dtype_predicates.is_complex(dtype):
            raise DtypeError(
                f"{name} requires real-valued inputs (input dtype that is a sub-dtype of np.floating)",
                function=name,
                argument=paths()[i],
                got=x,
                expected="real numbers",
                fix="for holomorphic functions pass holomorphic=True; for others use sagax.jvp directly",
            )
        elif not dtypes.is_inexact(dtype) and not allow_int:
            path = paths()[i]
            whole = path in arguments.positional_names(fun, len(args))
            raise DtypeError(
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got "
                f"{dtypes.name(dtype)}",
                function=name,
                argument=path,
                got=x,
                expected="floating point numbers",
                fix="differentiate with respect to another argument (argnums)"
                if dtypes.is_extended(dtype)
                else f"pass {path} as a float, such as 3.0 or x.astype('float32')"
                if whole
                else f"make {path} floating point, or keep it out of the differentiated argument"
                + (", or pass allow_int=True" if name in ("grad", "value_and_grad") else ""),
            )
