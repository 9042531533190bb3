"""Implement `shard_map`: map a function over shards, one per device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.api import arguments
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core import dims, meshes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.high_types import HiPspec
from sagax._src.core.meshes import AbstractMesh, Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding, ShardingError, check_axes
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.boundary import function_name, tracing
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.float0_leaves import NoTangent, is_no_tangent
from sagax._src.higher_order.shard_map import Region
from sagax._src.higher_order.trace_bodies import trace_body


class InferFromArguments:
    """The type of `Infer`, a value of `in_specs`: take the specifications from the argument types."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Infer"

    def __reduce__(self) -> str:
        return "Infer"


Infer = InferFromArguments()


def _is_spec(x: Any) -> bool:
    return x is None or isinstance(x, (PartitionSpec, HiPspec))


def shard_map(
    f: Callable | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Map a function `f` over shards: lift it from one device's shards to whole arrays.

    Each device of the mesh runs `f` on its shards. `lax.psum`, `lax.ppermute` and the other collectives exchange values
    along the axes of the mesh, by their names. Use it as a function, or as a decorator with the options alone.

    Args:
      in_specs: for each positional argument a `PartitionSpec`, or a pytree of them, of them: each axis of the mesh in it splits its dimension. The array is replicated along the other axes. None: the argument is passed as it is. Left out: as the arguments are sharded (Explicit axes).
      out_specs: how the results of the devices are concatenated. An axis not named means that all devices along it have
        the same result.
      mesh: the devices; the mesh in force (`sagax.set_mesh`) if left out.
      axis_names: the axes along which `f` is written for one device; all if left out. The compiler shards along the others.
      check_vma: track in types the axes along which values vary between devices (`sagax.typeof(x).vma`), check
        `out_specs` with them, and sum cotangents where values are the same.

    Raises:
      ValueError: a specification does not fit the argument, the result or the mesh; says which would.

    >>> from sagax.sharding import PartitionSpec as P
    >>> mesh = sagax.make_mesh((1,), ("x",))
    >>> total = sagax.shard_map(lambda x: lax.psum(x.sum(), "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    >>> total(snp.arange(4.0))
    Array(6., dtype=float32)
    """
    if f is None:
        return functools.partial(
            shard_map,
            out_specs=out_specs,
            in_specs=in_specs,
            mesh=mesh,
            axis_names=axis_names,
            check_vma=check_vma,
        )
    arguments.check_callable(f, "shard_map")
    fun = f
    checks.instance(
        "shard_map",
        "mesh",
        mesh,
        (Mesh, AbstractMesh, type(None)),
        "a Mesh, such as sagax.make_mesh((8,), ('x',))",
        show=kind_of,
    )
    if isinstance(in_specs, list):
        in_specs = tuple(in_specs)
    for name, specs in (("in_specs", in_specs), ("out_specs", out_specs)):
        _check_specs(name, specs)

    @wraps(fun)
    def mapped(*args: Any) -> Any:
        region = Region(*_axes(fun, mesh, axis_names), bool(check_vma))
        return _apply(fun, region, in_specs, out_specs, args)

    return mapped


def _check_specs(name: str, specs: Any) -> None:
    for leaf in trees.leaves((specs,), is_leaf=_is_spec):
        if not (_is_spec(leaf) or leaf is Infer):
            raise ArgumentError(
                f"shard_map {name} must be a PartitionSpec or a pytree of them",
                function="shard_map",
                argument=name,
                got=kind_of(leaf),
                expected="a PartitionSpec",
                fix=f"write PartitionSpec({leaf!r})" if isinstance(leaf, str) else None,
            )


def _axes(fun: Callable, mesh: Any, axis_names: Any) -> tuple[Any, frozenset]:
    """Return the mesh, and its manual axes."""
    mesh_in_force = meshes.get_abstract_mesh()
    if mesh is None:
        mesh = meshes.concrete_mesh() or mesh_in_force
        if mesh.empty:
            raise ArgumentValueError(
                "there is no mesh",
                function=f"shard_map of {function_name(fun)}",
                argument="mesh",
                got=None,
                expected="a mesh of devices",
                fix="pass mesh=sagax.make_mesh(...), or call it under sagax.set_mesh(mesh)",
            )
    elif not mesh_in_force.empty and mesh_in_force.shape_tuple != mesh.shape_tuple:
        raise ShardingError(
            f"The mesh passed to shard_map, {mesh!r}, is not the one in force, {mesh_in_force!r}",
            function=f"shard_map of {function_name(fun)}",
            fix="leave out mesh, or set the same one with sagax.set_mesh",
        )
    outer = frozenset(mesh_in_force.manual_axes)
    if isinstance(axis_names, str):
        axis_names = (axis_names,)
    manual = frozenset(axis_names) or frozenset(mesh.axis_names) - outer
    unknown = sorted(map(str, manual - frozenset(mesh.axis_names)))
    if unknown:
        raise ArgumentValueError(
            f"axis names {', '.join(map(repr, unknown))} are not those of the mesh",
            function=f"shard_map of {function_name(fun)}",
            argument="axis_names",
            got=repr(set(axis_names)),
            expected=f"some of {mesh.axis_names}, the axes of {mesh!r}",
        )
    already_manual = sorted(map(str, manual & outer))
    if already_manual or not manual:
        inside = ", ".join(map(repr, already_manual or sorted(map(str, outer))))
        raise ArgumentValueError(
            f"the shard_map around it maps {inside} already",
            function=f"shard_map of {function_name(fun)}",
            argument="axis_names",
            got=repr(set(axis_names)) if axis_names else "all axes of the mesh",
            expected="axes that no shard_map around it maps",
            fix="call the function directly: each device has its part already",
        )
    return mesh, manual


def _apply(fun: Callable, region: Region, in_specs: Any, out_specs: Any, args: tuple) -> Any:
    name = function_name(fun)
    label = f"shard_map of {name}"
    specs = _spread_in(fun, in_specs, args)
    leaves, tree = arguments.flatten_named(
        label, args, lambda: arguments.named_arguments(fun, args, {})
    )
    if any(map(is_no_tangent, leaves)):  # each device gets its part of the shape
        hidden = [
            NoTangent(
                x.shape
                if s is None or s is Infer
                else region.part(ShapedArray(x.shape, bool), s).shape
            )
            if is_no_tangent(x)
            else x
            for x, s in zip(leaves, specs, strict=True)
        ]
        specs = [s for x, s in zip(leaves, specs, strict=True) if not is_no_tangent(x)]
        args = tree.unflatten(hidden)
        leaves, tree = trees.flatten(args)
    paths = functools.cache(lambda: arguments.leaf_paths(fun, args, {}))
    mapped = [s is not None for s in specs]
    values = [x for x, m in zip(leaves, mapped, strict=True) if m]
    arguments.check_operands(
        [x if m else 0 for x, m in zip(leaves, mapped, strict=True)], paths, "shard_map", fun
    )
    operands = [
        x if hasattr(x, "aval") or aval_of(x).is_high else sockets.concrete(x) for x in values
    ]
    names = functools.cache(lambda: [p for p, m in zip(paths(), mapped, strict=True) if m])
    given = [s for s in specs if s is not None]
    with tracing(fun, "shard_map"):
        for i, (x, spec) in enumerate(zip(operands, given, strict=True)):
            if spec is Infer:
                given[i] = spec = _inferred(region, x, i, names, label)
            _check_input(region, aval_of(x), spec, i, names, label)
        avals = [region.part(aval_of(x), s) for x, s in zip(operands, given, strict=True)]
        others = tuple([x for x, m in zip(leaves, mapped, strict=True) if not m])
        body_tree, call, same = tree, fun, (fun,)
        if others:
            body_tree = trees.structure(tuple(operands))
            call, same = _with_fixed(fun, tree, leaves, mapped), (fun, tree, tuple(mapped), *others)
        with region.inside():
            body = trace_body(call, body_tree, avals, transform="shard_map", paths=names, same=same)
        out_tree = body.out_tree
        outs = body.jaxpr.out_avals
        result_specs = _spread_out(fun, out_specs, out_tree)
        for i, (aval, spec) in enumerate(zip(outs, result_specs, strict=True)):
            _check_output(region, aval, spec, i, out_tree, label)
        consts = [*body.consts, *operands]
        all_specs = [*[PartitionSpec()] * len(body.consts), *given]
        found = region.bind(body.jaxpr, consts, all_specs, result_specs, name)
    return out_tree.unflatten(found)


def _with_fixed(fun: Callable, tree: Any, leaves: Sequence[Any], mapped: Sequence[bool]) -> Any:
    """Fix the leaves of the arguments of `fun` that have no specification."""

    @wraps(fun)
    def partial(*parts: Any) -> Any:
        given = iter(parts)
        full = [next(given) if m else x for x, m in zip(leaves, mapped, strict=True)]
        return fun(*tree.unflatten(full))

    return partial


def _spread_in(fun: Callable, in_specs: Any, args: tuple) -> list:
    """Return the specification of each leaf of the arguments."""
    if in_specs is None or in_specs is Infer or isinstance(in_specs, (PartitionSpec, HiPspec)):
        return [in_specs] * len(trees.leaves(args))
    if isinstance(in_specs, tuple) and len(in_specs) != len(args):
        raise ArgumentValueError(
            f"shard_map in_specs has {len(in_specs)} entries, and {function_name(fun)} was called with "
            f"{len(args)} positional arguments",
            function=f"shard_map of {function_name(fun)}",
            argument="in_specs",
            got=in_specs,
            expected=f"an entry for each positional argument: {len(args)}",
        )
    names = arguments.positional_names(fun, len(args))
    specs: list = []
    for i, (entry, arg) in enumerate(zip(in_specs, args, strict=True)):
        try:
            specs.extend(trees.broadcast_prefix(entry, arg, is_leaf=_is_spec))
        except (ValueError, TypeError):
            found = trees.prefix_mismatch(entry, arg, f"in_specs[{i}]", names[i], is_leaf=_is_spec)
            raise ArgumentValueError(
                "shard_map in_specs must be a tree prefix of the arguments: "
                + "; ".join(map(str, found)),
                function=f"shard_map of {function_name(fun)}",
                argument=f"in_specs[{i}]",
                got=entry,
                expected=f"a prefix of the structure of {names[i]}",
            ) from None
    return specs


def _spread_out(fun: Callable, out_specs: Any, out_tree: Any) -> list:
    n = out_tree.num_leaves
    if isinstance(out_specs, (PartitionSpec, HiPspec)):
        return [out_specs] * n
    result = trees.of_objects(out_tree)
    try:
        found = trees.broadcast_prefix(out_specs, result, is_leaf=_is_spec)
    except (ValueError, TypeError):
        wrong = trees.prefix_mismatch(
            out_specs, out_tree, "out_specs", "the result", is_leaf=_is_spec
        )
        raise ArgumentValueError(
            f"shard_map out_specs must be a tree prefix of the result: {'; '.join(map(str, wrong))}",
            function=f"shard_map of {function_name(fun)}",
            argument="out_specs",
            got=out_specs,
            expected=f"a prefix of the structure of the result of {function_name(fun)}",
        ) from None
    return [PartitionSpec() if s is None else s for s in found]


def _inferred(
    region: Region, x: Any, i: int, names: Callable[[], Sequence[str]], label: str
) -> PartitionSpec:
    """Return how the type of an argument says that it is cut along the manual axes."""
    sharding = aval_of(x).explicit_sharding
    if sharding is None or not region.manual_axes.issubset(sharding.mesh.explicit_axes):
        raise ArgumentValueError(
            "without in_specs the axes that are mapped must be Explicit, so that types tell how arguments are cut",
            function=label,
            argument="in_specs",
            got=f"nothing, and {names()[i]} of type {aval_of(x).str_short(short_dtypes=False)}",
            expected="a PartitionSpec for each argument",
        )
    spec = sharding.spec
    return PartitionSpec(
        *[tuple([n for n in spec.axes(k) if n in region.manual_axes]) for k in range(len(spec))],
        **region.partial(aval_of(x)),
    )


def _check_axes(region: Region, spec: PartitionSpec, **facts: Any) -> None:
    try:
        check_axes(spec, region.mesh)
    except SagaxError as error:
        raise error.attach(**facts) from None
    other = [n for n in spec.used_axes() if n not in region.manual_axes]
    if other:
        parts = [tuple([n for n in spec.axes(k) if n not in other]) for k in range(len(spec))]
        while parts and not parts[-1]:
            parts.pop()
        kept = PartitionSpec(*parts)
        raise ArgumentValueError(
            f"{spec!r} names {', '.join(map(repr, other))}, along which the function is not written for one device",
            expected=f"axes among {tuple(n for n in region.mesh.axis_names if n in region.manual_axes)}",
            got=repr(spec),
            fix=f"use {kept!r}, or add the axes to axis_names",
            **facts,
        )


def _check_input(
    region: Region,
    aval: Any,
    spec: PartitionSpec,
    i: int,
    names: Callable[[], Sequence[str]],
    label: str,
) -> None:
    """Raise ValueError unless the argument can be sharded so."""
    if aval.is_high:
        _check_kind_of_spec(spec, function=label, argument=names()[i])
        return
    used = spec.used_axes()
    own = region.partial(aval)
    if spec.partial or any(own.values()):
        _check_partial(region, aval, spec, own, function=label, argument=names()[i])
    if len(spec) <= aval.ndim and region.manual_axes.issuperset(used) and _once(used):
        sizes = [(aval.shape[k], region.size(spec.axes(k))) for k in range(len(spec))]
        if all(n == 1 or (not dims.is_dim(size) and size % n == 0) for size, n in sizes):
            return
    facts = {"function": label, "argument": names()[i]}
    _check_axes(region, spec, **facts)
    NamedSharding(region.mesh, spec).check_shape(aval.shape, **facts)
    raise ArgumentValueError(
        "a dimension whose size is not known cannot be cut", got=aval, spec=spec, **facts
    )


def _check_kind_of_spec(spec: Any, **facts: Any) -> None:
    if not isinstance(spec, HiPspec):
        raise ArgumentValueError(
            "a value of a type that a library adds needs a spec of that library",
            got=repr(spec),
            expected="an object of a class derived from experimental.hijax.HiPspec",
            **facts,
        )


def _check_partial(
    region: Region, aval: Any, spec: PartitionSpec, own: dict[str, frozenset], **facts: Any
) -> None:
    """Raise ValueError unless a spec names the axes along which a type is unreduced, and reduced."""
    _check_axes(region, spec, **facts)
    given = {"unreduced": spec.unreduced, "reduced": spec.reduced}
    if not region.check_vma:
        raise ShardingError(
            "unreduced and reduced axes need types that tell which values vary",
            **{"got": repr(spec), "fix": "leave out check_vma=False", **facts},
        )
    NamedSharding(region.mesh, spec)  # which refuses axes of type Auto
    if given != own:
        raise ShardingError(
            f"{spec!r} does not match the unreduced and reduced axes of the type",
            expected=" and ".join(f"{word}={set(own[word]) or '{}'}" for word in given),
            got=aval.str_short(short_dtypes=False),
            fix="reshard the argument, or cast the result with lax.pcast, or name the axes that its type shows",
            **facts,
        )


def _once(names: Sequence[Any]) -> bool:
    return len(set(names)) == len(names)


def _check_output(
    region: Region, aval: Any, spec: PartitionSpec, i: int, out_tree: Any, label: str
) -> None:
    """Raise ValueError unless the shards of a result can be concatenated so."""
    if aval.is_high:
        _check_kind_of_spec(spec, function=label, argument="out_specs")
        return
    used = spec.used_axes()
    partial = region.partial(aval)
    if spec.partial or any(partial.values()):
        _check_partial(region, aval, spec, partial, function=label, argument="out_specs")
    own = region.own_axes(aval) if region.check_vma else ()
    missing = [n for n in own if n not in used]
    fits = len(spec) <= aval.ndim and region.manual_axes.issuperset(used) and _once(used)
    if fits and not missing:
        return
    facts = {"function": label, "argument": "out_specs"}
    _check_axes(region, spec, **facts)
    places = trees.key_paths(trees.of_objects(out_tree))
    where = trees.argument_path("result", places[i])
    of_type = f"{where} of type {aval.str_short(short_dtypes=False)}"
    if len(spec) > aval.ndim:
        kept = PartitionSpec(*tuple(spec)[: aval.ndim])
        plural = "" if aval.ndim == 1 else "s"
        raise ShardingError(
            f"{spec!r} has {len(spec)} entries, and {where} has {aval.ndim} dimension{plural} on each device",
            got=of_type,
            expected=f"at most {aval.ndim} entries",
            fix=f"use {kept!r}, or give the result a dimension along which to put it together: x[None]",
            **facts,
        )
    words = ", ".join(map(repr, missing))
    fitting = PartitionSpec((*spec.axes(0), *missing), *tuple(spec)[1:])
    if aval.ndim:
        collect = f"use {fitting!r} to concatenate the devices' results"
    else:
        collect = f"return x[None] with {fitting!r} to collect the devices' results"
    axes = repr(missing[0] if len(missing) == 1 else tuple(missing))
    raise ShardingError(
        f"{spec!r} says that {where} is the same on all devices along the mesh "
        f"{'axis' if len(missing) == 1 else 'axes'} {words}, but it may differ there",
        got=of_type,
        expected=f"a result that does not vary along {words}, or a specification that names "
        + ("it" if len(missing) == 1 else "them"),
        fix=f"{collect}; or make them one with lax.psum(x, {axes}) or lax.pmean; or, if they are equal for a reason "
        "that types do not tell, pass check_vma=False",
        **facts,
    )


def smap(
    f: Callable | None = None, /, *, in_axes: Any = Infer, out_axes: Any, axis_name: Any
) -> Any:
    """Apply `shard_map` along one axis of the mesh in force, with dimensions given by number.

    Args:
      in_axes: for each positional argument the dimension to shard, None for none, or a pytree of these; one entry
        stands for all. Left out: as the arguments are sharded (Explicit axes).
      out_axes: the dimension along which the devices' results are concatenated, None if all are equal.
      axis_name: the axis of the mesh.

    >>> double = sagax.smap(lambda x: x * 2, in_axes=0, out_axes=0, axis_name="x")
    >>> with sagax.set_mesh(sagax.make_mesh((1,), ("x",))):
    ...     double(snp.arange(3)).shape
    (3,)
    """
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    arguments.check_callable(f, "smap")

    def spec(axis: Any) -> PartitionSpec:
        if axis is None:
            return PartitionSpec()
        if not checks.is_index(axis) or axis < 0:
            raise ArgumentError(
                function="smap",
                argument="in_axes and out_axes",
                got=checks.shown(axis),
                expected="dimensions, ints of at least 0, or None",
            )
        return PartitionSpec(*[None] * axis, axis_name)

    def specs(axes: Any) -> Any:
        return trees.map(spec, axes, is_leaf=lambda x: x is None)

    fun = f
    found_in = (
        Infer
        if in_axes is Infer
        else specs(tuple(in_axes) if isinstance(in_axes, list) else in_axes)
    )
    return shard_map(fun, in_specs=found_in, out_specs=specs(out_axes), axis_names={axis_name})
