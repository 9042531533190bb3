"""Define primitives that constrain the shardings of values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src import config
from sagax._src.core import memory_spaces, meshes
from sagax._src.core.avals import Space
from sagax._src.core.effects import Effect
from sagax._src.core.families import OPAQUE
from sagax._src.core.layouts import Format
from sagax._src.core.meshes import UNCONSTRAINED, AbstractMesh, AxisType, PartitionSpec
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.shardings import (
    NamedSharding,
    Sharding,
    ShardingError,
    ShardingTypeError,
    SingleDeviceSharding,
    shown_in_type,
    shown_over,
    without_dimension,
)
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.errors import ArgumentError, SagaxError
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.core import sharding_rules


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
    if isinstance(sharding, NamedSharding) and sharding.spec.unreduced:
        _check_sharded(function, operands, sharding.spec)
        if state.trace is evaluation and sockets.compiled_with_out_sharding is not None:
            # operation by operation, the sum would be added up, and divided again
            return sockets.compiled_with_out_sharding(function, op, operands, sharding)
    out = op(*[left_to_compiler(x) for x in operands])
    if not isinstance(sharding, NamedSharding):
        return out
    try:
        sharding.check_shape(aval_of(out).shape)
    except SagaxError as error:
        raise error.attach(function=function, argument="out_sharding") from None
    found = reshard_p.bind(out, sharding=sharding)
    if config.thread.settings.no_collectives:
        sharding_rules.check_no_collectives(
            function, [x.aval for x in operands if hasattr(x, "aval")], [aval_of(found)]
        )
    return found


def _check_sharded(function: str, operands: Sequence[Any], spec: PartitionSpec) -> None:
    """Raise unless the axes along which a result is unreduced divide dimensions of operands."""
    avals = [x.aval for x in operands if hasattr(x, "aval")]
    shown = [a.explicit_sharding.spec.used_axes() for a in avals if a.explicit_sharding is not None]
    missing = spec.unreduced.difference(*shown)
    if avals and missing:
        words = ", ".join(sorted(map(repr, missing)))
        raise ShardingTypeError(
            "out_sharding's unreduced axes should be equal to the contracting specs: no dimension that is summed is "
            f"divided along {words}",
            function=function,
            argument="out_sharding",
            got=f"{spec!r} for {', '.join(a.str_short(short_dtypes=False) for a in avals)}",
            fix=f"leave {words} out of unreduced, or divide the summed dimension along it",
        )


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
        if is_zero(ct):
            return [ct]
        shown = x.aval.explicit_sharding
        if shown is not None and (shown.spec.partial or sharding.spec.partial):
            return [ct]  # `backward` reshards it as the cotangents of the operand
        return [p.bind(ct, sharding=sharding)]

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


# Memory ----------------------------------------------------------------------------------------------

device_put_p = Primitive(
    "device_put", family=OPAQUE, creates_nan=False, cost=0, samples=[Sample(f32(3), kind="device")]
)
device_put_p.sets_memory_space = device_put_p.sets_sharding = True
device_put_p.reference_rule = lambda x, kind: x


@device_put_p.abstract
def _(x: Any, *, kind: str) -> Any:
    return x.with_memory_space(memory_spaces.space_of_kind(kind))


@device_put_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, kind: str) -> tuple:
    (x,), (t,) = primals, tangents
    out = device_put_p.bind(x, kind=kind)
    moved = Zero.like(aval_of(out)) if is_zero(t) else device_put_p.bind(t, kind=kind)
    return out, moved


@device_put_p.transpose
def _(ct: Any, x: Any, *, kind: str) -> list:
    return [in_memory_space(ct, x.aval.memory_space)]


@device_put_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, kind: str) -> tuple:
    return device_put_p.bind(args[0], kind=kind), in_dims[0]


@device_put_p.lower
def _(b: Any, x: Any, *, kind: str) -> Any:
    if (
        b.module.platform == "cpu"
    ):  # all memories are the host's: only arguments and results name theirs
        return x
    return b.custom_call(
        "annotate_device_placement",
        [x],
        [b.out],
        has_side_effect="true",
        mhlo__frontend_attributes=f'{{_xla_buffer_placement = "{kind}"}}',
    )[0]


def in_memory_space(x: Any, space: Any) -> Any:
    """Move a value to a memory space, if it is elsewhere."""
    if is_zero(x):
        return Zero(x.aval.with_memory_space(space))
    if aval_of(x).memory_space is space:
        return x
    kind = memory_spaces.HOST_KIND if space is Space.Host else "device"
    return device_put_p.bind(x, kind=kind)


# Removal of shardings from types -------------------------------------------------------------------

forget_p = Primitive(
    "auto_axes", family=OPAQUE, creates_nan=False, samples=[Sample(f32(3, 4), mesh=_SAMPLE.mesh)]
)
forget_p.sets_sharding = True
forget_p.reference_rule = lambda x, mesh: x


@forget_p.lower
def _(b: Any, x: Any, *, mesh: Any) -> Any:
    shown = x.aval.explicit_sharding
    if shown is None or not shown.spec.unreduced:
        return x
    return b.constrained(x, shown.with_spec(shown.spec.update(unreduced=frozenset())))


@forget_p.abstract
def _(x: Any, *, mesh: Any) -> Any:
    """Return the type over a mesh of the same axes with fewer Explicit ones."""
    if x.explicit_sharding is None:
        return x
    return x.update(sharding=shown_over(mesh, x.explicit_sharding.spec, x.ndim))


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
