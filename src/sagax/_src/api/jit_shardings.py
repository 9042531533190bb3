"""Resolve `in_shardings`, `out_shardings`, and other pytrees of shardings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src import config, trees
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core.layouts import Format
from sagax._src.core.meshes import Mesh, PartitionSpec, concrete_mesh
from sagax._src.core.shardings import (
    NamedSharding,
    Sharding,
    ShardingError,
    SingleDeviceSharding,
    sharding_of_struct,
)
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.resharding import device_put_p, resolved, sharding_constraint_p
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.compile import placement, placement_of_jaxpr
from sagax._src.runtime.placements import Placement, interned, mesh_of, named, typed

if TYPE_CHECKING or lazy_imports():
    from sagax._src.runtime import described_devices, device_put


_thread = config.thread


def _is_leaf(x: Any) -> bool:
    return x is None or isinstance(x, (PartitionSpec, Sharding, Format))


def spread(
    given: Any, full: Any, function: str, argument: str, full_name: str, mesh: Any = None
) -> list:
    """Return for each leaf of `full` the sharding (or None) of the prefix tree `given`."""
    if _is_leaf(given) or not trees.is_tree_node(type(given)):
        return [resolved(given, function, argument, mesh)] * len(trees.leaves(full))
    found = trees.prefix_mismatch(given, full, argument, full_name, is_leaf=_is_leaf)
    if found:
        raise ArgumentValueError(
            f"{argument} must be a tree prefix of {full_name}: {found[0]}",
            function=function,
            argument=argument,
            got=kind_of(given),
            expected=f"one sharding for all, or a prefix of the structure of {full_name}",
        )
    flat = trees.broadcast_prefix(given, full, is_leaf=_is_leaf)
    return [resolved(s, function, argument, mesh) for s in flat]


class RequestedShardings:
    """Hold the requested shardings of a function's arguments and results."""

    __slots__ = ("_known", "arguments", "key", "name", "results")

    def __init__(self, name: str, arguments: Any, results: Any) -> None:
        self.name = name
        self.arguments = arguments
        self.results = results
        self._known: dict[Any, list] = {}
        leaves, tree = trees.flatten((arguments, results), _is_leaf)
        for leaf in leaves:
            if not _is_leaf(leaf) and not hasattr(leaf, "client"):
                raise ArgumentError(
                    function=f"jit of {name}",
                    argument="in_shardings or out_shardings",
                    got=kind_of(leaf),
                    expected="a sharding, a PartitionSpec, None, or a pytree of these",
                )
        self.key = (tree, *leaves)

    def of_arguments(self, tree: Any, dyn_args: tuple, dyn_kwargs: dict) -> list:
        """Return the requested sharding (or None) of each leaf of the arguments."""
        if self.arguments is None:
            return [None] * tree.num_leaves
        settings = _thread.settings
        key = (tree, settings.mesh, settings.abstract_mesh)
        found = self._known.get(key)
        if found is None:
            if dyn_kwargs:
                raise ArgumentValueError(
                    "in_shardings are for positional arguments",
                    function=f"jit of {self.name}",
                    argument=", ".join(sorted(dyn_kwargs)),
                    got="keyword arguments",
                    fix="pass them by position, or leave out in_shardings",
                )
            given = self.arguments
            if isinstance(given, list):
                given = tuple(given)
            found = spread(given, dyn_args, f"jit of {self.name}", "in_shardings", "the arguments")
            found = self._known[key] = [*map(_on_current_mesh, found)]
        return found

    def attach(
        self, shardings: list, arrays: Sequence[Any], paths: Callable[[], list[str]]
    ) -> list:
        """Attach the requested shardings to operands."""
        found = []
        for i, (x, sharding) in enumerate(zip(arrays, shardings, strict=True)):
            if sharding is not None and x._device is not sharding:
                self._check(x, sharding, lambda i=i: paths()[i])
                x = _Operand(x.aval, sharding)
            found.append(x)
        return found

    def put_arguments(
        self, shardings: list, leaves: Sequence[Any], paths: Callable[[], list[str]]
    ) -> list:
        """Put the arguments on their requested shardings."""
        found = []
        for i, (x, sharding) in enumerate(zip(leaves, shardings, strict=True)):
            if sharding is not None and getattr(x, "_device", None) is not sharding:
                operand = x if isinstance(x, ConcreteArray) else _Operand(aval_of(x), None)
                self._check(operand, sharding, lambda i=i: paths()[i])
                x = device_put.put(x, sharding)
            found.append(x)
        return found

    def _check(self, x: Any, requested: Sharding, path: Callable[[], str]) -> None:
        try:
            requested.check_shape(x.aval.shape)
        except SagaxError as error:
            raise error.attach(
                function=f"jit of {self.name}", argument=f"in_shardings for {path()}"
            ) from None
        where = x._device
        if where is None:
            return
        have = where if isinstance(where, Sharding) else SingleDeviceSharding(where)
        if not have.is_equivalent_to(requested, x.aval.ndim):
            raise ShardingError(
                f"Sharding passed to jit does not match the sharding on the respective arg: {path()} "
                f"of type {x.aval.str_short(short_dtypes=False)}",
                function=f"jit of {self.name}",
                argument=path(),
                expected=f"the sharding in in_shardings, {requested!r}",
                got=f"{have!r}",
                fix=f"move it first: sagax.device_put({path()}, {_short(requested)}), or leave out in_shardings",
            )

    def of_results(self, out_tree: Any, out_avals: Sequence[Any]) -> list:
        """Return the requested sharding (or None) of each leaf of the result."""
        if self.results is None:
            return [None] * len(out_avals)
        full = trees.of_objects(out_tree)
        function = f"jit of {self.name}"
        found = spread(self.results, full, function, "out_shardings", "the result")
        for i, (aval, sharding) in enumerate(zip(out_avals, found, strict=True)):
            if sharding is not None:
                try:
                    sharding.check_shape(aval.shape)
                except SagaxError as error:
                    path = trees.argument_path("result", trees.key_paths(full)[i])
                    raise error.attach(
                        function=function, argument=f"out_shardings for {path}"
                    ) from None
        return [*map(_on_current_mesh, found)]


def _on_current_mesh(sharding: Any) -> Any:
    """Give a sharding over an abstract mesh the devices of the current mesh, if that has as many."""
    mesh = concrete_mesh()
    return sharding if mesh is None else _on_mesh_of_size(sharding, mesh)


def _on_mesh_of_size(sharding: Any, mesh: Mesh) -> Any:
    if described_devices.is_abstract(sharding) and sharding.mesh.size == mesh.size:
        return described_devices.on_mesh(sharding, mesh)
    return sharding


def _short(sharding: Sharding) -> str:
    if isinstance(sharding, NamedSharding):
        return f"NamedSharding(mesh, {sharding.spec!r})"
    return repr(sharding)


class _Operand:
    """Describe an operand without data: its type, and its requested sharding."""

    __slots__ = ("_device", "aval")

    def __init__(self, aval: Any, device: Any) -> None:
        self.aval = aval
        single = isinstance(device, SingleDeviceSharding) and device._memory_kind is None
        self._device = device._device if single else device

    ndim = property(lambda self: self.aval.ndim)


def of_structs(leaves: Sequence[Any], avals: Sequence[Any]) -> list:
    """Make operands of arrays and of `ShapeDtypeStruct`s, which may have a sharding too."""
    return [
        x if isinstance(x, ConcreteArray) else _Operand(a, sharding_of_struct(x))
        for x, a in zip(leaves, avals, strict=True)
    ]


def with_devices(operands: Sequence[Any], results: Sequence[Any], jaxpr: Any) -> Sequence[Any]:
    """Return operands of a function that is only lowered, with devices in place of abstract meshes."""
    if not any(described_devices.is_abstract(x._device) for x in operands):
        return operands
    mesh = described_devices.common_mesh([*(x._device for x in operands), *results], jaxpr)
    return [
        _Operand(x.aval, described_devices.on_mesh(x._device, mesh))
        if described_devices.is_abstract(x._device)
        else x
        for x in operands
    ]


def results_with_devices(results: Sequence[Any], committed: Any, jaxpr: Any) -> Sequence[Any]:
    """Return the shardings of results of a function that is only lowered, likewise."""
    if not any(map(described_devices.is_abstract, results)):
        return results
    mesh = (
        committed.mesh
        if isinstance(committed, Placement)
        else described_devices.common_mesh(results, jaxpr)
    )
    return [described_devices.on_mesh(s, mesh) for s in results]


def over_named_mesh(jaxpr: Any, count: int) -> Placement | None:
    """Return a placement on described devices for a function that is only lowered, if a `shard_map` wants devices.

    It maps over an abstract mesh, and nothing else tells the devices.
    """
    mesh = described_devices.mapped_mesh(jaxpr)
    if mesh is None:
        return None
    described = described_devices.described_mesh(mesh)
    return interned(described._flat, described, (None,) * count)


def typed_avals(avals: Sequence[Any], requested: Sequence[Any]) -> list:
    """Return the types that arguments have on their requested shardings."""
    return [a if s is None else typed(a, s) for a, s in zip(avals, requested, strict=True)]


def constrained(values: Sequence[Any], shardings: Sequence[Any]) -> list:
    """Constrain values of the function being traced to the requested shardings, and memories."""
    return [
        in_memory_of(
            x
            if not isinstance(s, NamedSharding)
            else sharding_constraint_p.bind(x, sharding=without_memory(s)),
            s,
        )
        for x, s in zip(values, shardings, strict=True)
    ]


def without_memory(sharding: Sharding) -> Sharding:
    """Return the sharding in the default memory of its devices."""
    if sharding._memory_kind is None or not isinstance(sharding, NamedSharding):
        return sharding
    return NamedSharding(sharding.mesh, sharding.spec)


def in_memory_of(x: Any, sharding: Any) -> Any:
    """Move a traced value to the memory that a sharding names, if it names one."""
    kind = sharding._memory_kind if isinstance(sharding, Sharding) else None
    return x if kind is None else device_put_p.bind(x, kind=kind)


def with_results(target: Any, results: Sequence[Any], count: int) -> tuple[Any, list]:
    """Return the placement of an executable with requested result shardings, and these shardings."""
    if not any(s is not None for s in results):
        return target, []
    if isinstance(target, Placement):
        results = [_on_mesh_of_size(s, target.mesh) for s in results]
    first = next(s for s in results if s is not None)
    if not isinstance(target, Placement):
        single = isinstance(first, SingleDeviceSharding) and first._memory_kind is None
        if single and target in (None, first._device):
            return first._device, []
        mesh = mesh_of(first)
        if target is not None and mesh._flat != (target,):
            raise ArgumentValueError(
                f"Received incompatible devices for jitted computation: an argument is committed to "
                f"{target}, and out_shardings places results on {mesh}",
                fix="put the argument on the mesh: sagax.device_put(x, NamedSharding(mesh, PartitionSpec()))",
            )
        target = interned(mesh._flat, mesh, (None,) * count)
    found = []
    for s in results:
        if s is not None:
            s = named(s, 0) if not isinstance(s, NamedSharding) else s
            if isinstance(s.mesh, Mesh) and set(s.mesh._flat) != set(target.devices):
                raise ArgumentValueError(
                    f"Received incompatible devices for jitted computation: the arguments lie on "
                    f"{target.mesh}, and out_shardings places results on {s.mesh}",
                    fix="use the same devices for both",
                )
        found.append(s)
    return target, found


def placement_and_results(
    jaxpr: Any,
    consts: Sequence[ConcreteArray],
    committed: Any,
    count: int,
    results: Sequence[Any],
    lowered: bool = False,
) -> tuple[Any, list]:
    """Return the placement of a jaxpr's executable, and its result shardings.

    Besides its `count` arguments, committed to `committed`, it has hidden ones, the `consts`, and
    may refer to meshes itself. If it is only `lowered`, devices may be described ones.
    """
    if lowered:
        results = results_with_devices(results, committed, jaxpr)
    hidden = placement(consts)
    target = committed
    if isinstance(committed, Placement):
        first: tuple = (None,) * len(consts)
        if isinstance(hidden, Placement):
            if set(hidden.devices) != set(committed.devices):
                raise ArgumentValueError(
                    f"Received incompatible devices for jitted computation: the arguments lie on "
                    f"{committed.mesh}, an array that the function reads from outside on {hidden.mesh}",
                    fix="put both on the same mesh with sagax.device_put",
                )
            first = hidden.shardings
        target = interned(committed.devices, committed.mesh, (*first, *committed.shardings))
    elif isinstance(hidden, Placement):
        if committed is not None:
            raise ArgumentValueError(
                f"Received incompatible devices for jitted computation: an argument is committed to "
                f"{committed}, an array that the function reads from outside lies on {hidden.mesh}",
                fix="put both on the same mesh with sagax.device_put",
            )
        target = interned(hidden.devices, hidden.mesh, (*hidden.shardings, *(None,) * count))
    total = len(consts) + count
    target, found = with_results(placement_of_jaxpr(jaxpr, target, total), results, total)
    if lowered and target is None:
        target = over_named_mesh(jaxpr, total)
    return target, found
