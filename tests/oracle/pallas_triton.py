"""Record what jax lowers `triton_cases.py` to for CUDA: python tests/oracle/pallas_triton.py (with jax 0.12, no GPU).

Of each kernel: the launch, aliases, arguments, the number of operations of each kind, and the bytecode.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jax  # noqa: E402
import jax.experimental.pallas as pl  # noqa: E402
import jax.numpy  # noqa: E402
from jax.experimental.pallas import triton as plt  # noqa: E402
from jax.sharding import AbstractDevice, AbstractMesh, use_abstract_mesh  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.triton import dialect  # noqa: E402

from triton_cases import cases  # noqa: E402


def counted(module) -> dict:
    """Count operations that have an effect, or whose results such ones use."""
    ops = []

    def note(op):
        ops.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(note)
    live: set[str] = set()
    kept: set[int] = set()
    for _ in ops:  # a loop's results are used by operations before them in this order
        before = len(kept)
        for i, op in enumerate(ops):
            named = {r.get_name() for r in op.results}
            if i not in kept and (not named or "atomic" in op.name or named & live):
                kept.add(i)
                live.update(x.get_name() for x in op.operands)
        if len(kept) == before:
            break
    found: dict[str, int] = {}
    for i in sorted(kept):
        found[ops[i].name] = found.get(ops[i].name, 0) + 1
    return found


def facts(lowered) -> dict:
    calls = []

    def note(op):
        if op.name == "stablehlo.custom_call":
            calls.append(op)
        return ir.WalkResult.ADVANCE

    lowered.compiler_ir("stablehlo").operation.walk(note)
    (op,) = calls
    config = op.attributes["mhlo.backend_config"]
    code = ir.StringAttr(config["ir"]).value_bytes
    context = ir.Context()
    dialect.register_dialect(context)
    with context:
        module = ir.Module.parse(code)
        (function,) = module.body.operations
        arguments = [str(a.type) for a in function.regions[0].blocks[0].arguments]
        operations = counted(module)
    keys = ("grid_x", "grid_y", "grid_z", "num_warps", "num_stages")
    return {
        "target": ir.StringAttr(op.attributes["call_target_name"]).value,
        **{k: ir.IntegerAttr(config[k]).value for k in keys},
        "config": sorted(a.name for a in config),
        "aliases": re.findall(
            r"operand_index = (\d+)", str(op.attributes["output_operand_aliases"])
        )
        if "output_operand_aliases" in op.attributes
        else [],
        "arguments": arguments,
        "operations": operations,
        "code": base64.b64encode(code).decode(),
    }


def main() -> None:
    mesh = AbstractMesh(
        (), (), abstract_device=AbstractDevice("NVIDIA H100", num_cores=None, platform="gpu")
    )
    found = {}
    for name, case in cases(jax, pl, plt).items():
        with use_abstract_mesh(mesh):
            found[name] = facts(
                jax.jit(case.function).trace(*case.operands).lower(lowering_platforms=("cuda",))
            )
    (HERE.parent / "data" / "pallas_triton.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
