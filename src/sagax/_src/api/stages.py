"""Define the stages of compilation: traced, lowered, compiled."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sagax._src import trees, xla
from sagax._src.api import arguments, donation, jit_high, jit_shardings
from sagax._src.api.reference_arguments import contents
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.argument_checks.functions import kind_of, structure_error
from sagax._src.core.high_types import value_types
from sagax._src.core.jaxpr import ClosedJaxpr
from sagax._src.core.layouts import Format, Layout
from sagax._src.core.references import Ref, takes_references
from sagax._src.core.shardings import Sharding
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.garbage_collector import with_rare_collections
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime import devices
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.compile import (
    Compiled,
    Lowered,
    buffers_on,
    explained,
    first_device,
    placement,
    platform_of,
    sharded_entry,
)
from sagax._src.runtime.placements import single

if TYPE_CHECKING or lazy_imports():
    from sagax._src.runtime import described_devices


def checked_options(options: Any, function: str) -> dict[str, Any]:
    """Return compiler options as a dict."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ArgumentError(
            function=function,
            argument="compiler_options",
            got=kind_of(options),
            expected="a dict from names of options to their values",
            fix='write it so: compiler_options={"xla_cpu_enable_fast_math": True}',
        )
    return dict(options)


class ArgInfo(NamedTuple):
    """Describe one leaf of the arguments: its type, and whether it is donated."""

    aval: Any
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype


class Signature(NamedTuple):
    """Describe a function to its stages: its name, its arguments and its result.

    `names` are the user's names of the argument leaves, `positional` those of the positional ones;
    `donated` are positions among the leaves. Static arguments are left out.
    """

    name: str
    tree: Any
    in_avals: tuple
    names: tuple[str, ...]
    positional: tuple[str, ...]
    has_static: bool
    donated: tuple[int, ...]
    out_tree: Any
    out_avals: tuple

    def flatten(self, args: tuple, kwargs: dict) -> tuple[list, Any]:
        """Flatten the arguments of a call."""
        return arguments.flatten_named(
            f"jit of {self.name}",
            (args, kwargs),
            lambda: [*zip(self.positional, args), *sorted(kwargs.items())],
        )


class _Stage:
    """Describe a function's arguments and results, the same at all stages."""

    __slots__ = ()

    _signature: Signature

    @property
    def in_tree(self) -> Any:
        """The structure of (args, kwargs), without static arguments."""
        return self._signature.tree

    @property
    def in_avals(self) -> Any:
        """The types of the arguments, in their structure."""
        return self.in_tree.unflatten(self._signature.in_avals)

    @property
    def args_info(self) -> Any:
        """The shape and dtype of each leaf of the arguments, and whether it is donated."""
        donated = set(self._signature.donated)
        infos = [ArgInfo(a, i in donated) for i, a in enumerate(self._signature.in_avals)]
        return self.in_tree.unflatten(infos)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The positions of the donated leaves among all leaves of the arguments."""
        return self._signature.donated

    @property
    def out_tree(self) -> Any:
        """The structure of the result."""
        return self._signature.out_tree

    @property
    def out_avals(self) -> Any:
        """The types of the result, in its structure."""
        return self.out_tree.unflatten(self._signature.out_avals)

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result."""
        return self.out_tree.unflatten(map(ShapeDtypeStruct.of, self._signature.out_avals))


class TracedStage(_Stage):
    """A traced function: `.jaxpr` and the next stage, `.lower()`."""

    __slots__ = ("_args", "_function", "_jitted", "_kwargs", "_signature")

    def __init__(self, jitted: Any, function: Any, tree: Any, args: tuple, kwargs: dict) -> None:
        self._jitted, self._function = jitted, function
        self._args, self._kwargs = args, kwargs
        closed = function.closed
        _, dyn_args, dyn_kwargs = jitted._split(args, kwargs)
        named = jitted._named(args, dyn_args, dyn_kwargs)
        self._signature = Signature(
            name=function.name,
            tree=tree,
            in_avals=tuple(closed.in_avals),
            names=tuple(closed.jaxpr.debug_info.arg_names),
            positional=tuple([name for name, _ in named[: len(dyn_args)]]),
            has_static=not jitted._all_dynamic,
            donated=tuple(jitted._donated(tree, args, kwargs)),
            out_tree=function.out_tree,
            out_avals=tuple(closed.out_avals),
        )

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The jaxpr, closed over the captured arrays."""
        return self._function.closed

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._signature.name

    @with_rare_collections
    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> LoweredStage:
        """Lower to StableHLO, for the platform it will run on or for the given ones.

        A module for several platforms takes the position of its platform as first argument. It can be read, and not
        compiled.
        """
        if takes_references(self.jaxpr.jaxpr):
            return self._lowered_on_values(lowering_platforms)
        jitted, signature = self._jitted, self._signature
        if value_types and jit_high.has_high(self.jaxpr.jaxpr):
            found, on_arrays = jitted.on_arrays(self._function)
            lowered = on_arrays.trace(*found.example_arrays())
            return LoweredOnValues(
                signature, lowered.lower(lowering_platforms=lowering_platforms), found
            )
        _, dyn_args, dyn_kwargs = jitted._split(self._args, self._kwargs)
        leaves, tree = signature.flatten(dyn_args, dyn_kwargs)
        operands = jit_shardings.of_structs(leaves, self.jaxpr.in_avals)
        committed = jitted._operand_placement(
            operands, tree, self._args, self._kwargs, lowered=self._function
        )
        device, results = jitted._placement_of(self._function, committed, lowered=True)
        if lowering_platforms:
            platforms = _checked_platforms(lowering_platforms)
        elif not described_devices.is_described(device):
            platforms = (platform_of(device),)
        elif all(s is None for s in (*device.shardings, *results)):
            platforms = (platform_of(devices.default_device()),)  # only a shard_map names the mesh
        else:
            raise ArgumentValueError(
                "Passing lowering_platforms via sagax.export or jit(f).trace(*args).lower(lowering_platforms=...) "
                "is required when only AbstractMesh exists in a jitted computation",
                function=f"lower of {self.fun_name}",
                argument="lowering_platforms",
                got=device.mesh.abstract_mesh,
                fix='jit(f).trace(...).lower(lowering_platforms=("cpu",))',
            )
        planned = donation.plan(self.jaxpr, signature.donated)
        donation.warn_of_unusable(jitted._fun, self.jaxpr, self.out_tree, planned)
        lowered, consts = jitted._lowered(
            self._function, platforms[0], planned.aliases, device, results, platforms[1:]
        )
        donating = donation.Donation(jitted._fun, signature.names, planned.aliases)
        return LoweredStage(signature, lowered, consts, device, donating, jitted._options)

    def _lowered_on_values(self, lowering_platforms: Sequence[str] | None) -> LoweredStage:
        """Lower a function of references as one of their contents."""
        jitted, signature = self._jitted, self._signature
        found, on_values = jitted.on_values(self._function, signature.donated)
        operands = [
            *found.consts,
            *signature.flatten(*jitted._split(self._args, self._kwargs)[1:])[0],
        ]
        values = [contents(x) if type(x) is Ref else x for x in operands]
        lowered = on_values.trace(*values).lower(lowering_platforms=lowering_platforms)
        return LoweredOnValues(signature, lowered, found)

    def __repr__(self) -> str:
        return f"<traced function {self.fun_name}>"


def _checked_platforms(given: Any) -> tuple[str, ...]:
    named = (given,) if isinstance(given, str) else tuple(given)
    accepted = dict.fromkeys((*devices.PLATFORMS, *devices.LOWERING_PLATFORMS))
    if any(name not in accepted for name in named):
        raise ArgumentValueError(
            function="lower",
            argument="lowering_platforms",
            got=given,
            expected=f"some of {', '.join(map(repr, accepted))}",
        )
    return tuple(dict.fromkeys("cuda" if name == "gpu" else name for name in named))


class LoweredStage(_Stage):
    """A lowered function: `.as_text()` and the next stage, `.compile()`."""

    __slots__ = ("_consts", "_device", "_donor", "_lowered", "_options", "_signature")

    def __init__(
        self,
        signature: Signature,
        lowered: Lowered,
        consts: list,
        device: Any,
        donating: donation.Donation,
        options: Mapping[str, Any],
    ) -> None:
        self._signature, self._lowered, self._consts = signature, lowered, consts
        self._device, self._donor, self._options = device, donating, options

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Return StableHLO as text, or unoptimized HLO with `dialect="hlo"`."""
        if _checked_dialect(dialect, "as_text") == "hlo":
            return xla.mlir.hlo_text(self._lowered.text)
        return xla.mlir.format_module(self._lowered.text, locations=debug_info)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Return jaxlib's object: an MLIR module, or with `dialect="hlo"` a computation."""
        if _checked_dialect(dialect, "compiler_ir") == "hlo":
            return xla.mlir.xla_computation(self._lowered.text)
        return xla.mlir.parse_module(self._lowered.text)

    def cost_analysis(self) -> dict[str, float]:
        """Estimate the cost before optimization, by XLA."""
        client = devices.backend_of(first_device(self._device)).client
        return xla.mlir.cost_analysis(client, self._lowered.text)

    def compile(
        self,
        compiler_options: Mapping[str, Any] | None = None,
        *,
        device_assignment: Sequence[Any] | None = None,
    ) -> CompiledStage:
        """Compile for the device, with options of XLA by name.

        `device_assignment` are the devices for a function that was lowered over an abstract mesh.
        """
        if described_devices.is_described(self._device):
            return self._assigned(device_assignment).compile(compiler_options)
        here = platform_of(self._device)
        if self._lowered.platforms != (here,):
            named = " and ".join(map(repr, self._lowered.platforms))
            raise ArgumentValueError(
                f"the program was lowered for {named}, and this process would run it on {here!r}",
                function="compile",
                fix="lower it without lowering_platforms, or export it and call it where that platform is",
            )
        options = {**self._options, **checked_options(compiler_options, "compile")}
        compiled = Compiled(self._lowered, self._device, options)
        return CompiledStage(self._signature, compiled, self._consts, self._donor)

    def _assigned(self, assigned: Sequence[Any] | None) -> LoweredStage:
        """Return the function lowered over an abstract mesh as one for these devices."""
        if assigned is None:
            raise devices.BackendError(
                "device_assignment cannot be `None` during compilation. Please pass a tuple of devices to "
                "`.compile(device_assignment=)`",
                function="compile",
                argument="device_assignment",
                got=None,
                expected=f"{len(self._device.devices)} devices: the function was lowered over an abstract mesh",
                fix="compile(device_assignment=tuple(sagax.devices()))",
            )
        target = described_devices.on_devices(self._device, assigned)
        lowered, described = copy.copy(self._lowered), self._lowered.shardings
        assert described is not None  # since the devices are
        lowered.shardings = described._replace(
            devices=target.devices,
            arguments=[described_devices.moved(s, assigned) for s in described.arguments],
            results=[described_devices.moved(s, assigned) for s in described.results],
        )
        return LoweredStage(
            self._signature, lowered, self._consts, target, self._donor, self._options
        )

    def __repr__(self) -> str:
        return f"<lowered function {self._signature.name} for {', '.join(self._lowered.platforms)}>"


def _is_sharding(x: Any) -> bool:
    return x is None or isinstance(x, Sharding)


def _row_major(aval: Any, sharding: Sharding | None) -> Format:
    return Format() if sharding is None else Format(Layout(tuple(range(len(aval.shape)))), sharding)


def _checked_dialect(dialect: Any, function: str) -> str:
    if dialect in (None, "stablehlo", "hlo"):
        return dialect or "stablehlo"
    raise ArgumentValueError.about(function, "dialect", repr(dialect), "'stablehlo' or 'hlo'")


class CompiledStage(_Stage):
    """A compiled function. Call it with arguments of its signature."""

    __slots__ = ("_compiled", "_consts", "_donor", "_signature")

    def __init__(
        self, signature: Signature, compiled: Any, consts: list, donating: donation.Donation
    ) -> None:
        self._signature, self._compiled = signature, compiled
        self._consts, self._donor = consts, donating

    def as_text(self) -> str:
        """Return the optimized HLO."""
        return self._compiled.executable.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates for the optimized module: 'flops', 'bytes accessed', ..."""
        return self._compiled.executable.cost_analysis()

    def memory_analysis(self) -> Any:
        """Return sizes in bytes: argument_size_in_bytes, output_size_in_bytes, temp_size_in_bytes, ..."""
        return self._compiled.executable.memory_analysis()

    def runtime_executable(self) -> Any:
        """Return jaxlib's own object."""
        return self._compiled.executable.loaded

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: `call(...)` is the same as calling the object."""
        return self(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        compiled, consts, donating = self._compiled, self._consts, self._donor
        arrays = self._operands(args, kwargs)
        if compiled.out_shardings is not None:
            self._check_shardings(arrays)
            entry = sharded_entry(compiled, consts, self.out_tree.unflatten)
            return (donating.wrap_entry(entry) if donating.donated else entry)([], arrays)
        committed = placement(arrays, lambda: self._signature.names)
        if committed is not None and committed != compiled.device:
            raise self._elsewhere(arrays, committed)
        bufs = buffers_on(arrays, compiled.device)
        hidden = buffers_on(consts, compiled.device)
        donating.check(bufs, hidden)
        bufs = [*hidden, *bufs]
        if compiled.kept is not None:
            bufs = [bufs[i] for i in compiled.kept]
        try:
            outs = compiled.run(bufs)
        except (xla.EngineError, xla.DeletedBufferError) as error:
            failure = explained(error, [*arrays, *consts])
            raise failure from failure.__cause__
        if donating.donated:
            donating.mark_donated(arrays)
        results = [
            ConcreteArray(a, None, b, committed)
            for a, b in zip(compiled.out_avals, outs, strict=True)
        ]
        return self.out_tree.unflatten(results)

    @property
    def input_shardings(self) -> tuple[Any, Any]:
        """The shardings of the arguments: of the positional ones, and of the others by name.

        None for an argument that the executable does not use.
        """
        return self.in_tree.unflatten(self._flat_shardings(self._compiled.in_shardings))

    @property
    def output_shardings(self) -> Any:
        """The shardings of the result, in its structure."""
        found = self._compiled.out_shardings
        if found is None:
            found = [single(self._compiled.device)] * len(self._compiled.out_avals)
        return self.out_tree.unflatten(found)

    @property
    def input_formats(self) -> tuple[Any, Any]:
        """The formats (layout and sharding) of the arguments: of the positional ones, and of the
        others by name.

        Both fields are None for an argument that the executable does not use.
        """
        shardings = self._flat_shardings(self._compiled.in_shardings)
        formats = map(_row_major, self._signature.in_avals, shardings)
        return self.in_tree.unflatten(formats)

    @property
    def output_formats(self) -> Any:
        """The formats (layout and sharding) of the result, in its structure."""
        shardings = trees.leaves(self.output_shardings, _is_sharding)
        return self.out_tree.unflatten(map(_row_major, self._compiled.out_avals, shardings))

    def _flat_shardings(self, found: Sequence[Any] | None) -> list:
        """Return the sharding of each leaf of the arguments; None if the executable does not use it."""
        compiled, hidden = self._compiled, len(self._consts)
        count = hidden + len(self._signature.in_avals)
        order = range(count) if compiled.kept is None else compiled.kept
        if found is None:
            found = [single(compiled.device)] * len(order)
        by_position = dict(zip(order, found, strict=True))
        return [by_position.get(i) for i in range(hidden, count)]

    def _check_shardings(self, arrays: Sequence[ConcreteArray]) -> None:
        """Raise for an argument that is committed to other devices than the function was compiled for."""
        shardings = self._flat_shardings(self._compiled.in_shardings)
        names = self._signature.names
        for x, sharding, name in zip(arrays, shardings, names, strict=True):
            if x._device is not None and sharding is not None:
                if not x.sharding.is_equivalent_to(sharding, x.ndim):
                    raise ArgumentValueError(
                        "the argument is divided in another way than the function was compiled for",
                        function=f"the compiled {self._signature.name}",
                        argument=name,
                        expected=sharding,
                        got=x.sharding,
                        fix=f"move it: sagax.device_put({name}, compiled.input_shardings[0][i])",
                    )

    def _operands(self, args: tuple, kwargs: dict) -> list[ConcreteArray]:
        """Flatten the arguments of a call, and check their structure and types."""
        signature = self._signature
        if any(isinstance(x, Tracer) for x in trees.leaves((args, kwargs))):
            raise ArgumentError(
                "Cannot apply transformations to a function lowered and compiled for a particular signature",
                function=f"the compiled {signature.name}",
                fix="transform the jitted function instead, and lower the result",
            )
        leaves, tree = signature.flatten(args, kwargs)
        if tree != signature.tree:
            raise self._other_structure(args, kwargs)
        arguments.check_operands(leaves, lambda: signature.names, "jit", self._donor.fun)
        arrays = [as_array(x) for x in leaves]
        wrong = [
            (name, a, x.aval)
            for x, a, name in zip(arrays, signature.in_avals, signature.names, strict=True)
            if x.aval.shape != a.shape or x.aval.dtype != a.dtype
        ]
        if wrong:
            raise self._other_types(wrong)
        return arrays

    def _other_types(self, wrong: list[tuple[str, Any, Any]]) -> SagaxError:
        name, expected, got = wrong[0]
        more = [
            f"{n}: {g.str_short(short_dtypes=False)} instead of {e.str_short(short_dtypes=False)}"
            for n, e, g in wrong[1:4]
        ]
        others = f" (also {'; '.join(more)})" if more else ""
        return ArgumentError(
            f"the function was compiled for an argument of another type{others}",
            function=f"the compiled {self._signature.name}",
            argument=name,
            expected=expected,
            got=got,
            fix="convert it, or call the jitted function, which compiles for each type",
        )

    def _elsewhere(self, arrays: Sequence[ConcreteArray], committed: Any) -> SagaxError:
        i = next(i for i, x in enumerate(arrays) if x.committed)
        return ArgumentValueError(
            "the argument is committed to another device than the function was compiled for",
            function=f"the compiled {self._signature.name}",
            argument=self._signature.names[i],
            expected=f"an array on {self._compiled.device} or one that is not committed",
            got=f"an array on {arrays[i]._device}",
            fix=f"move it: sagax.device_put(x, {self._compiled.device!r})",
        )

    def _other_structure(self, args: tuple, kwargs: dict) -> SagaxError:
        of_args, of_kwargs = trees.treedef_children(self.in_tree)
        found = trees.structure_mismatch(of_args, args, "args when compiled", "args")
        found += trees.structure_mismatch(of_kwargs, kwargs, "kwargs when compiled", "kwargs")
        fix = "pass positional and keyword arguments as they were passed to lower"
        if self._signature.has_static:
            fix += "; static arguments are part of the compiled program and are left out"
        return structure_error(
            f"the compiled {self._signature.name}",
            "the structure of the arguments differs from the one the function was compiled for",
            found,
            fix,
        )

    def __repr__(self) -> str:
        return f"<compiled function {self._signature.name} on {self._compiled.device}>"


class LoweredOnValues(LoweredStage):
    """A lowered function of references, or of values of libraries' types."""

    __slots__ = ("_found", "_inner")

    def __init__(self, signature: Signature, inner: LoweredStage, found: Any) -> None:
        super().__init__(
            signature, inner._lowered, inner._consts, inner._device, inner._donor, inner._options
        )
        self._inner, self._found = inner, found

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> CompiledStage:
        """Compile for the device, with options of XLA by name."""
        return CompiledOnValues(self._signature, self._inner.compile(compiler_options), self._found)


class CompiledOnValues(CompiledStage):
    """A compiled function of references, or of values of libraries' types."""

    __slots__ = ("_found", "_inner")

    def __init__(self, signature: Signature, inner: CompiledStage, found: Any) -> None:
        super().__init__(signature, inner._compiled, inner._consts, inner._donor)
        self._inner, self._found = inner, found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = self._signature.flatten(args, kwargs)
        if tree != self._signature.tree:
            raise self._other_structure(args, kwargs)
        return self.out_tree.unflatten(self._found.call(self._inner, leaves))
