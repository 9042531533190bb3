"""Compile a jaxpr to an executable, and run it on arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from sagax._src import config, trees, xla
from sagax._src.core.avals import Space
from sagax._src.core.dispatch_keys import executable_key
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr
from sagax._src.core.memory_spaces import HOST_KIND
from sagax._src.core.meshes import UNCONSTRAINED, PartitionSpec
from sagax._src.core.references import EFFECTS
from sagax._src.core.shardings import NamedSharding, Sharding, Tiles
from sagax._src.diagnostics import events
from sagax._src.garbage_collector import with_rare_collections
from sagax._src.lazy_import import lazy_imports
from sagax._src.lowering.text import physical
from sagax._src.primitives.resharding import INSPECTED
from sagax._src.runtime import commit_sites, devices, effect_tokens, progress, working_memory
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.distributed import process
from sagax._src.runtime.placements import (
    Placement,
    described,
    in_context,
    interned,
    mesh_of,
    meshes_in,
    named,
    of_free_result,
    of_result,
    placement_of,
    put,
    single,
    typed,
    typed_result,
)
from sagax._src.transforms.prune import prune_jaxpr, used_inputs

if TYPE_CHECKING or lazy_imports():
    from sagax._src.lowering import effect_tokens as token_lowering
    from sagax._src.lowering import module as lowering
    from sagax._src.lowering import passes, several_platforms, unrolling
    from sagax._src.runtime import compilation_cache
    from sagax._src.runtime.key_reuse import watch
    from sagax._src.transforms import discharge


_NONE: Final[Mapping] = MappingProxyType({})
_LOWERING: Final = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILING: Final = "/jax/core/compile/backend_compile_duration"


class Lowered:
    """The StableHLO text of a jaxpr for a platform; `kept` lists the inputs it uses.

    `aliases` maps donated inputs to the results that reuse their memory. With `more_platforms` the text is for these,
    too; such a module is not compiled.
    """

    __slots__ = (
        "callbacks",
        "inspected",
        "jaxpr",
        "kept",
        "name",
        "platform",
        "platforms",
        "shardings",
        "text",
    )

    @with_rare_collections
    def __init__(
        self,
        jaxpr: Jaxpr,
        platform: str,
        name: str,
        *,
        keep_unused: bool = False,
        aliases: Mapping[int, int] = _NONE,
        target: Any = None,
        results: Sequence[Any] = (),  # the requested shardings of the results, if any
        # what is lowered to be read or saved, for these platforms, too; None: to be called
        more_platforms: Sequence[str] | None = None,
    ) -> None:
        if jaxpr.effects & EFFECTS:
            jaxpr = discharge.discharge_all(jaxpr)
        jaxpr = prune_jaxpr(jaxpr)
        used = used_inputs(jaxpr)
        self.kept: tuple[int, ...] | None = None
        if not keep_unused and not all(used):
            self.kept = tuple(i for i, u in enumerate(used) if u)
            jaxpr = jaxpr.replace(invars=[jaxpr.invars[i] for i in self.kept])
        if jaxpr.effects:
            jaxpr = token_lowering.in_order(jaxpr)
        order = {old: new for new, old in enumerate(self.kept)} if self.kept is not None else None
        inner = {i if order is None else order[i]: out for i, out in aliases.items()}
        self.jaxpr = jaxpr
        self.platform = platform
        self.platforms = (platform, *(more_platforms or ()))
        self.name = name
        shardings = None
        if isinstance(target, Placement):
            arguments = target.shardings
            if self.kept is not None:
                arguments = tuple([arguments[i] for i in self.kept])
            results = results or [None] * len(jaxpr.outvars)
            results = [
                typed_result(v.aval, target.mesh) if s is None else s
                for v, s in zip(jaxpr.outvars, results, strict=True)
            ]
            shardings = lowering.Shardings(target.devices, arguments, results)
        self.shardings = shardings
        self.inspected: list[Callable] = []
        with events.record_duration(_LOWERING, fun_name=name), progress.line("lowering", name):
            several = shardings is not None
            least = None
            if (
                platform == "cpu"
                and not several
                and more_platforms is None
                and not config.thread.settings.exact
            ):
                least = passes.least_host_sort(jaxpr)
            prepared = {p: passes.prepared(jaxpr, p, several, least) for p in self.platforms}
            # the shards of a result may differ in shape from those of the argument
            reused = inner if shardings is None else None
            if more_platforms:
                self.text, self.callbacks = several_platforms.lower_for_platforms(
                    prepared,
                    name=name,
                    donated=tuple(inner),
                    aliases=reused,
                    shardings=shardings,
                    inspected=self.inspected,
                )
                return
            self.text, self.callbacks = lowering.lower_jaxpr(
                prepared[platform],
                platform=platform,
                name=name,
                donated=tuple(inner),
                aliases=reused,
                shardings=shardings,
                inspected=self.inspected,
                least_host_sort=least,
            )


def _unroll_threshold(jaxpr: Jaxpr, settings: config.Settings) -> int | None:
    """Return the size up to which loops of a jaxpr are unrolled on the CPU; None: LLVM's default.

    Exact jaxprs use LLVM's default, and XLA_FLAGS has priority.
    """
    if settings.exact is True or "unroll-threshold" in os.environ.get("XLA_FLAGS", ""):
        return None
    return unrolling.unroll_threshold(jaxpr, settings.unroll_threshold)


def _loops_in_steps(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options that keep the bodies of small loops from becoming one kernel.

    One kernel would contract products and sums, across all operations in between.
    """
    given = options.get("xla_disable_hlo_passes")
    passes = [*([given] if given else []), "small-while-loop-hoisting"]
    return {**options, "xla_disable_hlo_passes": ",".join(passes)}


class Compiled:
    """An executable for one device, or for those of a `Placement`. `run` takes and returns buffers.

    On several devices `in_shardings` and `out_shardings` are those of arguments and results.
    """

    __slots__ = (
        "device",
        "executable",
        "in_shardings",
        "kept",
        "lowered",
        "options",
        "origin",
        "out_avals",
        "out_shardings",
        "run",
    )

    def __init__(self, lowered: Lowered, device: Any, options: Mapping[str, Any] = _NONE) -> None:
        several = isinstance(device, Placement)
        b, given = devices.backend_of(first_device(device)), options
        stored = [physical(a) for a in lowered.jaxpr.out_avals]
        if b.platform == "cpu" and (
            "lapack_" in lowered.text or "tridiagonal_solve_perturbed_ffi" in lowered.text
        ):
            xla.custom_calls.register_cpu_kernels()
        if b.platform == "cpu" and "cpu_csr_" in lowered.text:
            xla.custom_calls.register_sparse_kernels()
        if b.platform == "cuda" and "cuhybrid_" in lowered.text:
            xla.cuda.initialize_hybrid_kernels()
        settings = config.thread.settings
        if settings.exact is True and "stablehlo.while" in lowered.text:
            options = _loops_in_steps(options)
        if (
            b.platform == "cpu"
            and (threshold := _unroll_threshold(lowered.jaxpr, settings)) is not None
        ):
            options = {xla.compile_options.UNROLL_THRESHOLD: threshold, **options}
        sharded = lowered.shardings
        if sharded is not None:
            options = {
                "allow_spmd_sharding_propagation_to_parameters": _free(sharded.arguments),
                "allow_spmd_sharding_propagation_to_output": _free(sharded.results),
                **options,
            }
        line = progress.line("compiling", lowered.name)
        with events.record_duration(_COMPILING, fun_name=lowered.name), line:
            self.executable, self.origin = compilation_cache.compiled(
                b.client,
                lowered.text,
                device.devices if several else [device],
                name=lowered.name,
                options=options,
                num_partitions=len(device.devices) if several else 1,
                shardy=several,
                callbacks=lowered.callbacks,
                out_avals=[(a.shape, a.dtype) for a in stored],
            )
        if b.platform == "cpu":
            working_memory.keep(self.executable)
        self.in_shardings = self.out_shardings = None
        if sharded is not None:
            used = [physical(v.aval) for v in lowered.jaxpr.invars]
            found = self.executable.input_shardings, self.executable.output_shardings
            self.in_shardings = _combine_shardings(device, found[0], used, sharded.arguments)
            chosen = _combine_shardings(device, found[1], stored, sharded.results)
            first = (sharded.arguments[0], used[0].ndim) if used else (None, 0)
            chosen = [
                of_free_result(s, a, *first) if free else s
                for s, a, free in zip(chosen, stored, _free(sharded.results), strict=True)
            ]
            self.out_shardings = [
                of_result(s, a.memory_space)
                for s, a in zip(chosen, lowered.jaxpr.out_avals, strict=True)
            ]
            self.executable.name_memories(
                [
                    s._memory_kind if s._memory_kind == HOST_KIND else None
                    for s in self.out_shardings
                ]
            )
        if lowered.inspected:
            _call_inspectors(lowered, device)
        effects = lowered.jaxpr.effects
        run = self.executable.run if not effects else effect_tokens.run(self.executable, effects)
        if several:
            run = process.detect_failures(run, device.devices)
            run = _in_order(run, device.devices, self.in_shardings, self.out_shardings)
        self.run = run
        self.kept = lowered.kept
        self.out_avals = lowered.jaxpr.out_avals
        if self.out_shardings is not None:
            pairs = zip(self.out_avals, self.out_shardings, strict=True)
            self.out_avals = [typed(a, s) for a, s in pairs]
        self.lowered = lowered
        self.device = device
        self.options = given


def _in_terms_of_operands(tiles: Tiles, target: Placement) -> NamedSharding:
    """Express a sharding chosen by XLA over the first mesh of the operands that fits."""
    found = described(tiles, target.mesh)
    others = dict.fromkeys([s.mesh for s in target.shardings if s is not None])
    if found.mesh is target.mesh or len(others) < 2:
        return found
    part_of = dict(zip(target.devices, tiles.of_device, strict=True))
    for mesh in others:
        parts = tuple([part_of[d] for d in mesh._flat])
        expressed = described(Tiles(tiles.parts, parts), mesh)
        if expressed.mesh is mesh:
            return expressed
    return found


def _in_order(run: Callable, devices: tuple, ins: Any, outs: Any) -> Callable:
    """Wrap `run` for arrays over meshes with another order of the devices."""
    strange_in = [i for i, s in enumerate(ins) if s._device_assignment != devices]
    strange_out = [i for i, s in enumerate(outs) if s._device_assignment != devices]
    if not (strange_in or strange_out):
        return run

    def run_in_order(buffers: Sequence[Any]) -> list:
        given = list(buffers)
        for i in strange_in:
            given[i] = xla.with_device_order(given[i], devices)
        results = list(run(given))
        for i in strange_out:
            results[i] = xla.with_device_order(results[i], outs[i]._device_assignment)
        return results

    return run_in_order


def placement(
    arrays: Sequence[ConcreteArray], names: Callable[[], Sequence[str]] | None = None
) -> Any:
    """Return the device that the arrays are committed to, or None. They must agree; errors use their `names`."""
    found, first = None, 0
    for i, x in enumerate(arrays):
        device = x._device
        if device is not None and device is not found:
            if isinstance(device, Sharding):
                return _common_placement(arrays, names)
            if found is not None:
                raise _incompatible(arrays, first, i, names)
            found, first = device, i
    return found


def _incompatible(arrays: Sequence[Any], first: int, second: int, names: Any) -> BaseException:
    known = names() if names is not None else None
    return commit_sites.conflict(arrays, first, second, lambda x: x._device, known)


def _common_placement(arrays: Sequence[ConcreteArray], names: Any) -> Placement:
    """Return the placement of arrays, at least one of them sharded."""
    placements = [x._device for x in arrays]
    shardings = tuple(
        [
            _computing(p, x.ndim) if isinstance(p, Sharding) else None
            for p, x in zip(placements, arrays)
        ]
    )
    first = next(i for i, s in enumerate(shardings) if s is not None)
    assigned = mesh_of(shardings[first])
    for i, (target, sharding) in enumerate(zip(placements, shardings)):
        if target is not None:
            other = (target,) if sharding is None else mesh_of(sharding)._flat
            if other is not assigned._flat and set(other) != set(assigned._flat):
                raise _incompatible(arrays, min(first, i), max(first, i), names)
    return interned(assigned._flat, assigned, shardings)


def _computing(sharding: Sharding, ndim: int) -> Sharding:
    """Return a sharding over a mesh, in the device's memory or that of the host that types show."""
    found = named(sharding, ndim)
    if found._memory_kind in (None, HOST_KIND):
        return found
    return NamedSharding(found.mesh, found.spec)


def placement_of_jaxpr(jaxpr: Jaxpr, found: Any, count: int) -> Any:
    """Return the placement of a jaxpr whose operands have the placement `found`, or that names a mesh itself."""
    meshes = meshes_in(jaxpr)
    if isinstance(found, Placement):
        _check_same_devices(found.mesh, meshes, "the operands lie on")
        return found
    if not meshes:
        if any(a.memory_space is Space.Host for a in jaxpr.out_avals):
            here = mesh_of(single(found if found is not None else devices.default_device()))
            return interned(here._flat, here, (None,) * count)
        return found
    mesh = meshes[0]
    _check_same_devices(mesh, meshes, "the function places values on")
    if found is not None and mesh._flat != (found,):
        raise commit_sites.DeviceConflictError(
            f"Received incompatible devices for jitted computation: an operand is committed to {found}, "
            f"and the function places values on {mesh!r}",
            fix="put the operand on the mesh: sagax.device_put(x, NamedSharding(mesh, PartitionSpec()))",
        )
    return interned(mesh._flat, mesh, (None,) * count)


def _check_same_devices(mesh: Any, others: Sequence[Any], what: str) -> None:
    devices = set(mesh._flat)
    for other in others:
        if other is not mesh and set(other._flat) != devices:
            raise commit_sites.DeviceConflictError(
                f"Received incompatible devices for jitted computation: {what} {mesh!r} of devices "
                f"{_numbers(mesh)}, and the function places values on {other!r} of devices {_numbers(other)}",
                fix="put the operands on that mesh, sagax.device_put(x, NamedSharding(mesh, spec)), or use one mesh",
            )


def _numbers(mesh: Any) -> str:
    numbers = [str(d.id) for d in mesh._flat]
    return ", ".join(numbers if len(numbers) <= 8 else [*numbers[:4], "...", numbers[-1]])


def platform_of(target: Any) -> str:
    """Return the platform of a device or a placement."""
    return devices.backend_of(first_device(target)).platform


def first_device(target: Any) -> Any:
    """Return a device, or the first one of a placement."""
    return target.devices[0] if isinstance(target, Placement) else target


def _call_inspectors(lowered: Lowered, target: Any) -> None:
    """Call the callbacks that inspect the sharding of a value."""
    several = isinstance(target, Placement)
    text = lowered.text.replace(f"// {INSPECTED} ", "")
    axes = xla.mlir.propagate_shardings(text, INSPECTED) if several else {}
    for i, callback in enumerate(lowered.inspected):
        if several:
            parts = [tuple(filter(None, names.split(","))) for names in axes.get(str(i), [])]
            callback(NamedSharding(target.mesh, PartitionSpec(*parts)))
        else:
            callback(single(target))


def _free(shardings: Sequence[Any]) -> list[bool]:
    return [s is None or UNCONSTRAINED in s.spec for s in shardings]


def _combine_shardings(
    target: Placement, texts: Any, avals: Sequence[Any], known: Sequence[Any]
) -> list:
    """Combine requested shardings of arguments or results with those that XLA chose."""
    found = []
    for i, (aval, sharding, free) in enumerate(zip(avals, known, _free(known), strict=True)):
        if free:
            text = "{replicated}" if texts is None else texts[i]
            tiles = Tiles(*xla.sharding_tiles(text, len(target.devices), aval.ndim))
            sharding = _in_terms_of_operands(tiles, target)
        found.append(sharding)
    return found


def buffers_on(arrays: Sequence[ConcreteArray], device: Any) -> list:
    """Return the buffers of arrays on one device; uncommitted ones on other devices are copied."""
    out = []
    for x in arrays:
        buffer = x.buffer()
        here = xla.device_of(buffer)
        if here != device or isinstance(x._device, Sharding):
            near = here.client is device.client and not isinstance(x._device, Sharding)
            copied = xla.copy_to_device(buffer, device) if near else None
            buffer = copied if near else xla.put(x.host(), device, share=True)
        out.append(buffer)
    return out


def buffers_for(arrays: Sequence[ConcreteArray], shardings: Sequence[Any]) -> list:
    """Return the buffers of arrays with these shardings; arrays that have them already are not copied."""
    out = []
    for x, sharding in zip(arrays, shardings, strict=True):
        where = x._device
        if where is sharding or (
            isinstance(where, Sharding) and where.is_equivalent_to(sharding, x.aval.ndim)
        ):
            out.append(x._buffer if x._buffer is not None else x.buffer())
        else:
            out.append(put(x.host(), sharding, share=True))
    return out


def inputs_of(compiled: Compiled, arrays: Sequence[ConcreteArray]) -> list:
    """Return the buffers of operands, on the executable's devices."""
    if compiled.in_shardings is not None:
        return buffers_for(arrays, compiled.in_shardings)
    return buffers_on(arrays, compiled.device)


def results_of(compiled: Compiled, outs: Sequence[Any], committed: Any) -> list[ConcreteArray]:
    """Wrap result buffers as arrays: on one device committed to `committed`."""
    if compiled.out_shardings is None:
        placements = [committed] * len(outs)
    else:
        placements = list(map(placement_of, compiled.out_shardings))
    return [
        ConcreteArray(a, None, b, target)
        for a, b, target in zip(compiled.out_avals, outs, placements, strict=True)
    ]


def sharded_entry(
    compiled: Compiled, consts: Sequence[ConcreteArray], unflatten: Callable
) -> Callable:
    """Build the call of an executable on several devices: a function of arrays, whose buffers it takes itself."""
    kept, in_shardings, placements = (
        compiled.kept,
        compiled.in_shardings or [],
        list(map(placement_of, compiled.out_shardings or [])),
    )
    run, avals = compiled.run, compiled.out_avals
    count = len(consts)
    order = range(len(compiled.lowered.jaxpr.invars)) if kept is None else kept
    hidden = [i for i in order if i < count]
    shown = [i - count for i in order if i >= count]
    first = buffers_for([consts[i] for i in hidden], in_shardings[: len(hidden)])
    in_shardings = in_shardings[len(hidden) :]
    everything = kept is None

    def call_sharded(bufs: list, arrays: list) -> Any:
        given = arrays if everything else [arrays[i] for i in shown]
        try:
            outs = run(first + buffers_for(given, in_shardings))
        except (xla.EngineError, xla.DeletedBufferError) as error:
            failure = explained(error, [*arrays, *consts])
            raise failure from failure.__cause__
        return unflatten([ConcreteArray(a, None, b, s) for a, b, s in zip(avals, outs, placements)])

    if all(s._memory_kind in (None, HOST_KIND) for s in compiled.out_shardings or ()):
        return call_sharded

    def call_and_move(bufs: list, arrays: list) -> Any:
        # executables leave results in the default memory of the devices, or in the host's
        result = call_sharded(bufs, arrays)
        for x in trees.leaves(result):
            if getattr(x._device, "_memory_kind", None) not in (None, HOST_KIND):
                x._buffer = put(x.host(), x._device, share=True)
        return result

    return call_and_move


def execute(
    compiled: Compiled, arrays: Sequence[ConcreteArray], committed: Any
) -> list[ConcreteArray]:
    """Run on arrays; results are committed if an operand was."""
    if compiled.kept is not None:
        arrays = [arrays[i] for i in compiled.kept]
    try:
        outs = compiled.run(inputs_of(compiled, arrays))
    except (xla.EngineError, xla.DeletedBufferError) as error:
        failure = explained(error, arrays)
        raise failure from failure.__cause__
    results = results_of(compiled, outs, committed)
    if committed is not None:
        commit_sites.inherit(results, arrays)
    return results


def explained(error: BaseException, arrays: Sequence[ConcreteArray]) -> BaseException:
    """Return the error to raise for a failed run: a deleted operand by name, a callback's own exception."""
    for x in arrays:
        if x.is_deleted():
            return x._gone()
    return xla.original_error(error)


def run_jaxpr(
    *args: Any, jaxpr: ClosedJaxpr, name: str = "call", under: Any = None, **_: Any
) -> list[ConcreteArray]:
    """Evaluate the jit primitive on concrete operands."""
    if under is not None:
        with under:
            return run_jaxpr(*args, jaxpr=jaxpr, name=name)
    arrays = [as_array(a) for a in args]
    inner = jaxpr.jaxpr
    committed = placement_of_jaxpr(inner, in_context(placement(arrays), len(arrays)), len(arrays))
    device = committed if committed is not None else devices.default_device()
    key = executable_key(device)
    compiled = inner.memo.get(key)
    if compiled is None:
        lowered = Lowered(inner, platform_of(device), name, target=device)
        compiled = inner.memo[key] = Compiled(lowered, device)
    if not config.thread.settings.debug_key_reuse:
        return execute(compiled, arrays, committed)
    return watch.watched_jaxpr(lambda xs: execute(compiled, xs, committed), inner)(arrays)
