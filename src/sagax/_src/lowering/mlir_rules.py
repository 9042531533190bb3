"""Run lowering rules that build operations with MLIR's Python bindings, and insert what they built as text."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core.staging import stage
from sagax._src.lowering.builder import Builder, Value
from sagax._src.lowering.text import type_text
from sagax._src.xla import bindings, mlir


@dataclasses.dataclass
class ModuleContext:
    """Describe, for a lowering rule, the module that is built."""

    platforms: tuple[str, ...]
    context: Any
    module: Any
    builder: Any = dataclasses.field(repr=False)
    channel_iterator: Any = dataclasses.field(default_factory=lambda: itertools.count(1))

    def new_channel(self) -> int:
        """Return the number of a channel that no other operation uses."""
        return next(self.builder.module.channels)

    def get_backend(self, optional: bool = False) -> None:
        """Return None: modules are lowered without a client."""
        return None

    def add_keepalive(self, keepalive: Any) -> None:
        """Keep an object alive as long as the module's executable."""
        self.builder.module.stacks.append(keepalive)


@dataclasses.dataclass
class LoweringRuleContext:
    """Describe, for a lowering rule, the application that is lowered: its types, and its module."""

    module_context: ModuleContext
    primitive: Any
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    tokens_in: Any = None
    tokens_out: Any = None
    name_stack: str = ""
    traceback: Any = None
    const_lowering: Any = None
    axis_size_env: Any = None
    dim_var_values: Sequence[Any] = ()
    jaxpr_eqn_ctx: Any = None
    platforms: Sequence[str] | None = None

    def replace(self, **changes: Any) -> LoweringRuleContext:
        """Return the same context with some fields replaced."""
        return dataclasses.replace(self, **changes)

    def is_forward_compat(self) -> bool:
        """Return whether only operations of older versions of StableHLO may be used: False."""
        return False


def lower_by_mlir(
    primitive: Any, rule: Callable[..., Any], b: Builder, operands: Sequence[Value], params: dict
) -> Any:
    """Lower an application by `rule(ctx, *values, **params)`, which builds operations of MLIR.

    They become a function of the module, which is called. Returns the result, or a list of several.
    """
    outs = list(b.outs)
    types = ", ".join([f"%arg{i}: {x.type}" for i, x in enumerate(operands)])
    results = ", ".join(map(type_text, outs))
    name = b.module.function_name(primitive.name)
    shell = f"module {{ func.func private @{name}({types}) -> ({results}) }}"
    module = mlir.parse_module(shell)
    ir, func = bindings.module("mlir.ir"), bindings.module("mlir.dialects.func")
    with module.context, ir.Location.unknown(module.context):
        (function,) = module.body.operations
        block = function.add_entry_block()
        around = ModuleContext((b.module.platform,), module.context, module, b)
        ctx = LoweringRuleContext(around, primitive, [x.aval for x in operands], outs)
        with ir.InsertionPoint(block):
            found = rule(ctx, *block.arguments, **params)
            values = _values(found)
            func.ReturnOp(values)
        module.operation.verify()
        # functions that only are declared here are defined in the module
        defined = [op.operation for op in module.body.operations if list(op.regions[0].blocks)]
        texts = [op.get_asm(print_generic_op_form=True) for op in defined]
    b.module.functions += [_indented(text) for text in texts]
    called = b.op("func.call", operands, outs, callee=f"@{name}")
    return called if primitive.multiple_results else called[0]


def call_function(
    ctx: LoweringRuleContext,
    fun: Callable[..., Any],
    values: Sequence[Any],
    params: dict,
    multiple_results: bool,
) -> list[Any]:
    """Append a call of a function of arrays to what a rule builds; return its results."""

    def flat(*xs: Any) -> list:
        out = fun(*xs, **params)
        return list(out) if multiple_results else [out]

    module = ctx.module_context.builder.module
    jaxpr, consts = stage(flat, list(ctx.avals_in))
    name = module.function_name(getattr(fun, "__name__", "f"))
    module.define(name, jaxpr, private=True, consts=consts)
    ir, func = bindings.module("mlir.ir"), bindings.module("mlir.dialects.func")
    types = [ir.Type.parse(type_text(a)) for a in jaxpr.out_avals]
    declared = ", ".join([str(v.type) for v in values])
    text = f"func.func private @{name}({declared}) -> ({', '.join(map(str, types))})"
    ctx.module_context.module.body.append(ir.Operation.parse(text))
    return list(func.CallOp(types, ir.FlatSymbolRefAttr.get(name), list(values)).results)


def _values(found: Any) -> list[Any]:
    """Flatten the results of a rule: values, operations with results, and sequences of them."""
    if isinstance(found, (list, tuple)):
        return [v for x in found for v in _values(x)]
    return list(found.results) if hasattr(found, "results") else [found]


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in re.sub(r"\s+$", "", text).splitlines())


def python_callback(
    ctx: LoweringRuleContext,
    callback: Callable[..., Any],
    operands: Sequence[Any],
    result_avals: Sequence[Any],
    has_side_effect: bool,
) -> list[Any]:
    """Append a call of a Python function of NumPy arrays to what a rule builds."""
    ir = bindings.module("mlir.ir")
    stablehlo = bindings.module("mlir.dialects.stablehlo")
    module = ctx.module_context.builder.module
    index = len(module.callbacks)

    def function(*arrays: Any) -> tuple:
        found = callback(*arrays)
        return tuple(found) if isinstance(found, (list, tuple)) else (found,)

    module.callbacks.append((function, [(a.shape, a.dtype) for a in result_avals]))
    kind = "cpu" if module.platform == "cpu" else "gpu"
    unsigned = ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), index)
    return list(
        stablehlo.CustomCallOp(
            [ir.Type.parse(type_text(a)) for a in result_avals],
            list(operands),
            call_target_name=ir.StringAttr.get(f"xla_ffi_python_{kind}_callback"),
            has_side_effect=ir.BoolAttr.get(has_side_effect),
            api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
            backend_config=ir.DictAttr.get({"index": unsigned}),
        ).results
    )
