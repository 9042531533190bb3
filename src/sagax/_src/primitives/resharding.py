"""Define primitives that constrain the shardings of values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import config
from sagax._src.core import meshes
from sagax._src.core.effects import Effect
from sagax._src.core.families import OPAQUE
from sagax._src.core.layouts import Format
from sagax._src.core.meshes import UNCONSTRAINED, AbstractMesh, AxisType, PartitionSpec
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.sharding_rules import check_no_collectives
from sagax._src.core.shardings import (
    NamedSharding,
    Sharding,
    ShardingError,
    SingleDeviceSharding,
    shown_in_type,
    without_dimension,
)
from sagax._src.core.tangents import is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, SagaxError


class MissingMeshError(SagaxError, RuntimeError, ValueError):
    """A bare `PartitionSpec` was used without a current mesh."""

    code = "SX0214"


MissingMeshError.__module__ = "sagax.errors"  # the public module


def resolved(given: Any, function: str, argument: str, mesh: Any = None) -> Sharding | None:
    """Resolve a sharding: a `PartitionSpec` refers to the current mesh (or else to `mesh`), a device
    is a sharding of its own."""
    if isinstance(given, Format):
        given = given.sharding
    if given is None or isinstance(given, Sharding):
        return given
    if isinstance(given, PartitionSpec):
        found = meshes.concrete_mesh() or meshes.get_abstract_mesh()
        if found.empty:
            found = mesh
        if found is None or found.empty:
            raise MissingMeshError(
                f"{function} requires a non-empty mesh in context if you are passing "
                f"`PartitionSpec`s to {argument}",
                got=repr(given),
                fix=f"call it inside `with sagax.set_mesh(mesh):`, or pass NamedSharding(mesh, {given!r})",
            )
        try:
            return NamedSharding(found, given)
        except SagaxError as error:
            raise error.attach(function=function, argument=argument) from None
    if hasattr(given, "client"):
        return SingleDeviceSharding(given)
    raise ArgumentError.about(
        function, argument, repr(given), "a sharding, a PartitionSpec, None, or a pytree of these"
    )


def check_not_manual(sharding: NamedSharding, **facts: Any) -> None:
    """Raise a ValueError for a sharding, inside of `shard_map`, along axes that it maps."""
    manual = meshes.get_abstract_mesh().manual_axes
    used = [n for n in sharding.spec.used_axes() if n in manual]
    if used:
        spec = sharding.spec
        parts = [tuple([n for n in spec.axes(i) if n not in used]) for i in range(len(spec))]
        while parts and not parts[-1]:
            parts.pop()
        words = ", ".join(map(repr, used))
        raise ShardingError(
            f"inside of shard_map each device has its own part along {words} already: such an axis, of type Manual, "
            "cannot divide the part again",
            **{
                "expected": f"axes other than {', '.join(map(repr, manual))}",
                "got": repr(spec),
                "fix": f"use {PartitionSpec(*parts)!r}, or call it outside of shard_map",
                "spec": spec,
                "mesh": sharding.mesh,
                **facts,
            },
        )


def mesh_in_types(values: Sequence[Any]) -> Any:
    """Return the mesh of the first value that shows one in its type, or None."""
    for x in values:
        sharding = getattr(getattr(x, "aval", None), "sharding", None)
        if sharding is not None:
            return sharding.mesh
    return None


def with_out_sharding(
    function: str, op: Callable[..., Any], operands: Sequence[Any], out_sharding: Any
) -> Any:
    """Bind `op(*operands)`, with the result sharded by `out_sharding`; inside, the compiler chooses."""
    if out_sharding is None:
        return op(*operands)
    mesh = mesh_in_types(operands)
    sharding = resolved(out_sharding, function, "out_sharding", mesh)
    out = op(*[left_to_compiler(x) for x in operands])
    if not isinstance(sharding, NamedSharding):
        return out
    try:
        sharding.check_shape(aval_of(out).shape)
    except SagaxError as error:
        raise error.attach(function=function, argument="out_sharding") from None
    found = reshard_p.bind(out, sharding=sharding)
    if config.thread.settings.no_collectives:
        check_no_collectives(function, [aval_of(x) for x in operands], [aval_of(found)])
    return found


def takes_out_sharding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add an argument `out_sharding`, the sharding of the result, to `function`."""

    @functools.wraps(function)
    def call(*args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        if out_sharding is None:
            return function(*args, **kwargs)
        name = function.__name__
        return with_out_sharding(name, lambda *xs: function(*xs, **kwargs), args, out_sharding)

    return call


def left_to_compiler(x: Any, names: Sequence[Any] | None = None) -> Any:
    """Remove these axes of the mesh (default: all) from the type of a value."""
    sharding = getattr(getattr(x, "aval", None), "sharding", None)
    if sharding is None:
        return x
    mesh = sharding.mesh
    changed = dict.fromkeys(mesh.axis_names if names is None else names, AxisType.Auto)
    return forget_p.bind(x, mesh=mesh.update_axis_types(changed))


_SAMPLE = NamedSharding(AbstractMesh((1,), ("x",), (AxisType.Auto,)), PartitionSpec("x"))


def _primitive(name: str, open_entry: Any, **answers: Any) -> Primitive:
    """Define an identity that fixes a sharding; a mapped dimension gets the entry `open_entry`."""
    p = Primitive(
        name,
        family=OPAQUE,
        creates_nan=False,
        **answers,
        samples=[Sample(f32(3, 4), sharding=_SAMPLE)],
    )
    p.sets_sharding = True
    p.reference_rule = lambda x, sharding: x

    @p.abstract
    def _(x: Any, *, sharding: NamedSharding) -> Any:
        check_not_manual(sharding)
        shown = shown_in_type(sharding, x.ndim)
        return x if x.explicit_sharding is shown else x.update(sharding=shown)

    @p.jvp
    def _(primals: Sequence[Any], tangents: Sequence[Any], *, sharding: NamedSharding) -> tuple:
        (x,), (t,) = primals, tangents
        return p.bind(x, sharding=sharding), t if is_zero(t) else p.bind(t, sharding=sharding)

    @p.transpose
    def _(ct: Any, x: Any, *, sharding: NamedSharding) -> list:
        return [ct if is_zero(ct) else p.bind(ct, sharding=sharding)]

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, sharding: Any) -> tuple:
        (x,), (d,) = args, in_dims
        parts = list(sharding.spec) + [None] * (d - len(sharding.spec))
        entry = open_entry if axis.spmd_name is None else axis.spmd_name
        shown = aval_of(x).explicit_sharding
        if shown is not None and shown.spec.axes(d):
            entry = shown.spec.axes(d)
        elif axis.cut is not None and not set(axis.cut[1]) & set(sharding.spec.used_axes()):
            entry = axis.cut[1]  # the type of `x` may have no sharding
        parts.insert(d, entry)
        spec = sharding.spec.update(partitions=tuple(parts))
        return p.bind(x, sharding=sharding.with_spec(spec)), d

    @p.lower
    def _(b: Any, x: Any, *, sharding: NamedSharding) -> Any:
        return b.constrained(x, sharding)

    @p.show
    def _(*, sharding: NamedSharding) -> dict:
        return {"sharding": sharding.spec}

    return p


sharding_constraint_p = _primitive("sharding_constraint", UNCONSTRAINED, cost=0)
reshard_p = _primitive("reshard", None)


# Removal of shardings from types -------------------------------------------------------------------

forget_p = Primitive(
    "auto_axes", family=OPAQUE, creates_nan=False, samples=[Sample(f32(3, 4), mesh=_SAMPLE.mesh)]
)
forget_p.sets_sharding = True
forget_p.reference_rule = lambda x, mesh: x
forget_p.lower_rule = lambda b, x, mesh: x


@forget_p.abstract
def _(x: Any, *, mesh: Any) -> Any:
    """Return the type over a mesh of the same axes of which fewer are Explicit."""
    if x.explicit_sharding is None:
        return x
    return x.update(sharding=shown_in_type(NamedSharding(mesh, x.explicit_sharding.spec), x.ndim))


@forget_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, mesh: Any) -> tuple:
    (x,), (t,) = primals, tangents
    return forget_p.bind(x, mesh=mesh), t if is_zero(t) else forget_p.bind(t, mesh=mesh)


@forget_p.transpose
def _(ct: Any, x: Any, *, mesh: Any) -> list:
    return [ct]  # `add_tangents` reshards it as the operand


@forget_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, mesh: Any) -> tuple:
    return forget_p.bind(*args, mesh=mesh), in_dims[0]


# Inspection of shardings: a callback at compile time --------------------------------------------------

INSPECTED = "sagax_inspected"  # marks values whose sharding is inspected
_LOOKS = frozenset({Effect("inspect_sharding")})

inspect_sharding_p = Primitive(
    "inspect_sharding", family=OPAQUE, multiple_results=True, is_higher_order=True
)
inspect_sharding_p.sets_sharding = True
inspect_sharding_p.abstract_rule = lambda x, callback: []
inspect_sharding_p.reference_rule = lambda x, callback: []
inspect_sharding_p.effects_rule = lambda callback: _LOOKS
inspect_sharding_p.show_rule = lambda callback: {}


@inspect_sharding_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, callback: Callable) -> tuple:
    return inspect_sharding_p.bind(*primals, callback=callback), []


@inspect_sharding_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, callback: Callable) -> tuple:
    (x,), (d,) = args, in_dims

    def of_one(sharding: Any) -> None:
        named = isinstance(sharding, NamedSharding)
        callback(without_dimension(sharding, d) if named else sharding)

    return inspect_sharding_p.bind(x, callback=of_one), []


@inspect_sharding_p.lower
def _(b: Any, x: Any, *, callback: Callable) -> list:
    mark = f'{{{INSPECTED} = "{len(b.module.inspected)}"}}'
    b.module.inspected.append(callback)
    seen = b.op("optimization_barrier", [x], x.aval, mhlo__frontend_attributes=mark)
    # A comment, except when shardings are propagated for inspection: then the value must be used.
    attributes = 'call_target_name = "look", has_side_effect = true'
    use = f'"stablehlo.custom_call"({seen.name}) {{{attributes}}} : ({seen.type}) -> ()'
    b.lines.append(f"{b.pad}// {INSPECTED} {use}")
    return []
