"""Parse, verify, print, convert and edit StableHLO modules."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sagax._src.languages.choice import worded
from sagax._src.xla.engine import EngineError, xla_extension
from sagax._src.xla.load import load


class ModuleError(ValueError):
    """A module is not valid. `problems` lists (location, message), both text."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(f"{where}: {what}" for where, what in self.problems))


def make_context() -> Any:
    """Make an MLIR context with every dialect that a module may use; the rarer ones are loaded when met.

    New each time (0.5 ms), since a context never forgets a constant that it has seen.
    """
    ir = load("jaxlib.mlir.ir")
    extension = load("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    dialects = load("jaxlib.mlir.dialects")
    for name in ("chlo", "mhlo", "sdy", "stablehlo"):
        load(f"jaxlib.mlir.dialects.{name}")
    context = ir.Context()
    registry = ir.DialectRegistry()
    extension.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.enable_multithreading(False)
    dialects.sdy.register_dialect(context)
    dialects.mhlo.register_mhlo_dialect(context)
    dialects.chlo.register_dialect(context)
    dialects.stablehlo.register_dialect(context)
    return context


def parse_module(module: str | bytes) -> Any:
    """Parse a module into an object of MLIR's Python bindings. Raises ModuleError."""
    ir = load("jaxlib.mlir.ir")
    context = make_context()
    problems: list[tuple[str, str]] = []

    def note(diagnostic: Any) -> bool:
        location = str(diagnostic.location).removeprefix("loc(").removesuffix(")")
        problems.append((location, diagnostic.message))
        return True  # and so it is not written on stderr

    with context, context.attach_diagnostic_handler(note):
        try:
            if is_artifact(module):
                stablehlo = load("jaxlib.mlir.dialects.stablehlo")
                return stablehlo.deserialize_portable_artifact(context, module)
            return ir.Module.parse(module)
        except (ir.MLIRError, ValueError) as error:
            for diagnostic in getattr(error, "error_diagnostics", ()):
                note(diagnostic)
            text = str(error)
    raise ModuleError(problems or [("unknown", text)])


def is_artifact(module: str | bytes) -> bool:
    """Tell whether a module is a portable artifact."""
    return isinstance(module, bytes) and b"StableHLO_v" in module[:32]


def error_problems(error: Exception) -> list[tuple[str, str]]:
    """List the problems, each (location, message), in the text of an error of XLA."""
    return re.findall(r"(\S+:\d+:\d+): error: (.*)", str(error)) or [("unknown", str(error))]


def verify_module(module: str | bytes) -> None:
    """Raise ModuleError, with location and message of each problem, if the module is not valid."""
    parse_module(module)


def format_module(module: str | bytes, *, locations: bool = False) -> str:
    """Print the module in MLIR's pretty form, with or without source locations."""
    return parse_module(module).operation.get_asm(enable_debug_info=locations)


def xla_computation(module: str | bytes) -> Any:
    """Convert a module to HLO: a computation, an object of XLA's."""
    return xla_extension.mlir.mlir_module_to_xla_computation(
        module, use_tuple_args=False, return_tuple=False
    )


def hlo_text(module: str | bytes) -> str:
    """Print the HLO of a module, as it is before XLA optimizes it."""
    return xla_computation(module).as_hlo_text()


def cost_analysis(client: Any, module: str | bytes) -> dict[str, float]:
    """Return XLA's estimates ('flops', 'bytes accessed', ...) for a module that is not compiled."""
    return dict(
        xla_extension.hlo_module_cost_analysis(client, xla_computation(module).as_hlo_module())
    )


def refine_shapes(
    module: str | bytes, *, check_assertions: bool = True, shardy: bool = False
) -> bytes:
    """Infer the module's static shapes from those of @main's arguments, and return it as bytecode.

    Raises ModuleError if a `shape_assertion` does not hold or a shape stays dynamic.
    """
    bytecode = io.BytesIO()
    parse_module(module).operation.write_bytecode(bytecode)
    try:
        return xla_extension.mlir.refine_polymorphic_shapes(
            bytecode.getvalue(),
            enable_shape_assertions=check_assertions,
            validate_static_shapes=True,
            enable_shardy=shardy,
        )
    except (EngineError, ValueError) as error:
        problems = error_problems(error)
    raise ModuleError(problems)


class ModuleFunctions(NamedTuple):
    """The functions of a module as text, to be inserted into another module."""

    main: str
    arg_types: list[str]
    result_types: list[str]
    texts: list[str]


def module_functions(
    module: str | bytes, prefix: str, mesh_name_of: Callable[[str], str] | None = None
) -> ModuleFunctions:
    """Extract the functions of a module, made private, with names that begin with `prefix`.

    `mesh_name_of` returns a mesh's name in the other module, for its text as in `sdy.mesh @name = text`.
    """
    ir = load("jaxlib.mlir.ir")
    parsed = parse_module(module)
    with parsed.context:
        names, meshes = {}, []
        for op in parsed.body.operations:
            kind = op.operation.name
            if kind == "sdy.mesh" and mesh_name_of is not None:
                text = str(op.attributes["mesh"]).removeprefix("#sdy.mesh")
                meshes.append((op, mesh_name_of(text)))
                continue
            if "sym_name" not in op.attributes or not kind.startswith("func."):
                raise worded(ValueError(f"a module with {kind} cannot be put into another one"))
            names[ir.StringAttr(op.attributes["sym_name"]).value] = op
        # By temporary names: the new name of one may be the old one of another.
        temporary = [f"{prefix}mesh_{i}" for i in range(len(meshes))]
        for name, (op, _) in zip(temporary, meshes, strict=True):
            old = ir.StringAttr(op.attributes["sym_name"]).value
            ir.SymbolTable.replace_all_symbol_uses(old, name, parsed.operation)
        for name, (_, new) in zip(temporary, meshes, strict=True):
            ir.SymbolTable.replace_all_symbol_uses(name, new, parsed.operation)
        for name, op in names.items():
            ir.SymbolTable.replace_all_symbol_uses(name, prefix + name, parsed.operation)
            ir.SymbolTable.set_symbol_name(op, prefix + name)
            ir.SymbolTable.set_visibility(op, "private")
            for attributes in ("arg_attrs", "res_attrs"):
                if attributes in op.attributes:
                    del op.attributes[attributes]
        kind = names["main"].type
        return ModuleFunctions(
            prefix + "main",
            [str(t) for t in kind.inputs],
            [str(t) for t in kind.results],
            [str(op) for op in names.values()],
        )


def propagate_shardings(module: str | bytes, mark: str) -> dict[str, list[str]]:
    """Run Shardy's propagation, and return the mesh axes that shard each dimension of marked values.

    Keys are the values of the frontend attribute `mark`; axes of a dimension are joined by commas.
    """
    ir = load("jaxlib.mlir.ir")
    passes = load("jaxlib.mlir.passmanager")
    found: dict[str, list[str]] = {}

    def note(op: Any) -> Any:
        if "mhlo.frontend_attributes" in op.attributes and "sdy.sharding" in op.attributes:
            marks = ir.DictAttr(op.attributes["mhlo.frontend_attributes"])
            if mark in marks:
                dims = re.findall(r"\{([^{}]*)\}", str(op.attributes["sdy.sharding"]))
                axes = [",".join(re.findall(r'"([^"]*)"', d)) for d in dims]
                found[ir.StringAttr(marks[mark]).value] = axes
        return ir.WalkResult.ADVANCE

    parsed = parse_module(module)
    with parsed.context:
        passes.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(parsed.operation)
    parsed.operation.walk(note)
    return found


def custom_call_targets(module: str | bytes) -> list[str]:
    """List the targets of the custom calls in a module, each once."""
    ir = load("jaxlib.mlir.ir")
    found: dict[str, None] = {}

    def note(op: Any) -> Any:
        if op.name == "stablehlo.custom_call":
            found[ir.StringAttr(op.attributes["call_target_name"]).value] = None
        return ir.WalkResult.ADVANCE

    parsed = parse_module(module)
    parsed.operation.walk(note)
    return list(found)
