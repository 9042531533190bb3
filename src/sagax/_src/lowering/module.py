"""Lower a jaxpr to the text of a StableHLO module."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src import config, xla
from sagax._src.core import dims, memo_keys
from sagax._src.core.avals import Space, intern_aval
from sagax._src.core.jaxpr import Jaxpr, subjaxprs
from sagax._src.core.memory_spaces import HOST_KIND
from sagax._src.core.shardings import sdy_mesh, sdy_sharding, unreduced_axes
from sagax._src.diagnostics import spans
from sagax._src.lowering.builder import Builder, Value
from sagax._src.lowering.symbolic_sizes import size_value
from sagax._src.lowering.text import physical, quote, type_text
from sagax._src.source_stacks import split_metadata
from sagax._src.transforms.prune import prune_jaxpr

_IN_HOST_MEMORY = f'mhlo.memory_kind = "{HOST_KIND}"'
_SIZE = intern_aval((), np.dtype(np.int32), False, None)


class Shardings(NamedTuple):
    """Hold the devices of a module, and the sharding of each argument and result; None: chosen by XLA."""

    devices: tuple
    arguments: Sequence[Any]
    results: Sequence[Any]


_CALL_PYTHON = ("cpu", "cuda", "rocm")  # platforms whose executables call Python functions


class ModuleBuilder:
    """Build the functions of one module. Each called jaxpr becomes one function, shared by its calls."""

    def __init__(self, platform: str, name: str, devices: Sequence[Any] = ()) -> None:
        self.platform = platform
        self.name = name
        self.devices = tuple(
            devices
        )  # the number of devices that the module is partitioned over, if it is
        self.mesh: Any = None  # the mesh of the arrays' shardings, if any
        self.manual: Any = None  # the devices that cooperate, inside of shard_map
        self.has_bars = False
        # the progress bar of the next loop, the builder of its function, and how many iterations it was told
        self.bar: tuple[Any, Any, Any] | None = None
        self.channels = itertools.count(1)  # one for each collective operation
        self.meshes: dict[Any, str] = {}  # the sdy text of a mesh: its name
        self.inspected: list[Any] = []  # callbacks that inspect the sharding of a marked value
        self.functions: list[str] = []
        self.names: dict[str, int] = {"main": 0}  # of functions: the last number added to each
        self.shared: dict[tuple, tuple[str, Jaxpr]] = {}
        self.locations: dict[Any, str] = {}
        self.located: dict[Any, str] = {}  # by the whole stack: equal in each iteration of a loop
        self.stacks: list[Any] = []  # the outer parts of these stacks
        self.positions: dict[int, list[Any]] = {}  # of the instructions of a code object, by its id
        self.types: dict[Any, str] = {}
        self.templates: dict[
            tuple, Any
        ] = {}  # of operations; None: lowered once, False: no template possible
        self.location_lines: list[str] = []
        self.callbacks: list[Any] = []
        self.least_host_sort: int | None = None  # elements from which on NumPy sorts
        self.lasting = False  # the text is kept: custom calls must mean the same in later releases
        # Each operation of the jaxpr rounds separately. `exact_inside`: so do the operations of composites
        # and of sub-jaxprs.
        exact = config.thread.settings.exact
        self.exact = bool(exact)
        self.exact_inside = exact is True

    def begin_platform(self, platform: str) -> None:
        """Lower what follows for another platform."""
        self.platform = platform
        self.templates = {}

    def rule(self, primitive: Any) -> Callable | None:
        """Return the lowering rule of a primitive for the module's platform."""
        special = primitive.lower_on
        return special.get(self.platform, primitive.lower_rule) if special else primitive.lower_rule

    def location_of(self, eqn: Any) -> str:
        """Return the location of an equation, as text after an operation."""
        key = eqn.primitive, eqn.scope, eqn.inner, id(eqn.outer)
        known = self.located.get(key)
        if known is None:
            known = self.located[key] = self._location_of(eqn)
            self.stacks.append(eqn.outer)  # another object must not reuse its id
        return known

    def _location_of(self, eqn: Any) -> str:
        code_position = spans.user_position(eqn.traceback)
        # by the id of the code: hashing it would read all of it
        code, offset = (None, 0) if code_position is None else code_position
        key = (eqn.primitive, eqn.scope, id(code), offset)
        known = self.locations.get(key)
        if known is None:
            where = None if code_position is None else self.position(code_position)
            names, _ = split_metadata(eqn.scope)
            scope = f"{names}/" if names else ""
            label = quote(f"jit({self.name})/{scope}{eqn.primitive.name}")
            at = f"({quote(where[0])}:{where[1]}:{where[2]})" if where is not None else ""
            alias = f"#loc{len(self.location_lines) + 1}"
            self.location_lines.append(f"{alias} = loc({label}{at})")
            known = self.locations[key] = f" loc({alias})"
        return known

    def position(self, code_position: spans.CodePosition) -> tuple[str, int, int]:
        """Return the file, line and column of a user's instruction."""
        code, offset = code_position
        known = self.positions.get(id(code))
        if known is None:
            known = self.positions[id(code)] = list(code.co_positions())
        line, _, column, _ = known[offset // 2]
        return code.co_filename, line or code.co_firstlineno, (column or 0) + 1

    def function_name(self, preferred: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_]", "_", preferred) or "f"
        name, k = base, self.names.get(base, 0)
        while name in self.names:
            k += 1
            name = f"{base}_{k}"
        self.names[base] = k
        self.names.setdefault(name, 0)
        return name

    def call(self, b: Builder, jaxpr: Jaxpr, args: Sequence[Value], preferred: str) -> list[Value]:
        out_avals = jaxpr.out_avals
        if b.dim_values and _has_symbolic_sizes(jaxpr):
            return b.inline(
                jaxpr, args
            )  # sizes are computed in the function that has the arguments
        return b.op("func.call", args, out_avals, callee="@" + self.function(jaxpr, preferred))

    def function(self, jaxpr: Jaxpr, preferred: str) -> str:
        """Return the name of the (shared) function of a jaxpr; `preferred` if that is free."""
        manual = None if self.manual is None else self.manual.key
        key = (id(jaxpr), self.platform, manual, self.bar)
        known = self.shared.get(key)
        if known is None:
            name = self.function_name(preferred)
            known = self.shared[key] = (name, jaxpr)
            self.define(name, jaxpr, private=True)
        return known[0]

    def define(
        self,
        name: str,
        jaxpr: Jaxpr,
        *,
        private: bool,
        arg_attrs: Sequence[str] = (),
        result_attrs: Sequence[str] = (),
        dim_variables: Sequence[Any] = (),
        consts: Sequence[Any] = (),
        argument_shardings: Sequence[Any] = (),
        result_shardings: Sequence[Any] = (),
        whole: bool | None = None,
        leading: Sequence[str] = (),
    ) -> None:
        """Append the function of a jaxpr, with its `constvars` as constants.

        Symbolic sizes are computed from the `dim_variables`, which become leading arguments, or without
        those from the sizes of the arguments. `leading` are further arguments, as text. A `whole` jaxpr, as
        public ones are, is no part of another: its own operations round as the module's do.
        """
        jaxpr = prune_jaxpr(jaxpr)
        b = Builder(self)
        whole = not private if whole is None else whole
        b.exact = self.exact if whole else self.exact_inside
        args = [Value(f"%arg{i}", v.aval) for i, v in enumerate(jaxpr.invars)]
        if dim_variables:
            for i, size in enumerate(dim_variables):
                b.dim_values[size] = Value(f"%size{i}", _SIZE)
        else:
            self.bind_dims(b, args)
        values = list(args)
        sums = any(unreduced_axes(s) for s in (*argument_shardings, *result_shardings))
        if sums:  # the compiler adds sums up, or splits what becomes one, at constraints only
            for i, sharding in enumerate(argument_shardings):
                if unreduced_axes(sharding):
                    values[i] = b.constrained(args[i], sharding)
        outs = b.inline(jaxpr, values, [b.constant(c) for c in consts])
        if sums:
            for i, sharding in enumerate(result_shardings):
                if sharding is not None:
                    outs[i] = b.constrained(outs[i], sharding)
        sizes = [f"%size{i}: {type_text(_SIZE)}" for i in range(len(dim_variables))]
        self.append(b, name, args, outs, private, arg_attrs, result_attrs, (*leading, *sizes))

    def append(
        self,
        b: Builder,
        name: str,
        args: Sequence[Value],
        outs: Sequence[Value],
        private: bool,
        arg_attrs: Sequence[str] = (),
        result_attrs: Sequence[str] = (),
        leading: Sequence[str] = (),
    ) -> None:
        """Append the function whose operations `b` has collected."""
        heads = list(leading)
        for i, a in enumerate(args):
            attrs = arg_attrs[i] if i < len(arg_attrs) else ""
            heads.append(f"{a.name}: {type_text(a.aval)}{attrs}")
        types = []
        for i, o in enumerate(outs):
            attrs = result_attrs[i] if i < len(result_attrs) else ""
            types.append(f"{type_text(o.aval)}{attrs}")
        visibility = "private" if private else "public"
        out_types = ", ".join(type_text(o.aval) for o in outs)
        body = "\n".join(b.lines)
        self.functions.append(
            f"  func.func {visibility} @{name}({', '.join(heads)}) -> ({', '.join(types)}) {{\n{body}\n"
            f'    "func.return"({", ".join(o.name for o in outs)}) : ({out_types}) -> ()\n  }}'
        )

    def bind_dims(self, b: Builder, args: Sequence[Value]) -> None:
        """Make the symbolic sizes among argument sizes available as values."""
        for a in args:
            for axis, size in enumerate(getattr(a.aval, "shape", ())):
                if dims.is_dim(size) and size not in b.dim_values:
                    b.dim_values[size] = b.op(
                        "get_dimension_size", [a], _SIZE, dimension=f"{axis} : i64"
                    )

    def mesh_name(self, mesh: Any) -> str:
        """Return the module's name for a mesh, with or without devices."""
        return self.mesh_named(sdy_mesh(mesh, self.devices))

    def mesh_named(self, text: str) -> str:
        """Return the name of the mesh with this sdy text."""
        if text not in self.meshes:
            self.meshes[text] = f"mesh{f'_{len(self.meshes)}' if self.meshes else ''}"
        return self.meshes[text]

    def sharding_text(self, mesh: Any, spec: Any, ndim: int, open: bool = False) -> str:
        """Return the sharding of an array of `ndim` dimensions, as an attribute; `open` to more axes."""
        return f"#sdy.sharding{sdy_sharding(self.mesh_name(mesh), spec, ndim, open=open)}"

    def on_first_device(self, count: int) -> str:
        """Return the sharding of an operation with `count` results that one device runs for all."""
        name = self.meshes.setdefault("<[], device_ids=[0]>", "first_device")
        return f"#sdy.sharding_per_value<[{', '.join([f'<@{name}, []>'] * max(count, 1))}]>"

    def sharding_attribute(self, aval: Any, sharding: Any) -> str:
        """Format the sharding of an argument or result as an attribute."""
        text = self.sharding_text(sharding.mesh, sharding.spec, physical(aval).ndim)
        return f"sdy.sharding = {text}"

    def dim_value(self, b: Builder, size: Any) -> Value:
        """Compute a symbolic size from the variables of the function's arguments."""
        return size_value(b, size)

    def text(self) -> str:
        inner = "\n".join(reversed(self.functions))
        locations = "\n".join(self.location_lines)
        name = re.sub(r"[^A-Za-z0-9_]", "_", f"jit_{self.name}")
        parts = max(len(self.devices), 1)
        head = f"module @{name} attributes {{mhlo.num_partitions = {parts} : i32, mhlo.num_replicas = 1 : i32}} {{"
        meshes = "".join([f"  sdy.mesh @{name} = {text}\n" for text, name in self.meshes.items()])
        return f"{head}\n{meshes}{inner}\n}}\n{locations}\n"


def _has_symbolic_sizes(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr computes with symbolic sizes, or has values of such."""
    known = jaxpr.memo.get(memo_keys.HAS_SYMBOLIC_SIZES)
    if known is None:
        avals = [*jaxpr.in_avals, *[v.aval for eqn in jaxpr.eqns for v in eqn.outvars]]
        known = not all(dims.is_static(getattr(a, "shape", ())) for a in avals) or any(
            any(map(dims.is_dim, eqn.params.values()))
            or any(map(_has_symbolic_sizes, subjaxprs(eqn.params)))
            for eqn in jaxpr.eqns
        )
        jaxpr.memo[memo_keys.HAS_SYMBOLIC_SIZES] = known
    return known


def lower_jaxpr(
    jaxpr: Jaxpr,
    *,
    platform: str,
    name: str,
    donated: Sequence[int] = (),
    aliases: dict[int, int] | None = None,
    dim_variables: Sequence[Any] = (),
    consts: Sequence[Any] = (),
    shardings: Shardings | None = None,
    inspected: list[Any] | None = None,
    bars: bool = True,
    least_host_sort: int | None = None,
    lasting: bool = False,
) -> tuple[str, list]:
    """Lower a jaxpr to module text; return it with the host callbacks that it refers to.

    `dim_variables` are the variables of symbolic sizes that become leading arguments, int32 scalars.
    `consts` are the values of the constvars, as NumPy arrays. `donated` arguments may be overwritten;
    `aliases` maps such an argument to the output that reuses its memory. `shardings` are those of arguments
    and results. Callbacks that inspect the sharding of a value are added to `inspected`. Loops show their
    progress only with `bars`. NumPy sorts arrays of at least `least_host_sort` elements, if it is given.
    A `lasting` module calls only functions of the engine whose meaning is promised for later releases.
    """
    module = ModuleBuilder(platform, name, shardings.devices if shardings else ())
    module.least_host_sort, module.lasting = least_host_sort, lasting
    module.has_bars = bars and platform in _CALL_PYTHON
    if inspected is not None:
        module.inspected = inspected
    arg_attrs, result_attrs = main_attributes(module, jaxpr, donated, aliases, shardings)
    module.define(
        "main",
        jaxpr,
        private=False,
        arg_attrs=arg_attrs,
        result_attrs=result_attrs,
        dim_variables=dim_variables,
        consts=consts,
        argument_shardings=shardings.arguments if shardings else (),
        result_shardings=shardings.results if shardings else (),
    )
    return module.text(), module.callbacks


def main_attributes(
    module: ModuleBuilder,
    jaxpr: Jaxpr,
    donated: Sequence[int],
    aliases: Mapping[int, int] | None,
    shardings: Shardings | None,
) -> tuple[list[str], list[str]]:
    """Return the attributes of the arguments and of the results of a module's `main`."""
    attrs: list[list[str]] = [[] for _ in jaxpr.invars]
    result_attrs = [""] * len(jaxpr.outvars)
    for i in donated:
        out = (aliases or {}).get(i)
        attrs[i].append(
            "jax.buffer_donor = true" if out is None else f"tf.aliasing_output = {out} : i32"
        )
    if shardings:
        known = [s for s in (*shardings.arguments, *shardings.results) if s is not None]
        module.mesh = known[0].mesh if known else None
        for given, v, sharding in zip(attrs, jaxpr.invars, shardings.arguments, strict=True):
            if sharding is not None:
                given.append(module.sharding_attribute(v.aval, sharding))
            if v.aval.memory_space is Space.Host:
                given.append(_IN_HOST_MEMORY)
        for i, (v, sharding) in enumerate(zip(jaxpr.outvars, shardings.results, strict=True)):
            named = [] if sharding is None else [module.sharding_attribute(v.aval, sharding)]
            kind = None if sharding is None else sharding._memory_kind
            if kind == HOST_KIND or v.aval.memory_space is Space.Host:
                named.append(_IN_HOST_MEMORY)
            result_attrs[i] = f" {{{', '.join(named)}}}" if named else ""
    return [f" {{{', '.join(given)}}}" if given else "" for given in attrs], result_attrs


def lower_for_one_device(
    jaxpr: Jaxpr, consts: Sequence[Any], platform: str, name: str, groups: Any
) -> str:
    """Lower the jaxpr that one of several devices runs on its shards."""
    module = ModuleBuilder(platform, name)
    module.manual = groups
    module.define("main", jaxpr, private=False, consts=[np.asarray(c) for c in consts])
    return module.text()


def verify(text: str) -> None:
    """Parse and verify a module. The error shows the invalid lines."""
    xla.mlir.verify_module(text)
