"""Put a kernel into a module: XLA's custom call for Triton, with the kernel as bytecode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src import xla
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.lowering.text import quote
from sagax.experimental.pallas._triton import program
from sagax.experimental.pallas._triton.ir import cannot


def verified(kernel: Any) -> tuple[program.TritonKernel, bytes]:
    """Lower a traced kernel; return it with the bytecode that Triton's verifier accepts."""
    found = program.lower(kernel)
    try:
        return found, xla.triton.bytecode(found.text)
    except xla.triton.TritonMissingError as error:
        raise cannot(
            f"kernels on GPUs need Triton, and {error}",
            fix="install jaxlib 0.11 or newer; or let XLA compile the kernel: pallas_call(..., interpret=True)",
        ) from None
    except xla.triton.TritonIRError as error:
        raise cannot(f"Triton refuses the kernel {found.name}: {error}") from None


def lower_call(b: Any, args: Sequence[Any], kernel: Any) -> list:
    """Append the custom call of a kernel; return its results."""
    _check_options(kernel)
    found, code = verified(kernel)
    numbers = {
        "grid_x": found.grid[0],
        "grid_y": found.grid[1],
        "grid_z": found.grid[2],
        "num_stages": found.num_stages,
        "num_warps": found.num_warps,
    }
    config = ", ".join([f"{k} = {n} : i32" for k, n in numbers.items()])
    outs = [m.array_aval for m in kernel.outputs]
    aliases = ", ".join([_alias(kernel, i, o) for i, o in kernel.aliases])
    return b.custom_call(
        xla.triton.TARGET,
        args,
        outs,
        backend_config=quote(""),
        mhlo__backend_config=f"{{debug = false, {config}, ir = {_bytes_text(code)}, name = {quote(found.name)}}}",
        operand_layouts=_layouts([x.aval for x in args]),
        result_layouts=_layouts(outs),
        output_operand_aliases=f"[{aliases}]",
    )


def _bytes_text(data: bytes) -> str:
    """Write bytes as a string attribute."""
    plain = {i: chr(i) for i in range(32, 127) if chr(i) not in '"\\'}
    return '"' + "".join([plain.get(i) or f"\\{i:02X}" for i in data]) + '"'


def _layouts(avals: Sequence[Any]) -> str:
    """Ask for row-major order, which the kernel's pointers are computed for."""
    found = []
    for a in avals:
        n = len(a.shape)
        order = list(reversed(range(n)))
        found.append(f"dense<{order if n else ''}> : tensor<{n}xindex>")
    return f"[{', '.join(found)}]"


def _alias(kernel: Any, i: int, o: int) -> str:
    indices = f"[{o}]" if len(kernel.outputs) > 1 else "[]"
    operand = kernel.n_captured + len(kernel.prefetched) + i
    return (
        f"#stablehlo.output_operand_alias<output_tuple_indices = {indices}, operand_index = {operand}, "
        "operand_tuple_indices = []>"
    )


def _check_options(kernel: Any) -> None:
    for name in ("num_warps", "num_stages"):
        n = getattr(kernel.compiler_params, name, None)
        if n is None:
            continue
        good = type(n) is int and n > 0 and (name != "num_warps" or not n & (n - 1))
        if not good:
            raise ArgumentValueError(
                f"{name} of the kernel {kernel.name} is {n!r}",
                function="pallas_call",
                argument="compiler_params",
                got=n,
                expected="a power of two" if name == "num_warps" else "a positive int",
            )
