"""Lower a step for a mesh that is only described, and partition it into the program of one device."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sagax._plan import hlo
from sagax._plan.constraints import BatchConstraints, BatchCut
from sagax._src import trees, xla
from sagax._src.api.jit import JitFunction, jit
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import Jaxpr, subjaxprs
from sagax._src.core.meshes import AbstractMesh, AxisType, Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding, Sharding
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.runtime import devices
from sagax._src.runtime.described_devices import described_mesh
from sagax._src.runtime.placements import Placement
from sagax._src.runtime.shardings import set_mesh
from sagax._src.xla import EngineError


class Leaf(NamedTuple):
    """An array among the arguments of the step: its name, type, and sharding (None: chosen by XLA)."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    sharding: NamedSharding | None
    donated: bool
    itemsize: int


class Partitioned(NamedTuple):
    """The program of one device, and what it came from."""

    module: hlo.Module
    text: str
    memory: Any  # XLA's sizes in bytes
    mesh: Mesh
    jaxpr: Jaxpr
    leaves: Sequence[Leaf]  # one for each parameter of the program
    name: str
    constrained: Sequence[hlo.SourceLine] = ()  # scans in which the batch was constrained


def planned_mesh(mesh: Any) -> Mesh:
    """Return a mesh of described devices with the axes of `mesh`: a mesh, or a dict of sizes."""
    if isinstance(mesh, Mapping):
        sizes, names = tuple(mesh.values()), tuple(mesh)
        if not all(isinstance(n, int) and n > 0 for n in sizes):
            raise ArgumentValueError(
                function="plan",
                argument="mesh",
                got=dict(mesh),
                expected="a positive number of devices for each axis",
                fix="write mesh={'data': 64, 'tensor': 8}",
            )
        mesh = AbstractMesh(sizes, names, (AxisType.Auto,) * len(names))
    if not isinstance(mesh, (Mesh, AbstractMesh)) or not mesh.axis_names:
        raise ArgumentError(
            function="plan",
            argument="mesh",
            got=mesh,
            expected="a sagax.sharding.AbstractMesh or Mesh, or a dict of axis names and sizes",
            fix="write mesh={'data': 64, 'tensor': 8}",
        )
    if isinstance(mesh, Mesh) and all(d.platform == "cpu" for d in mesh._flat):
        return mesh  # the step may name it
    return described_mesh(mesh)


def _is_spec(x: Any) -> bool:
    return x is None or isinstance(x, (PartitionSpec, Sharding))


def _on_mesh(given: Any, mesh: Mesh, argument: str) -> NamedSharding | None:
    """Return a sharding over the planned mesh; its axes must be those of the mesh."""
    if given is None:
        return None
    spec = given.spec if isinstance(given, NamedSharding) else given
    if not isinstance(spec, PartitionSpec):  # a sharding without a mesh, or another object
        raise ArgumentError(
            function="plan",
            argument=argument,
            got=given,
            expected="a PartitionSpec, a NamedSharding, None, or a pytree of these",
        )
    unknown = [a for a in spec.used_axes() if a not in mesh.axis_names]
    if unknown:
        raise ArgumentValueError(
            f"{argument} names the axis {unknown[0]!r}, which the mesh does not have",
            function="plan",
            argument=argument,
            got=spec,
            expected=f"axes of the mesh: {', '.join(map(repr, mesh.axis_names))}",
            fix=f"add it to the mesh, mesh={{..., {unknown[0]!r}: size}}, or leave it out of the spec",
        )
    return NamedSharding(mesh, spec)


def _spread(given: Any, full: Any, mesh: Mesh, argument: str, names: Sequence[str]) -> list:
    """Return for each leaf of `full` the sharding that the prefix tree `given` has for it."""
    if isinstance(given, list):
        given = tuple(given)
    if _is_spec(given):
        flat = [given] * len(trees.leaves(full))
    else:
        for leaf in trees.leaves(given, _is_spec):
            _on_mesh(leaf, mesh, argument)
        found = trees.prefix_mismatch(given, full, argument, "the arguments", is_leaf=_is_spec)
        if found:
            raise ArgumentValueError(
                f"{argument} must be a tree prefix of what it describes: {found[0]}",
                function="plan",
                argument=argument,
                got=given,
                expected="one sharding for all, or a prefix of the structure of the arguments",
            )
        flat = trees.broadcast_prefix(given, full, is_leaf=_is_spec)
    return [
        _on_mesh(s, mesh, f"{argument} for {name}") for s, name in zip(flat, names, strict=True)
    ]


def _check_division(sharding: NamedSharding, shape: tuple, argument: str) -> None:
    mesh, spec = sharding.mesh, sharding.spec
    if len(spec) > len(shape):
        raise ArgumentValueError(
            f"{argument} has {len(spec)} entries for an array of {len(shape)} dimensions",
            function="plan",
            argument=argument,
            got=spec,
            expected=f"at most {len(shape)} entries: the shape is {shape}",
        )
    for i, size in enumerate(shape):
        parts = 1
        for axis in spec.axes(i) if i < len(spec) else ():
            parts *= mesh.shape[axis]
        if parts > 1 and size % parts:
            fitting = [j for j, n in enumerate(shape) if n % parts == 0]
            more = -(-size // parts) * parts
            raise ArgumentValueError(
                f"{argument} cuts dimension {i} of the shape {shape}, {size}, into {parts} parts, "
                "which does not come out even",
                function="plan",
                argument=argument,
                got=spec,
                expected=f"a size that is divisible by {parts}, the devices along {spec[i]!r}",
                fix=f"cut dimension {fitting[-1]} instead, whose size {shape[fitting[-1]]} is divisible"
                if fitting
                else f"pad it to {more}, or give that axis of the mesh a size that divides {size}",
            )


def partition(
    step: Callable,
    args: tuple,
    mesh: Any,
    in_shardings: Any = None,
    out_shardings: Any = None,
    options: Mapping[str, Any] | None = None,
    batch: BatchCut | None = None,
) -> Partitioned:
    """Trace `step`, and partition it over the mesh. `args` are arrays or their types.

    `batch`: constrain the batch in scans to this spec.
    """
    given: dict[str, Any] = {}
    if isinstance(step, JitFunction):
        given = {k: v for k, v in step._given.items() if v is not None and v is not False}
        step = step._fun
    requested = in_shardings if in_shardings is not None else given.pop("in_shardings", None)
    results = out_shardings if out_shardings is not None else given.pop("out_shardings", None)
    for name in ("in_shardings", "out_shardings", "keep_unused", "device", "backend"):
        given.pop(name, None)
    described = planned_mesh(mesh)
    structs, leaf_names, shardings = _structs(step, args, given, requested, described)
    if results is not None:
        results = trees.map(
            lambda s: _on_mesh(s, described, "out_shardings"), results, is_leaf=_is_spec
        )
    jitted = jit(step, out_shardings=results, keep_unused=True, **given)
    with set_mesh(described):
        traced = jitted.trace(*structs)
        _check_program(traced.jaxpr.jaxpr, traced.fun_name)
        places: list[hlo.SourceLine] = []
        if batch is not None:
            constraints = BatchConstraints(described, batch)
            constrained = constraints.apply(traced.jaxpr, traced._signature.out_tree)
            kept = functools.update_wrapper(constrained, step)  # for names of donated arguments
            traced = jit(kept, out_shardings=results, keep_unused=True, **given).trace(*structs)
            places = constraints.places
        lowered = traced.lower(lowering_platforms=("cpu",))
    low, target = lowered._lowered, lowered._device
    count = described.size
    partitions = (
        target.devices
        if isinstance(target, Placement)
        else described_mesh(AbstractMesh((1,), ("x",)))._flat
    )
    flags = dict(options or {})
    if low.shardings is not None:
        flags["allow_spmd_sharding_propagation_to_parameters"] = _free(low.shardings.arguments)
        flags["allow_spmd_sharding_propagation_to_output"] = _free(low.shardings.results)
    try:
        compiled = xla.partitioned.compile_described(
            devices.backend("cpu").devices[0], low.text, partitions, flags
        )
    except EngineError as error:
        raise UnsupportedError(
            f"XLA cannot partition {traced.fun_name} over {count} devices: {error}",
            function="plan",
        ) from error
    text = compiled.hlo_modules()[0].to_string()
    donated = set(lowered._signature.donated)
    hidden = [_leaf(f"captured array {i}", c, None, False) for i, c in enumerate(lowered._consts)]
    avals = [aval_of(x) if not hasattr(x, "dtype") else x for x in trees.leaves(structs)]
    leaves = [
        _leaf(name, x, s, i in donated)
        for i, (name, x, s) in enumerate(zip(leaf_names, avals, shardings, strict=True))
    ]
    memory = compiled.get_compiled_memory_stats()
    all_leaves = [*hidden, *leaves]
    if low.kept is not None:
        all_leaves = [all_leaves[i] for i in low.kept]
    return Partitioned(
        hlo.parse(text),
        text,
        memory,
        described,
        traced.jaxpr.jaxpr,
        all_leaves,
        traced.fun_name,
        places,
    )


class TracedStep(NamedTuple):
    """A traced step: its jaxpr, and its arguments; the first `hidden` are captured arrays."""

    jaxpr: Jaxpr
    leaves: Sequence[Leaf]
    hidden: int


def trace(step: Callable, args: tuple, mesh: Any = None) -> TracedStep:
    """Trace a step, under a mesh that it may look at."""
    given: dict[str, Any] = {}
    if isinstance(step, JitFunction):
        given = {k: v for k, v in step._given.items() if k.startswith("static") and v is not None}
        step = step._fun
    structs, names, _ = _structs(step, args, given, PartitionSpec(), planned_mesh({"x": 1}))
    structs = trees.map(lambda x: ShapeDtypeStruct(x.shape, x.dtype), structs)
    with set_mesh(planned_mesh(mesh)) if mesh else contextlib.nullcontext():
        traced = jit(step).trace(*structs)
    _check_program(traced.jaxpr.jaxpr, traced.fun_name)
    consts = traced.jaxpr.consts
    hidden = [_leaf(f"captured array {i}", aval_of(c), None, False) for i, c in enumerate(consts)]
    leaves = [
        _leaf(name, x, None, False) for name, x in zip(names, trees.leaves(structs), strict=True)
    ]
    return TracedStep(traced.jaxpr.jaxpr, [*hidden, *leaves], len(hidden))


def _leaf(name: str, x: Any, sharding: NamedSharding | None, donated: bool) -> Leaf:
    size = dtypes.itemsize(x.dtype)
    return Leaf(name, tuple(x.shape), str(x.dtype), sharding, donated, size)


def _structs(
    step: Callable, args: tuple, given: Mapping, requested: Any, mesh: Mesh
) -> tuple[tuple, list[str], list]:
    """Return the types of the arguments with their shardings, the names of their leaves, their shardings."""
    if given.get("static_argnums") is not None or given.get("static_argnames") is not None:
        raise ArgumentValueError(
            function="plan",
            argument="step",
            got="a jitted function with static arguments",
            fix="bind them first: sagax.plan(functools.partial(step, option=value), ...)",
        )
    flat, tree = trees.flatten(args)
    parameters = list(_parameter_names(step, len(args)))
    names = [
        trees.argument_path(name, path)
        for name, arg in zip(parameters, args, strict=True)
        for path in trees.key_paths(arg)
    ]
    if requested is None:
        shardings = [
            _on_mesh(_own_sharding(x), mesh, f"the sharding of {name}")
            for x, name in zip(flat, names, strict=True)
        ]
    else:
        shardings = _spread(requested, args, mesh, "in_shardings", names)
    structs = []
    for x, name, sharding in zip(flat, names, shardings, strict=True):
        aval = x if isinstance(x, ShapeDtypeStruct) else aval_of(x)
        if not all(isinstance(n, int) for n in aval.shape):
            raise ArgumentValueError(
                f"the shape of {name} is {aval.shape}, which is not known before the step runs",
                function="plan",
                argument=name,
                got=str(aval.shape),
                expected="numbers",
                fix="plan with the sizes of a typical step: sagax.ShapeDtypeStruct((256, 1024), dtype)",
            )
        if sharding is not None:
            _check_division(sharding, tuple(aval.shape), f"in_shardings for {name}")
            aval = ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding)
        else:
            aval = ShapeDtypeStruct(aval.shape, aval.dtype)
        structs.append(aval)
    return tree.unflatten(structs), names, shardings


def _own_sharding(x: Any) -> Any:
    found = getattr(x, "sharding", None)
    return found if isinstance(found, NamedSharding) else None


def _parameter_names(step: Callable, count: int) -> Iterator[str]:

    try:
        known = [
            p.name
            for p in inspect.signature(step).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        known = []
    for i in range(count):
        yield known[i] if i < len(known) else f"args[{i}]"


def _check_program(jaxpr: Jaxpr, name: str) -> None:
    if jaxpr.effects:
        first = sorted(map(str, jaxpr.effects))[0]
        raise UnsupportedError(
            f"{name} has effects ({first}): calls of Python, prints or references",
            function="plan",
            argument="step",
            fix="plan the step without debug.print, callbacks and references",
        )
    for eqn in all_eqns(jaxpr):
        if "callback" in eqn.primitive.name:
            raise UnsupportedError(
                f"{name} calls Python ({eqn.primitive.name}), whose cost is not known",
                function="plan",
                argument="step",
                fix="plan the step without the callback, or replace it by a computation of sagax",
            )


def all_eqns(jaxpr: Jaxpr) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in subjaxprs(eqn.params):
            yield from all_eqns(inner)


def _free(shardings: Sequence[Any]) -> list[bool]:
    return [s is None for s in shardings]
