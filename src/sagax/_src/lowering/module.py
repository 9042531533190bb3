"""From a jaxpr to the text of a StableHLO module."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import xla
from sagax._src.core import dims
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.diagnostics import spans
from sagax._src.lowering.builder import Builder, Value
from sagax._src.lowering.sizes import size_value
from sagax._src.lowering.text import quote, type_text
from sagax._src.transforms.prune import prune_jaxpr


class ModuleBuilder:
    """The functions of one module. Each jaxpr that is called becomes one function, however often."""

    def __init__(self, platform: str, name: str) -> None:
        self.platform = platform
        self.name = name
        self.functions: list[str] = []
        self.names: set[str] = {"main"}
        self.shared: dict[int, tuple[str, Jaxpr]] = {}
        self.locations: dict[Any, str] = {}
        self.types: dict[Any, str] = {}
        self.location_lines: list[str] = []
        self.callbacks: list[Any] = []

    def rule(self, primitive: Any) -> Callable | None:
        """The lower rule of a primitive for the module's platform."""
        special = primitive.lower_on
        return special.get(self.platform, primitive.lower_rule) if special else primitive.lower_rule

    def location_of(self, eqn: Any) -> str:
        """The location of an equation, as it is written after an operation."""
        place = spans.user_place(eqn.traceback)
        key = (eqn.primitive, eqn.scope, place)
        known = self.locations.get(key)
        if known is None:
            where = _position(place)
            scope = f"{eqn.scope}/" if eqn.scope else ""
            label = quote(f"jit({self.name})/{scope}{eqn.primitive.name}")
            at = f"({quote(where[0])}:{where[1]}:{where[2]})" if where is not None else ""
            alias = f"#loc{len(self.location_lines) + 1}"
            self.location_lines.append(f"{alias} = loc({label}{at})")
            known = self.locations[key] = f" loc({alias})"
        return known

    def function_name(self, wanted: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_]", "_", wanted) or "f"
        name, k = base, 0
        while name in self.names:
            k += 1
            name = f"{base}_{k}"
        self.names.add(name)
        return name

    def call(self, b: Builder, jaxpr: Jaxpr, args: Sequence[Value], wanted: str) -> list[Value]:
        out_avals = jaxpr.out_avals
        if not all(dims.is_static(a.shape) for a in (*jaxpr.in_avals, *out_avals)):
            return b.inline(jaxpr, args)  # sizes are known in the function that has the arguments
        known = self.shared.get(id(jaxpr))
        if known is None:
            name = self.function_name(wanted)
            known = self.shared[id(jaxpr)] = (name, jaxpr)
            self.define(name, jaxpr, private=True)
        return b.op("func.call", args, out_avals, callee="@" + known[0])

    def define(
        self,
        name: str,
        jaxpr: Jaxpr,
        *,
        private: bool,
        arg_attrs: Sequence[str] = (),
        result_attrs: Sequence[str] = (),
    ) -> None:
        jaxpr = prune_jaxpr(jaxpr)
        b = Builder(self)
        args = [Value(f"%arg{i}", v.aval) for i, v in enumerate(jaxpr.invars)]
        self.bind_dims(b, args)
        outs = b.inline(jaxpr, args)
        heads = []
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
        """Make the symbolic sizes that appear as sizes of arguments available as values."""
        scalar = intern_aval((), np.dtype(np.int32), False, None)
        for a in args:
            for axis, size in enumerate(getattr(a.aval, "shape", ())):
                if dims.is_dim(size) and size not in b.dim_values:
                    b.dim_values[size] = b.op(
                        "get_dimension_size", [a], scalar, dimension=f"{axis} : i64"
                    )

    def dim_value(self, b: Builder, size: Any) -> Value:
        """A symbolic size computed from the variables of the function's arguments."""
        return size_value(b, size)

    def text(self) -> str:
        inner = "\n".join(reversed(self.functions))
        locations = "\n".join(self.location_lines)
        name = re.sub(r"[^A-Za-z0-9_]", "_", f"jit_{self.name}")
        head = f"module @{name} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{"
        return f"{head}\n{inner}\n}}\n{locations}\n"


@functools.lru_cache(maxsize=16384)
def _position(place: Any) -> tuple[str, int, int] | None:
    """File, line and column of a user's instruction."""
    if place is None:
        return None
    code, offset = place
    line, _, column, _ = next(itertools.islice(code.co_positions(), offset // 2, None))
    return code.co_filename, line or code.co_firstlineno, (column or 0) + 1


def lower_jaxpr(
    jaxpr: Jaxpr,
    *,
    platform: str,
    name: str,
    donated: Sequence[int] = (),
    aliases: dict[int, int] | None = None,
) -> tuple[str, list]:
    """The module text of a jaxpr without constvars, and the host callbacks that it refers to.

    `donated` arguments may be overwritten; `aliases` maps such an argument to the output that takes
    its memory.
    """
    module = ModuleBuilder(platform, name)
    attrs = [""] * len(jaxpr.invars)
    for i in donated:
        out = (aliases or {}).get(i)
        attrs[i] = (
            " {jax.buffer_donor = true}"
            if out is None
            else f" {{tf.aliasing_output = {out} : i32}}"
        )
    module.define("main", jaxpr, private=False, arg_attrs=attrs)
    return module.text(), module.callbacks


def verify(text: str) -> None:
    """Parse and verify a module; raises with the places that are wrong."""
    xla.verify_module(text)
