"""Export jitted functions as portable StableHLO, with symbolic sizes."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees, xla
from sagax._src.api import export_format, jit_shardings
from sagax._src.api.derivatives import vjp
from sagax._src.api.jit import JitFunction, ShapeDtypeStruct, jit
from sagax._src.api.stageable import is_stageable, jitted
from sagax._src.api.user_contexts import make_user_context
from sagax._src.argument_checks.argument_names import positional_names
from sagax._src.argument_checks.functions import structure_error
from sagax._src.core import dims, dtypes
from sagax._src.core.dims.scope import SymbolicScope
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr, subjaxprs
from sagax._src.core.references import EFFECTS, takes_references
from sagax._src.core.shardings import NamedSharding
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand, not_an_array
from sagax._src.diagnostics import spans
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    DimensionVariableError,
    InconclusiveDimensionOperation,
    MissingDimensionError,
    SagaxError,
)
from sagax._src.higher_order.exported_calls import (
    DimensionValues,
    ExportedCode,
    Partitioning,
    call_exported,
    derivative_of,
    has_tangent,
)
from sagax._src.lowering.module import Shardings, lower_jaxpr
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.runtime import devices
from sagax._src.runtime.array import as_array
from sagax._src.runtime.placements import Placement, typed_result
from sagax._src.transforms.discharge import discharge_all
from sagax._src.transforms.prune import prune_jaxpr, used_inputs

minimum_supported_calling_convention_version = 9
maximum_supported_calling_convention_version = 10


class DisabledSafetyCheck:
    """A safety check of `export` to disable.

    `DisabledSafetyCheck.platform()`: allow calls on platforms that the function was not exported
    for. `DisabledSafetyCheck.custom_call(target)`: allow calls of that target, which has no
    guarantee of compatibility with other versions.
    """

    def __init__(self, _impl: str) -> None:
        self._impl = _impl

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Allow calls on platforms that the function was not exported for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Allow custom calls of a target that has no guarantee of compatibility."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """Return the allowed target, or None if this is another check."""
        kind, _, target = self._impl.partition(":")
        return target if kind == "custom_call" else None

    def __repr__(self) -> str:
        return f"DisabledSafetyCheck({self._impl!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledSafetyCheck) and self._impl == other._impl

    def __hash__(self) -> int:
        return hash(self._impl)


# Custom calls with stable semantics: kernels of linear algebra, and XLA's own targets.
_LASTING = (
    "lapack_",
    "cusolver_",
    "cublas_",
    "cusparse_",
    "cu_",
    "hip",
    "stablehlo.",
    "mhlo.",
    "shape_assertion",
    "sagax.",
)
_LASTING_NAMES = {
    "Sharding",
    "annotate_device_placement",
    "tridiagonal_solve_perturbed_ffi",
    "ApproxTopK",
    "PartialReduce",
    "TopK",
}


class Exported:
    """A serializable function: StableHLO, its input and output types, and its calling convention.

    Returned by `export` and `deserialize`. `in_avals` and `out_avals` are the types of the flat
    arguments and results, in the order of `in_tree` and `out_tree`; sizes may be symbolic. `call`
    runs it. `assumptions` are undecidable comparisons of symbolic sizes that export assumed; calls
    check them.
    """

    def __init__(
        self,
        code: ExportedCode,
        in_tree: Any,
        out_tree: Any,
        disabled_safety_checks: Sequence[DisabledSafetyCheck],
        make_vjp: Callable[[Exported], Exported] | None,
    ) -> None:
        self._code = code
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.disabled_safety_checks = tuple(disabled_safety_checks)
        self._get_vjp = make_vjp
        self._vjp: Exported | None = None
        if make_vjp is not None:
            code.derivative = lambda: self.vjp()._code
        self._jitted: dict[DimensionValues, Callable] = {}
        self._fitting: set[tuple] = set()
        self._whole: Callable | None = None

    fun_name = property(lambda self: self._code.name)
    in_avals = property(lambda self: self._code.in_avals)
    out_avals = property(lambda self: self._code.out_avals)
    platforms = property(lambda self: self._code.platforms)
    module_kept_var_idx = property(lambda self: self._code.kept)
    assumptions = property(lambda self: self._code.assumptions)
    dimension_arguments = property(lambda self: self._code.given)
    in_shardings_hlo = property(lambda self: (None,) * len(self.in_avals))  # as in jax 0.12
    out_shardings_hlo = property(lambda self: (None,) * len(self.out_avals))
    uses_global_constants = property(lambda self: bool(self._code.variables))
    nr_devices = property(lambda self: self._code.nr_devices)
    ordered_effects: tuple = ()
    unordered_effects: tuple = ()
    calling_convention_version = maximum_supported_calling_convention_version

    def __repr__(self) -> str:
        return f"Exported(fun_name={self.fun_name}, ...)"

    def in_shardings_jax(self, mesh: Any) -> tuple:
        """Return the sharding of each input over `mesh`, a mesh of `nr_devices` devices; None if it
        has none.

        The axes of `mesh` must be those of the mesh that the function was exported with. Raises
        ArgumentValueError if they are others.
        """
        partitioning = self._code.partitioning
        return self._over(
            mesh, partitioning.in_shardings if partitioning else self.in_shardings_hlo
        )

    def out_shardings_jax(self, mesh: Any) -> tuple:
        """Return the sharding of each result over `mesh`, a mesh of `nr_devices` devices; None if it has none."""
        partitioning = self._code.partitioning
        return self._over(
            mesh, partitioning.out_shardings if partitioning else self.out_shardings_hlo
        )

    def _over(self, mesh: Any, shardings: Sequence[Any]) -> tuple:
        for s in shardings:
            if s is not None and s.mesh.shape_tuple != mesh.shape_tuple:
                raise ArgumentValueError(
                    f"{self.fun_name} was exported over a mesh of the axes {dict(s.mesh.shape_tuple)}",
                    argument="mesh",
                    got=mesh,
                    expected="a mesh of the same axes",
                )
        return tuple([s and NamedSharding(mesh, s.spec) for s in shardings])

    # -- the module -------------------------------------------------------------------------------

    @property
    def mlir_module_serialized(self) -> bytes:
        """The module for the first of `platforms`, as a StableHLO portable artifact."""
        return self._code.artifact(self.platforms[0])

    def mlir_module(self) -> str:
        """The module for the first of `platforms`, as text."""
        return xla.mlir.format_module(self._code.module(self.platforms[0]))

    # -- derivatives ------------------------------------------------------------------------------

    def has_vjp(self) -> bool:
        """Return whether the function can be differentiated (in reverse mode)."""
        return self._get_vjp is not None

    def vjp(self) -> Exported:
        """Return the exported pullback: a function of the arguments and the cotangents of the
        results.

        It takes, flat, all arguments and then a cotangent for each differentiable result. It
        returns one for each differentiable argument. ArgumentValueError if the function has no
        derivative, as after `deserialize` if it was serialized without `vjp_order`.
        """
        if self._vjp is None:
            if self._get_vjp is None:
                derivative_of(self._code)  # raises
            assert self._get_vjp is not None
            self._vjp = self._get_vjp(self)
        return self._vjp

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """Serialize to bytes for `deserialize`, with derivatives up to `vjp_order`.

        Raises ArgumentValueError if it has fewer derivatives, or for pytree nodes of types that are
        not registered (`register_pytree_node_serialization`).
        """
        if not isinstance(vjp_order, int) or isinstance(vjp_order, bool) or vjp_order < 0:
            raise ArgumentValueError.about("serialize", "vjp_order", vjp_order, "0, 1, 2, ...")
        parts, current = [self._parts()], self
        for _ in range(vjp_order):
            current = current.vjp()
            parts.append(current._parts())
        return bytearray(export_format.write(parts))

    def _parts(self) -> export_format.Parts:
        disabled = tuple(c._impl for c in self.disabled_safety_checks)
        return export_format.Parts(self._code, self.in_tree, self.out_tree, disabled)

    # -- calls ------------------------------------------------------------------------------------

    def call(self, *args: Any, dims: Mapping[str, int] | None = None, **kwargs: Any) -> Any:
        """Call the function with arguments that match those of `export`.

        Sizes that were exported as dimension arguments are passed by keyword, or in `dims`. Works
        under `jit`, `grad`, `vmap` (example by example) and in other exported functions.

        Raises ArgumentValueError where structure, dtype or shape differ from the specification.
        """
        whole = self._whole
        if whole is None or dims:
            return self._first_call(args, kwargs, dims)
        try:
            return whole(*args, **kwargs) if kwargs else whole(*args)
        except Exception:
            try:
                self._fit(args, kwargs, ())
            except SagaxError as error:  # errors are those of this call
                raise error from None
            raise

    def _first_call(self, args: tuple, kwargs: dict, given: Mapping[str, int] | None) -> Any:
        """Make a call that is not compiled: the first one, and every one with dimension arguments."""
        if self._code.given or given:
            return self._checked(args, kwargs, self._known(given, kwargs))
        self._whole = jit(self._named(lambda *args, **kwargs: self._checked(args, kwargs, ())))
        return self.call(*args, **kwargs)

    def _checked(self, args: tuple, kwargs: dict, known: DimensionValues) -> Any:
        """Call after a check of the arguments."""
        leaves = self._fit(args, kwargs, known)
        run = self._jitted.get(known)
        if run is None:
            run = self._jitted[known] = self._prepared(known)
        return self.out_tree.unflatten(run(*leaves))

    def _fit(self, args: tuple, kwargs: dict, known: DimensionValues) -> list:
        """Flatten the arguments. Raises unless they fit the specification."""
        leaves, tree = trees.flatten((args, kwargs))
        if tree != self.in_tree:
            raise self._other_structure(args, kwargs)
        for x, label in zip(leaves, self._code.labels, strict=True):
            if not is_operand(x):
                raise not_an_array(x).attach(function=f"call of {self.fun_name}", argument=label)
        signature = (*[aval_of(x) for x in leaves], known)
        if signature not in self._fitting:
            self._code.results(signature[:-1], known)  # raises for arguments that do not fit
            self._code.module(default_export_platform())
            self._fitting.add(signature)
        return leaves

    def _named(self, fun: Callable) -> Callable:
        fun.__name__ = fun.__qualname__ = self.fun_name
        return fun

    call_exported = call

    def _known(self, given: Mapping[str, int] | None, kwargs: dict) -> DimensionValues:
        """Take the values of the dimension arguments out of `kwargs`."""
        if not self._code.given:
            if given:
                raise ArgumentValueError(
                    function=f"call of {self.fun_name}",
                    argument="dims",
                    got=dict(given),
                    expected="nothing: the function was exported without dimension arguments",
                )
            return ()
        given = dict(given or {})
        out = []
        for name, _ in self._code.given:
            if name in kwargs and name in given:
                raise ArgumentError(
                    "the dimension argument is given twice, by keyword and in dims",
                    function=f"call of {self.fun_name}",
                    argument=name,
                    fix="pass it once",
                )
            if name in kwargs:
                value = kwargs.pop(name)
            elif name in given:
                value = given.pop(name)
            else:
                raise MissingDimensionError(
                    f"Encountered dimension variable '{name}' that is not appearing in the shapes of the function arguments,"
                    f" and the call gives no value: the dimension argument {name} is missing",
                    function=f"call of {self.fun_name}",
                    argument=name,
                    expected="an integer",
                    fix=f"pass it by keyword: call(..., {name}=3)",
                )
            out.append((name, self._dimension(name, value)))
        if given:
            raise ArgumentValueError(
                function=f"call of {self.fun_name}",
                argument="dims",
                got=sorted(given),
                expected=f"values of {', '.join(n for n, _ in self._code.given)}",
            )
        return tuple(out)

    def _dimension(self, name: str, value: Any) -> Any:
        """Check a dimension argument: an int, or a symbolic size of the calling function."""
        if dims_module.is_dim(value):
            return value
        integer = not isinstance(value, (bool, np.bool_)) and (
            not hasattr(value, "dtype") or dtypes.kind(value.dtype) in "iu"
        )
        if integer and hasattr(value, "__index__") and not isinstance(value, Tracer):
            try:
                return operator.index(value)  # type: ignore[arg-type]
            except TypeError:  # an array of several elements
                pass
        raise ArgumentError(
            function=f"call of {self.fun_name}",
            argument=name,
            got=value,
            expected="an integer that is known while tracing"
            if isinstance(value, Tracer)
            else "an integer",
        )

    def _prepared(self, known: DimensionValues) -> Callable:
        code = self._code

        def flat(*xs: Any) -> tuple:
            return tuple(call_exported(xs, code, known))

        return jit(self._named(flat))

    def _other_structure(self, args: tuple, kwargs: dict) -> Exception:
        of_args, of_kwargs = trees.treedef_children(self.in_tree)
        found = trees.structure_mismatch(of_args, args, "args when exported", "args")
        found += trees.structure_mismatch(of_kwargs, kwargs, "kwargs when exported", "kwargs")
        return structure_error(
            f"call of {self.fun_name}",
            "The invocation args and kwargs must have the same pytree structure as when the function "
            f"'{self.fun_name}' was exported",
            found,
            "pass positional and keyword arguments as they were passed when it was exported; static ones are left out",
            kind=ArgumentValueError,
        )


dims_module = dims  # if an argument is called dims


# export -------------------------------------------------------------------------------------------------


def export(
    fun_jit: Any,
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
    strict: bool = False,
) -> Callable[..., Exported]:
    """Return a function that exports `fun_jit` for its arguments.

    Args:
      fun_jit: the result of `jit`. Its static arguments become part of the module, except symbolic
        sizes: calls pass those again, as numbers, by keyword or in `dims`, under the name of the parameter.
      platforms: of 'cpu', 'cuda', 'rocm', 'tpu'; by default the one of this process.
      disabled_checks: checks to disable, see `DisabledSafetyCheck`.
      strict: refuse equalities between symbolic sizes that cannot be decided. Otherwise they are
        assumed to be unequal, recorded in `assumptions`, and checked by calls.

    The result takes arrays or `ShapeDtypeStruct`s, whose sizes may be symbolic (`symbolic_shape`),
    and returns an `Exported`.

    Raises ArgumentValueError if `fun_jit` is not jitted or the sizes of the arguments can never
    determine the symbolic ones; DimensionVariableError (a KeyError) for a symbolic size that no
    argument has; InconclusiveDimensionOperation where the function needs to know more of a size.

    >>> from sagax import export
    >>> shape = export.symbolic_shape("b, 3")
    >>> exported = export.export(sagax.jit(lambda x: x.sum(axis=1)))(sagax.ShapeDtypeStruct(shape, "float32"))
    >>> exported.out_avals
    (ShapedArray(float32[b]),)
    >>> exported.call(snp.ones((2, 3)))
    Array([3., 3.], dtype=float32)
    """
    if is_stageable(fun_jit):
        return lambda *args, **kwargs: export(
            jitted(fun_jit, args, kwargs),
            platforms=platforms,
            disabled_checks=disabled_checks,
            strict=strict,
        )(*args, **kwargs)
    if not isinstance(fun_jit, JitFunction):
        raise ArgumentValueError(
            f"Function to be exported must be the result of `jit` but is: {fun_jit!r}",
            function="export",
            argument="fun_jit",
            got=fun_jit,
            fix="export(sagax.jit(f))",
        )
    chosen = _checked_platforms(platforms)

    def once(args: Any, kwargs: Any) -> tuple[Exported, set[str]]:
        """Export with the assumptions that are noted in the scope; also return those that were made now."""
        with dims.assumptions(strict=strict) as assumed:
            traced, tree, statics, leaves = fun_jit._stage(args, kwargs)
        if takes_references(traced.closed.jaxpr):
            raise UnsupportedError(
                "a function that takes or captures references cannot be exported",
                function=f"export of {traced.name}",
                fix="pass the contents as arrays, and return the new ones",
            )
        if traced.closed.effects & EFFECTS:  # of references that the function creates
            traced = copy.copy(traced)
            traced.closed = traced.closed.map_jaxpr(discharge_all)
        operands = jit_shardings.of_structs(leaves, traced.closed.in_avals)
        committed = fun_jit._operand_placement(operands, tree, args, kwargs, lowered=traced)
        placement, results = fun_jit._placement_of(traced, committed, lowered=True)
        names = positional_names(fun_jit._fun, len(args))
        given = tuple(
            (name if isinstance(name, str) else names[name], static.value)
            for name, static in statics
            if dims.is_dim(static.value)
        )
        # lowered in the context in which it is compiled, maybe `exact`
        with fun_jit._context, dims.assumptions() as while_lowering:
            exported = _exported(
                traced.name,
                traced.closed,
                tree,
                traced.out_tree,
                fun_jit._paths(args, kwargs),
                given,
                list(assumed),
                chosen,
                disabled_checks,
                (placement, results) if isinstance(placement, Placement) else None,
            )
        return exported, {str(a) for a in (*assumed, *while_lowering)}

    def exporting(*args: Any, **kwargs: Any) -> Exported:
        exported, made = once(args, kwargs)
        code = exported._code
        if others := [a for a in code.assumptions if str(a) not in made]:
            # of traces that were reused, or of other exports with the same sizes
            scope: Any = code.variables[0].scope
            alone = _assumptions_alone(once, args, kwargs, scope.constraints)
            made |= set(map(str, others)) if alone is None else alone
            if strict and (refused := [a for a in others if str(a) in made]):
                raise _assumed_before(refused[0])
            code.assumptions = tuple([a for a in code.assumptions if str(a) in made])
        return exported

    return exporting


_alone, _numbers = make_user_context(), itertools.count()


def _assumptions_alone(
    once: Callable[[Any, Any], tuple[Exported, set[str]]],
    args: Any,
    kwargs: Any,
    constraints: Sequence[str],
) -> set[str] | None:
    """Export for sizes of a new scope, in which nothing is remembered; return the assumptions.

    None if that is impossible: the function may use sizes of its own scope that are no arguments.
    """
    other = SymbolicScope(constraints)
    renamed: dict[str, Any] = {}

    def size(d: Any) -> Any:
        for name in dims.variables(d):
            renamed.setdefault(name, other.read(name))
        return dims.substitute(d, renamed)

    def leaf(x: Any) -> Any:
        if dims.is_dim(x):
            return size(x)
        shape = getattr(x, "shape", ())
        return x.update(shape=tuple(map(size, shape))) if any(map(dims.is_dim, shape)) else x

    try:
        # inner functions, too, are traced again: they may compare sizes that none of their arguments has
        with _alone(next(_numbers)):
            return once(*trees.map(leaf, (args, kwargs)))[1]
    except Exception:  # whatever a function raises that mixes sizes of two scopes
        return None


def _checked_platforms(platforms: Sequence[str] | None) -> tuple[str, ...]:
    if platforms is None:
        return (default_export_platform(),)
    if isinstance(platforms, str) or not all(isinstance(p, str) for p in platforms):
        raise ArgumentError.about(
            "export",
            "platforms",
            platforms,
            f"a sequence of names, of {', '.join(devices.LOWERING_PLATFORMS)}",
        )
    names = tuple(dict.fromkeys({"gpu": "cuda"}.get(p, p) for p in platforms))
    unknown = [p for p in names if p not in devices.LOWERING_PLATFORMS]
    if unknown or not names:
        raise ArgumentValueError.about(
            "export",
            "platforms",
            list(platforms),
            f"some of {', '.join(devices.LOWERING_PLATFORMS)}",
        )
    return names


def default_export_platform() -> str:
    """Return the default platform of `export`: that of the default device.

    >>> from sagax import export
    >>> export.default_export_platform() in ("cpu", "cuda", "rocm", "tpu")
    True
    """
    name = devices.default_backend()
    return {"gpu": "cuda"}.get(name, name)


def _exported(
    name: str,
    closed: ClosedJaxpr,
    in_tree: Any,
    out_tree: Any,
    labels: Sequence[str],
    given: Sequence[tuple[str, Any]],
    assumptions: Sequence[Any],
    platforms: Sequence[str],
    disabled_checks: Sequence[DisabledSafetyCheck],
    placement: tuple[Placement, Sequence[Any]] | None,
) -> Exported:
    in_avals, out_avals = [
        [a if a.explicit_sharding is None else a.update(sharding=None) for a in avals]
        for avals in (closed.in_avals, closed.out_avals)
    ]
    labels = _argument_labels(in_tree)
    scope = _scope_of(name, in_avals, labels, given)
    names = _check_variables(closed, in_avals, labels, given)
    if scope is not None:
        _check_constraints(scope, names)
    variables: list[Any] = [scope.read(n) for n in sorted(names)] if scope is not None else []
    jaxpr = prune_jaxpr(closed.jaxpr)
    used = used_inputs(jaxpr)
    kept = [i for i, u in enumerate(used) if u]
    jaxpr = jaxpr.replace(invars=[jaxpr.invars[i] for i in kept])
    shardings = partitioning = in_out_shardings = None
    if placement is not None:
        ins, outs = in_out_shardings = _shardings(closed, *placement)
        shardings = Shardings(placement[0].devices, [ins[i] for i in kept], outs)
        partitioning = Partitioning(len(placement[0].devices), _abstract(ins), _abstract(outs))
    if jaxpr.effects:
        raise _no_callbacks(name)
    consts = [np.asarray(as_array(c)) for c in closed.consts]
    modules = {}
    for platform in platforms:
        text, callbacks = lower_jaxpr(
            jaxpr,
            platform=platform,
            name=name,
            dim_variables=variables,
            consts=consts,
            shardings=shardings,
            bars=False,
            lasting=True,
        )
        if callbacks:
            raise _no_callbacks(name)
        modules[platform] = text
        _check_custom_calls(name, text, disabled_checks)
    noted = dict.fromkeys(map(_located, (*assumptions, *_noted(scope, names))))
    code = ExportedCode(
        name,
        labels,
        in_avals,
        out_avals,
        variables,
        given,
        modules,
        kept,
        list(noted),
        any_platform=DisabledSafetyCheck.platform() in disabled_checks,
        partitioning=partitioning,
    )

    def make_vjp(exported: Exported) -> Exported:
        return _export_vjp(exported, closed, in_out_shardings)

    return Exported(code, in_tree, out_tree, disabled_checks, make_vjp)


def _shardings(closed: ClosedJaxpr, placement: Placement, results: Sequence[Any]) -> tuple:
    """Return the shardings of arguments and results on several devices; None: chosen by XLA."""
    ins = placement.shardings[len(closed.consts) :]
    outs = [
        typed_result(a, placement.mesh) if s is None else s
        for a, s in zip(closed.out_avals, results or [None] * len(closed.out_avals), strict=True)
    ]
    return ins, outs


def _abstract(shardings: Sequence[Any]) -> tuple:
    """Replace meshes by abstract ones."""
    return tuple([s and NamedSharding(s.mesh.abstract_mesh, s.spec) for s in shardings])


def _argument_labels(in_tree: Any) -> list[str]:
    """Label the arguments for specifications and errors: args[0]['w'], kwargs['x'], ..."""
    args, kwargs = trees.of_objects(in_tree)
    return [
        trees.argument_path(name, path)
        for name, part in (("args", args), ("kwargs", kwargs))
        for path in trees.key_paths(part)
    ]


def _scope_of(
    name: str, avals: Sequence[Any], labels: Sequence[str], given: Sequence[tuple[str, Any]]
) -> SymbolicScope | None:
    """Return the scope of all symbolic sizes of the arguments."""
    first = None
    for label, sizes in (
        *zip(labels, [a.shape for a in avals], strict=True),
        *[(key, (size,)) for key, size in given],
    ):
        for d in filter(dims.is_dim, sizes):
            if first is None:
                first = label, d
            elif d.scope is not first[1].scope:
                raise ArgumentValueError(
                    f"Invalid mixing of symbolic scopes when exporting {name}: '{first[1]}' ({first[0]}) belongs to "
                    f"{first[1].scope.name} and '{d}' ({label}) to another, {d.scope.name}.\n"
                    "Every call of symbolic_shape without scope= makes a new scope, in which a name means another size.",
                    fix="give all specifications one scope: symbolic_shape(..., scope=scope), or use symbolic_args_specs",
                )
    return None if first is None else first[1].scope


def _noted(scope: SymbolicScope | None, names: Iterable[str]) -> list:
    """Return the assumptions in this scope, of traces that may be reused, about the variables with these names."""
    known = frozenset(names)
    noted = () if scope is None else scope.noted
    return [a for a in noted if dims.variables(a.lhs) | dims.variables(a.rhs) <= known]


def _assumed_before(noted: Any) -> InconclusiveDimensionOperation:
    """Return the error of a strict export that reuses a trace, which made this assumption for another export."""
    where = getattr(_located(noted), "where", None)
    kind = {"!=": "=="}.get(noted.kind, noted.kind)
    scope = next(d for d in (noted.lhs, noted.rhs) if dims.is_dim(d)).scope
    return InconclusiveDimensionOperation(
        f"{scope.inconclusive(noted.lhs, kind, noted.rhs)}\n"
        f"It was asked before, for a program that may be used again here{f': {where}' if where else ''}.\n"
        "A strict export wants sizes of a scope in which nothing was taken for granted yet."
    )


def _located(assumption: Any) -> Any:
    """Return the assumption with the user's source line as text instead of frames."""
    where = assumption.where
    if where is None or isinstance(where, str):
        return assumption
    span = spans.user_span(where)
    text = None if span is None else f"{spans.display_path(span.file)}:{span.line}: {span.text}"
    return dataclasses.replace(assumption, where=text)


def _check_variables(
    closed: ClosedJaxpr, in_avals: Sequence[Any], labels: Sequence[str], given: Sequence[tuple]
) -> set[str]:
    """Return the names of the symbolic sizes; the arguments must determine each."""
    names = {n for a in in_avals for d in a.shape for n in dims.variables(d)}
    names |= {n for _, d in given for n in dims.variables(d)}
    unknown = [n for a in _avals_of(closed) for d in a.shape for n in dims.variables(d) - names]
    if unknown:
        first = min(unknown)
        raise DimensionVariableError(
            f"Encountered dimension variable '{first}' that is not appearing in the shapes of the function arguments",
            fix=f"pass it as a static argument, or add an argument with a dimension of size {first}",
        )
    specs = [a.shape for a in in_avals] + [(d,) for _, d in given]
    stuck = dims.unsolvable(specs)
    if stuck:
        shapes = ", ".join(
            f"{label}.shape = {dims.shape_text(a.shape)}"
            for label, a in zip(labels, in_avals, strict=True)
            if not dims.is_static(a.shape)
        )
        raise ArgumentValueError(
            f"Cannot solve for values of dimension variables {set(stuck)}.\n"
            f"Using the following polymorphic shapes specifications: {shapes}.",
            fix="add an argument with a dimension of that size, or a constraint that settles it",
        )
    return names


def _check_constraints(scope: Any, names: set[str]) -> None:
    """Refuse bounds in terms of sizes that no argument has: calls could not check them."""
    for relation in scope.relations:
        unknown = dims.variables(relation.difference) - names
        if unknown and relation.op != "==" and dims.variables(relation.difference) & names:
            raise DimensionVariableError(
                f"Encountered dimension variable '{min(unknown)}' that is not appearing in the shapes of the function"
                f" arguments, in the constraint {relation.text!r}",
                fix="leave out the constraint, or add an argument with a dimension of that size",
            )


def _avals_of(closed: ClosedJaxpr) -> set:
    """Return the types of all values of a jaxpr that have symbolic sizes."""
    todo, found = [closed.jaxpr], set()
    while todo:
        jaxpr = todo.pop()
        found.update([v.aval for v in jaxpr.outvars])
        for eqn in jaxpr.eqns:
            for v in eqn.outvars:
                found.add(v.aval)
            if eqn.primitive.is_higher_order:
                todo += subjaxprs(eqn.params)
    return {a for a in found if not dims.is_static(a.shape)}


def _no_callbacks(name: str) -> UnsupportedError:
    return UnsupportedError(
        "calls of Python functions (pure_callback, debug.print, ...) cannot be exported",
        function=f"export of {name}",
        fix="leave them out of the exported function",
    )


def _check_custom_calls(name: str, text: str, disabled: Sequence[DisabledSafetyCheck]) -> None:
    if "custom_call" not in text:
        return
    allowed = {c.is_custom_call() for c in disabled}
    refused = [
        target
        for target in xla.mlir.custom_call_targets(text)
        if target not in allowed
        and target not in _LASTING_NAMES
        and not target.startswith(_LASTING)
    ]
    if refused:
        raise ArgumentValueError(
            f"Cannot serialize code with custom calls whose targets have no compatibility guarantees: {', '.join(refused)}",
            function=f"export of {name}",
            fix=f"disabled_checks=[export.DisabledSafetyCheck.custom_call({refused[0]!r})]",
        )


def _export_vjp(exported: Exported, closed: ClosedJaxpr, shardings: tuple | None) -> Exported:
    code = exported._code
    with_cotangent = [a for a in code.out_avals if has_tangent(a)]
    n = len(code.in_avals)

    def pull_back(*xs: Any, **_: Any) -> tuple:
        args, given = xs[:n], list(xs[n:])
        positions = [i for i, a in enumerate(code.in_avals) if has_tangent(a)]

        def fix_other_arguments(*some: Any) -> list:
            full = list(args)
            for i, x in zip(positions, some, strict=True):
                full[i] = x
            outs = eval_jaxpr(closed.jaxpr, closed.consts, *full)
            return [o for o, a in zip(outs, code.out_avals, strict=True) if has_tangent(a)]

        _, pull = vjp(fix_other_arguments, *[args[i] for i in positions])
        return tuple(pull(given))

    pull_back.__name__ = f"{code.name}_vjp"
    avals = [a.strip_weak_type() for a in (*code.in_avals, *with_cotangent)]
    in_out_shardings: list = [None] * len(avals)
    if shardings is not None:  # cotangents are sharded like their primals
        ins, outs = shardings
        in_out_shardings = [
            *ins,
            *[s for s, a in zip(outs, code.out_avals, strict=True) if has_tangent(a)],
        ]
        result_shardings = tuple(
            [s for s, a in zip(ins, code.in_avals, strict=True) if has_tangent(a)]
        )
    specs = [
        ShapeDtypeStruct(a.shape, a.dtype, sharding=s)
        for a, s in zip(avals, in_out_shardings, strict=True)
    ]
    given = dict(code.given)
    fun = jit(
        pull_back,
        static_argnames=tuple(given),
        out_shardings=None if shardings is None else result_shardings,
    )
    platforms = exported.platforms
    found = export(fun, platforms=platforms, disabled_checks=exported.disabled_safety_checks)(
        *specs, **given
    )
    return found


def deserialize(blob: bytes | bytearray) -> Exported:
    """Deserialize the bytes of `Exported.serialize`; no code runs until the function is called.

    Raises ArgumentValueError for bytes that are no exported function, are incomplete or damaged, or
    were written by a version that is newer than this one can read.

    >>> from sagax import export
    >>> blob = export.export(sagax.jit(lambda x: 2 * x))(1.0).serialize()
    >>> export.deserialize(blob).call(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    found: Exported | None = None
    for parts in reversed(export_format.read(blob)):
        checks = [DisabledSafetyCheck(c) for c in parts.disabled_checks]
        make_vjp = None if found is None else functools.partial(_given, found)
        found = Exported(parts.code, parts.in_tree, parts.out_tree, checks, make_vjp)
    assert found is not None
    return found


def _given(derivative: Exported, _: Exported) -> Exported:
    return derivative


# specifications -----------------------------------------------------------------------------------------


def is_symbolic_dim(p: Any) -> bool:
    """Return whether a size is symbolic.

    >>> from sagax import export
    >>> b, n = export.symbolic_shape("b, 3")
    >>> export.is_symbolic_dim(b), export.is_symbolic_dim(n)
    (True, False)
    """
    return dims.is_dim(p)


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """Convert `args` to `ShapeDtypeStruct`s with symbolic shapes.

    `shapes_specs` is a pytree of specifications (see `symbolic_shape`) or None, a prefix of `args`:
    one specification stands for all arrays beneath it. '...' and '_' are filled in from the shapes of
    `args`. All belong to one scope, `scope` or a new one with the `constraints`.

    >>> from sagax import export
    >>> export.symbolic_args_specs([np.ones((4, 3)), np.ones(3)], ["b, ...", "..."])
    [ShapeDtypeStruct(shape=(b, 3), dtype=float32), ShapeDtypeStruct(shape=(3,), dtype=float32)]
    """
    leaves, tree = trees.flatten(args)
    found = trees.prefix_mismatch(
        shapes_specs, args, "shapes_specs", "args", is_leaf=_is_specification
    )
    if found:
        raise ArgumentValueError(
            f"shapes_specs must be a tree prefix of args: {found[0]}",
            function="symbolic_args_specs",
            argument="shapes_specs",
            fix="give one specification for all arrays, or a prefix of the structure of args",
        )
    specs = trees.broadcast_prefix(shapes_specs, args, is_leaf=_is_specification)
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ArgumentValueError(
            "Cannot specify both a scope and constraints: a scope has its own constraints",
            function="symbolic_args_specs",
        )
    out = []
    for x, spec in zip(leaves, specs, strict=True):
        shape = tuple(x.shape) if hasattr(x, "shape") else np.shape(x)
        found = dims.symbolic_shape(spec, scope=scope, like=shape)
        dtype = x.dtype if hasattr(x, "dtype") else aval_of(x).dtype
        if not dtypes.is_extended(dtype):
            dtype = dtypes.canonicalize(np.dtype(dtype), config.current().x64)
        out.append(ShapeDtypeStruct(found, dtype))
    return tree.unflatten(out)


def _is_specification(x: Any) -> bool:
    return x is None or isinstance(x, str)


def symbolic_dim_bounds(dimension: Any) -> tuple[int | float, int | float]:
    """Return the lower and upper bound of a size, both included; infinite if there is none.

    They are tight where sizes and constraints are linear, else possibly wider. Raises TypeError for
    a value that is neither an integer nor a symbolic size.

    >>> from sagax import export
    >>> a, b = export.symbolic_shape("a, b", constraints=["a >= b + 2", "b <= 7"])
    >>> export.symbolic_dim_bounds(a - b), export.symbolic_dim_bounds(b % 3)
    ((2, inf), (0, 2))
    """
    lo, hi = dims.bounds(dimension if dims.is_dim(dimension) else operator.index(dimension))
    return -math.inf if lo is None else lo, math.inf if hi is None else hi
