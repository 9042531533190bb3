"""Implement `pmap`: map a function over an axis, with one example per device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.api import arguments
from sagax._src.api.jit import jit
from sagax._src.api.tracing_utils import device_put
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import check_results
from sagax._src.core import meshes
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo
from sagax._src.core.meshes import Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.core.staging import stage
from sagax._src.core.trace import Tracer, evaluation, state
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.boundary import function_code, function_name, running, tracing
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.shard_map import Region
from sagax._src.primitives.structural import expand_dims, reshape
from sagax._src.runtime import commit_sites
from sagax._src.runtime import devices as known_devices
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.distributed.local_shards import global_to_local, local_mesh, local_to_global

_UNNAMED = "pmap axis"


def pmap(
    fun: Callable,
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Any = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: Any = (),
) -> Callable:
    """Map `fun` over an axis of its arguments, with one example per device.

    It is compiled when it is called, like a function given to `jit`. Collectives such as `lax.psum` exchange values
    along the axis by its name; each device differentiates its own results, so that the cotangent of a `psum` is summed
    over the devices too. `shard_map` does the same for shards of any size, along several axes.

    In several processes, the axis spans the devices of all of them. All make the same call: each passes the examples of its own devices and gets the results of these. Such a call must be outside of other transformations.

    Args:
      axis_name: a name for collectives.
      in_axes: which axis of each positional argument is mapped: an int, None (all devices get the argument), or a tuple
        with an entry an argument, each an int, None or a pytree of them. Keyword arguments are mapped over axis 0.
      out_axes: where the mapped axis appears in the results: an int, None (the result is the same on all devices) or a
        pytree of them.
      static_broadcasted_argnums: positions of arguments that are compile-time constants; hashable.
      devices: the devices, as many as there are examples; the first ones of the platform if left out.
      backend: the platform whose devices are taken.
      axis_size: the number of examples, those of other processes included; must agree with the arguments.
      donate_argnums: positions of arguments whose memory the results may take.

    Raises:
      ValueError: sizes disagree, an axis does not exist, or there are fewer devices than examples.

    >>> sagax.pmap(lambda x: x / sagax.lax.psum(x, "i"), axis_name="i")(snp.array([3.0]))
    Array([1.], dtype=float32)
    """
    arguments.check_callable(fun, "pmap")
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        if not all(_is_int(a) for a in trees.leaves((axes,))):
            raise ArgumentError.about(
                "pmap", name, checks.shown(axes), "an int, None, or a pytree of them"
            )
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    static = checks.positions("pmap", "static_broadcasted_argnums", static_broadcasted_argnums)
    if devices is not None:
        devices = tuple(devices)
        if not devices:
            raise ArgumentValueError.about("pmap", "devices", "no devices", "at least one")

    @wraps(fun)
    def whole(*args: Any, **kwargs: Any) -> Any:
        return _apply(
            fun, axis_name, in_axes, out_axes, static, devices, backend, axis_size, args, kwargs
        )

    jitted = jit(whole, static_argnums=static or None, donate_argnums=donate_argnums)
    jitted._boundary, jitted._running = tracing(fun, "pmap"), running(fun, "pmap")

    donated = checks.positions("pmap", "donate_argnums", donate_argnums)

    def over_processes(args: tuple, kwargs: dict) -> tuple | None:
        """Return the operands over the devices of several processes, or None for a call in one process."""
        mesh = _mesh_of_processes(axis_name, devices, backend)
        if mesh is None:
            return None
        return _whole(fun, mesh, in_axes, static, axis_size, args, kwargs)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        found = over_processes(args, kwargs)
        if found is None:
            try:
                return jitted(*args, **kwargs)
            except commit_sites.DeviceConflictError:
                if state.trace is not evaluation:
                    raise
            # Arguments on other devices are moved, as each example has its device.
            found = _moved(
                fun, axis_name, in_axes, static, devices, backend, axis_size, args, kwargs
            )
            return jitted(*found[0], **found[1])
        outs = trees.map(_local_array, jitted(*found[0], **found[1]))
        for i in donated:
            trees.map(_given_away, args[i])
        return outs

    def staged(stage: Callable) -> Callable:
        def call(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = over_processes(args, kwargs) or (args, kwargs)
            return stage(*args, **kwargs)

        return call

    mapped.lower = staged(jitted.lower)  # type: ignore[attr-defined]
    mapped.trace = staged(jitted.trace)  # type: ignore[attr-defined]
    return mapped


def _mesh_of_processes(axis_name: Any, devices: tuple | None, backend: str | None) -> Mesh | None:
    """Return the devices of several processes, as a mesh of one axis, or None for a call in one process."""
    found = tuple(known_devices.devices(backend)) if devices is None else devices
    return _line_of_processes(found, _UNNAMED if axis_name is None else axis_name)


@functools.lru_cache(maxsize=64)
def _line_of_processes(devices: tuple, name: Any) -> Mesh | None:
    several = len({d.process_index for d in devices}) > 1
    return _line(devices, name) if several else None


def _whole(
    fun: Callable,
    mesh: Mesh,
    in_axes: Any,
    static: tuple[int, ...],
    axis_size: int | None,
    args: tuple,
    kwargs: dict,
) -> tuple:
    """Assemble the arguments of all processes from those of this one."""
    label = f"pmap of {function_name(fun)}"
    mapped = _MappedArguments(fun, label, in_axes, static, args, kwargs)
    for i, x in enumerate(mapped.values):
        if isinstance(x, Tracer):
            raise ArgumentValueError(
                "over the devices of several processes it cannot be called inside of another transformation: it takes "
                "the arrays of one process and works on those of all",
                function=label,
                argument=mapped.paths()[i],
                got=x,
                fix="transform the function inside of pmap, or map with shard_map over arrays of all processes",
            )
    specs = [_spec(d, mesh.axis_names[0]) for d in mapped.dims]
    for i, x in enumerate(mapped.values):
        if not x.is_fully_addressable:  # an array of all processes is passed unchanged
            mapped.values[i] = global_to_local(x, mesh, specs[i])
    here, size = len(local_mesh(mesh)._flat), mapped.size(None)
    if size != here:
        raise ArgumentValueError(
            f"there are {size} examples for the {here} devices that this process has of the {mesh.size} devices",
            function=label,
            argument="in_axes",
            got=f"{size} examples",
            expected=f"{here}, one for each device of this process",
            fix="for the devices of each process by itself pass devices=sagax.local_devices()",
        )
    checks.one_of(
        label,
        "axis_size",
        axis_size,
        (None, mesh.size),
        f"{mesh.size}, the number of devices of all processes",
    )
    values = [local_to_global(x, mesh, s) for x, s in zip(mapped.values, specs, strict=True)]
    some, named = mapped.tree.unflatten(values)
    return mapped.filled(some), named


def _moved(
    fun: Callable,
    axis_name: Any,
    in_axes: Any,
    static: tuple[int, ...],
    devices: tuple | None,
    backend: str | None,
    axis_size: int | None,
    args: tuple,
    kwargs: dict,
) -> tuple:
    """Move the arguments to the devices of their examples."""
    mapped = _MappedArguments(fun, f"pmap of {function_name(fun)}", in_axes, static, args, kwargs)
    name = _UNNAMED if axis_name is None else axis_name
    mesh = _mesh(mapped.label, name, mapped.size(axis_size), devices, backend)
    pairs = zip(mapped.values, mapped.dims, strict=True)
    values = [device_put(x, NamedSharding(mesh, _spec(d, name))) for x, d in pairs]
    some, named = mapped.tree.unflatten(values)
    return mapped.filled(some), named


def _local_array(x: ConcreteArray) -> ConcreteArray:
    sharding: Any = x.sharding
    return global_to_local(x, sharding.mesh, sharding.spec)


def _given_away(x: Any) -> None:
    if isinstance(x, ConcreteArray):
        x.delete()


def _spec(dimension: int | None, name: Any) -> PartitionSpec:
    return PartitionSpec() if dimension is None else PartitionSpec(*[None] * dimension, name)


def _is_int(axis: Any) -> bool:
    return isinstance(axis, int) and not isinstance(axis, bool)


def _apply(
    fun: Callable,
    axis_name: Any,
    in_axes: Any,
    out_axes: Any,
    static: tuple[int, ...],
    devices: tuple | None,
    backend: str | None,
    axis_size: int | None,
    args: tuple,
    kwargs: dict,
) -> Any:
    label = f"pmap of {function_name(fun)}"
    mapped = _MappedArguments(fun, label, in_axes, static, args, kwargs)
    values, dims, size = mapped.values, mapped.dims, mapped.size(axis_size)
    name = _UNNAMED if axis_name is None else axis_name
    mesh_in_force = meshes.get_abstract_mesh()
    if mesh_in_force.manual_axes:
        raise ArgumentValueError(
            f"it was called inside of a function that is mapped over devices already, along "
            f"{', '.join(map(repr, mesh_in_force.manual_axes))}",
            function=label,
            fix="use vmap inside, or shard_map over a mesh with two axes",
        )
    region = Region(_mesh(label, name, size, devices, backend), frozenset((name,)), False)
    specs = [_spec(d, name) for d in dims]

    out_tree: Any = None
    out_dims: list = []

    def one(*parts: Any) -> list:
        nonlocal out_tree, out_dims
        local = [
            x if d is None else reshape(x, (*x.shape[:d], *x.shape[d + 1 :]))
            for x, d in zip(parts, dims, strict=True)
        ]
        some, named = mapped.tree.unflatten(local)
        result = fun(*mapped.filled(some), **named)
        outs, out_tree = trees.flatten_argument("pmap", "result", result)
        check_results(outs, result, "pmap", fun)
        out_dims = _spread_out(label, out_axes, result, outs)
        return [
            x if d is None else expand_dims(x, (d,)) for x, d in zip(outs, out_dims, strict=True)
        ]

    avals = [region.part(aval_of(x), s) for x, s in zip(values, specs, strict=True)]
    info = DebugInfo(function_name(fun), mapped.paths, (), "pmap", function_code(fun))
    with region.inside(), tracing(fun, "pmap"):
        jaxpr, consts = stage(one, avals, info)
    out_specs = [_spec(d, name) for d in out_dims]
    closed = ClosedJaxpr(jaxpr, consts)
    outs = region.bind(closed, values, specs, out_specs, function_name(fun))
    return out_tree.unflatten(outs)


class _MappedArguments:
    """Hold the flat dynamic arguments of a call, and their mapped axes."""

    def __init__(
        self,
        fun: Callable,
        label: str,
        in_axes: Any,
        static: tuple[int, ...],
        args: tuple,
        kwargs: dict,
    ) -> None:
        self.label = label
        self._args = args
        self._fixed = {k % len(args) for k in static if -len(args) <= k < len(args)}
        positions = [i for i in range(len(args)) if i not in self._fixed]
        axes = _spread_in(fun, label, in_axes, args, positions, kwargs)
        leaves, self.tree = trees.flatten((tuple([args[i] for i in positions]), kwargs))
        names = arguments.positional_names(fun, len(args))

        @functools.cache
        def paths() -> list[str]:
            parts = [*[(names[i], args[i]) for i in positions], *sorted(kwargs.items())]
            return [
                trees.argument_path(name, path) for name, x in parts for path in trees.key_paths(x)
            ]

        self.paths = paths
        self.values = [x if hasattr(x, "aval") else sockets.concrete(x) for x in leaves]
        self.dims = [
            _dimension(x, a, i, paths, label) for i, (x, a) in enumerate(zip(self.values, axes))
        ]

    def size(self, axis_size: int | None) -> int:
        return _size(self.label, self.values, self.dims, self.paths, axis_size)

    def filled(self, some: Sequence[Any]) -> list:
        """Merge dynamic and static arguments to all positional arguments."""
        rest = iter(some)
        return [x if i in self._fixed else next(rest) for i, x in enumerate(self._args)]


def _spread_in(
    fun: Callable, label: str, in_axes: Any, args: tuple, positions: Sequence[int], kwargs: dict
) -> list:
    """Return the entry of `in_axes` for each leaf of the dynamic arguments."""
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ArgumentValueError(
            f"pmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments, but got "
            f"len(in_axes)={len(in_axes)}, len(args)={len(args)}",
            function=label,
            argument="in_axes",
            got=in_axes,
            expected=f"one entry for each positional argument: {len(args)}",
        )
    names = arguments.positional_names(fun, len(args))
    axes: list = []
    for i in positions:
        entry = in_axes[i] if isinstance(in_axes, tuple) else in_axes
        try:
            axes.extend(trees.broadcast_prefix(entry, args[i], is_leaf=lambda x: x is None))
        except (ValueError, TypeError):
            found = trees.prefix_mismatch(
                entry, args[i], f"in_axes[{i}]", names[i], is_leaf=lambda x: x is None
            )
            raise ArgumentValueError(
                f"pmap in_axes must be a tree prefix of the arguments: {'; '.join(map(str, found))}",
                function=label,
                argument=f"in_axes[{i}]",
                got=entry,
                expected=f"a prefix of the structure of {names[i]}",
            ) from None
    axes.extend([0] * len(trees.leaves(kwargs)))
    return axes


def _spread_out(label: str, out_axes: Any, result: Any, outs: Sequence[Any]) -> list:
    """Return the mapped axis of each leaf of the result, None where all devices have the same."""
    try:
        axes = trees.broadcast_prefix(out_axes, result, is_leaf=lambda x: x is None)
    except (ValueError, TypeError):
        found = trees.prefix_mismatch(
            out_axes, result, "out_axes", "the result", is_leaf=lambda x: x is None
        )
        raise ArgumentValueError(
            f"pmap out_axes must be a tree prefix of the result: {'; '.join(map(str, found))}",
            function=label,
            argument="out_axes",
            got=out_axes,
            expected="a prefix of the structure of the result",
        ) from None
    placed = []
    for i, (axis, x) in enumerate(zip(axes, outs, strict=True)):
        ndim = aval_of(x).ndim + 1
        if axis is not None and not -ndim <= axis < ndim:
            path = trees.argument_path("result", trees.key_paths(result)[i])
            raise ArgumentValueError(
                f"axis {axis} is out of bounds for {path}, which has {ndim} dimensions, the mapped one included",
                function=label,
                argument="out_axes",
                got=out_axes,
                expected=f"an axis from {-ndim} to {ndim - 1}",
            )
        placed.append(None if axis is None else axis % ndim)
    return placed


def _dimension(
    x: Any, axis: int | None, i: int, paths: Callable[[], list[str]], label: str
) -> int | None:
    if axis is None:
        return None
    ndim = aval_of(x).ndim
    if not -ndim <= axis < ndim:
        what = (
            "is a scalar and has no axis to map over"
            if ndim == 0
            else f"has {ndim} dimension{'s' if ndim > 1 else ''}"
        )
        raise ArgumentValueError(
            f"pmap was requested to map its argument along axis {axis}, but {paths()[i]} {what}",
            function=label,
            argument=paths()[i],
            got=x,
            expected=f"an array of rank {axis + 1 if axis >= 0 else -axis} or more",
            fix="use None in in_axes for arguments that all devices get",
        )
    return axis % ndim


def _size(
    label: str,
    values: Sequence[Any],
    dims: Sequence[int | None],
    paths: Callable[[], list[str]],
    axis_size: int | None,
) -> int:
    """Return the number of examples, which all mapped arguments agree on."""
    sizes: dict[int, list[int]] = {}
    for i, (x, d) in enumerate(zip(values, dims, strict=True)):
        if d is not None:
            sizes.setdefault(aval_of(x).shape[d], []).append(i)
    if not sizes:
        raise ArgumentValueError(
            "pmap requires at least one argument with a mapped axis",
            function=label,
            argument="in_axes",
            expected="an axis of some argument",
        )
    lines = [
        f"\n  size {n}: "
        + ", ".join(
            [
                f"axis {dims[i]} of {paths()[i]} ({aval_of(values[i]).str_short(short_dtypes=False)})"
                for i in members[:3]
            ]
        )
        for n, members in sizes.items()
    ]
    if axis_size is not None:
        lines.append(f"\n  size {axis_size}: the argument axis_size")
    if len(sizes) > 1 or (axis_size is not None and axis_size not in sizes):
        raise ArgumentValueError(
            f"pmap got inconsistent sizes for array axes to be mapped:{''.join(lines)}",
            function=label,
            fix="give all mapped arguments the same size, or use None in in_axes for those that are not mapped",
        )
    return next(iter(sizes))


def _mesh(label: str, name: Any, size: int, devices: tuple | None, backend: str | None) -> Mesh:
    """Create a one-axis mesh of this many devices."""
    if devices is not None:
        if len(devices) != size:
            raise ArgumentValueError(
                f"there are {size} examples for {len(devices)} devices",
                function=label,
                argument="devices",
                got=f"{len(devices)} devices",
                expected=f"{size}, one for each example",
            )
        return _line(devices, name)
    found = known_devices.devices(backend)
    if len(found) < size:
        n = max([k for k in range(1, len(found) + 1) if size % k == 0])
        raise ArgumentValueError(
            f"compiling computation that requires {size} logical devices, but only {len(found)} XLA devices are "
            "available",
            function=label,
            got=f"a mapped axis of size {size}",
            expected=f"at most {len(found)}, the number of devices",
            fix=f"reshape the mapped axis to ({n}, {size // n}) and use pmap of vmap; virtual CPU devices are made by "
            f"sagax.config.update('num_cpu_devices', {size}) before the first use of a device",
        )
    return _line(tuple(found[:size]), name)


def _line(devices: tuple, name: Any) -> Mesh:
    array = np.empty(len(devices), object)
    array[:] = devices
    return Mesh(array, (name,))


def device_put_sharded(shards: Sequence[Any], devices: Sequence[Any]) -> Any:
    """Stack arrays (or pytrees of them) of one type, one per device, along a new leading axis.

    An older name: `device_put(stacked, NamedSharding(mesh, PartitionSpec("x")))` does the same.

    >>> sagax.device_put_sharded([np.zeros(3)], sagax.devices()[:1]).shape
    (1, 3)
    """
    shards, devices = list(shards), list(devices)
    if len(shards) != len(devices):
        raise ArgumentValueError(
            function="device_put_sharded",
            argument="shards",
            got=f"{len(shards)} shards for {len(devices)} devices",
            expected="one for each device",
        )
    return _on_each(trees.map(lambda *xs: np.stack(list(map(np.asarray, xs))), *shards), devices)


def device_put_replicated(x: Any, devices: Sequence[Any]) -> Any:
    """Copy `x` (a pytree of arrays) to each device, stacked along a new leading axis.

    An older name: `device_put(x, NamedSharding(mesh, PartitionSpec()))` has the copies without the axis.

    >>> sagax.device_put_replicated(np.zeros(3), sagax.devices()[:1]).shape
    (1, 3)
    """
    devices = list(devices)

    def copies(leaf: Any) -> Any:
        x = np.asarray(leaf)
        return np.broadcast_to(x, (len(devices), *x.shape))

    return _on_each(trees.map(copies, x), devices)


def _on_each(stacked: Any, devices: Sequence[Any]) -> Any:
    mesh = _line(tuple(devices), "_device_put_sharded")
    return device_put(stacked, NamedSharding(mesh, PartitionSpec("_device_put_sharded")))
