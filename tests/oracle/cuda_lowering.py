"""Records how jax lowers `cuda_cases.py` for CUDA: python tests/oracle/cuda_lowering.py.

Needs jax 0.12 beside the wheels of its CUDA plugin (`pip install "jax[cuda13]"`), and no GPU: jax asks them for the
versions of cuDNN and cuSOLVER. It also records the names of the kernels that the plugin registers.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jax  # noqa: E402
import jax.numpy  # noqa: E402

import cuda_cases  # noqa: E402

_KERNELS = ("_solver", "_hybrid", "_linalg", "_prng", "_sparse", "_rnn", "_triton")


def targets() -> list[str]:
    """Names of custom calls that the plugin registers."""
    plugin = next(
        p for p in ("jax_cuda13_plugin", "jax_cuda12_plugin") if importlib.util.find_spec(p)
    )
    names: set[str] = set(importlib.import_module(f"{plugin}.cuda_plugin_extension").ffi_handlers())
    for module in _KERNELS:
        names |= set(importlib.import_module(f"{plugin}.{module}").registrations())
    return sorted(names)


def main() -> None:
    record = {"jax": jax.__version__, "targets": targets(), "cases": {}}
    for name, function, operands in cuda_cases.cases(jax):
        lowered = jax.jit(function).trace(*operands).lower(lowering_platforms=("cuda",))
        record["cases"][name] = cuda_cases.operations(lowered.compiler_ir("stablehlo"))
    path = HERE.parent / "data" / "cuda_lowering.json"
    path.write_text(json.dumps(record, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
