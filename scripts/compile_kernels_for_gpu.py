"""Compile kernels for an H100 by XLA's compiler for GPUs; no GPU is needed.

    pip install jax-cuda13-pjrt --no-deps --target PLUGIN   # of the version of jaxlib
    python scripts/compile_kernels_for_gpu.py PLUGIN CUDA

CUDA is a folder with bin/ptxas and nvvm/libdevice/libdevice.10.bc, as of the CUDA toolkit.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

_H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 3352320000000 l2_cache_size: 52428800
  clock_rate_ghz: 1.98 device_memory_size: 84978434048 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 1 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def main(plugin: Path, cuda: Path) -> None:
    os.environ["PATH"] = f"{cuda / 'bin'}:{os.environ['PATH']}"
    os.environ["XLA_FLAGS"] = f"--xla_gpu_cuda_data_dir={cuda}"
    sys.path[:0] = [str(HERE.parent / "tests")]
    import sagax
    import sagax.numpy as snp
    from sagax._src import xla
    from sagax._src.xla import bindings
    from sagax.experimental import pallas as pl
    from sagax.experimental.pallas import ops, triton
    from triton_cases import cases

    engine = bindings.extension()
    (library,) = plugin.rglob("xla_cuda_plugin.so")
    engine.load_pjrt_plugin("cuda", str(library), None)
    engine.initialize_pjrt_plugin("cuda")
    devices = bindings.named_topology("cuda", "", {"target_config": _H100, "topology": "1x1x1"})
    options = bindings.module("xla_client").CompileOptions()
    programs = {name: (c.function, c.operands) for name, c in cases(sagax, pl, triton).items()}
    x, q, pages = snp.ones((128, 64)), snp.ones((1, 256, 2, 64)), snp.ones((2, 6, 8, 16))
    programs["norms"] = (
        lambda x: (ops.softmax(x), ops.layer_norm(x, x[0], x[1]), ops.rms_norm(x, x[0])),
        [x],
    )
    programs["attention with derivatives"] = (
        sagax.value_and_grad(lambda q: ops.mha(q, q, q, causal=True).sum()),
        [q],
    )
    tables, lengths = snp.zeros((2, 3), int), snp.array([5, 9])
    programs["paged attention"] = (
        lambda q: ops.paged_attention(q, pages, pages, tables, lengths),
        [snp.ones((2, 4, 16))],
    )
    for name, (function, operands) in programs.items():
        text = sagax.jit(function).trace(*operands).lower(lowering_platforms=("cuda",)).as_text()
        module = xla.mlir.parse_module(text)
        with module.context:
            devices[0].client.compile(module, engine.DeviceList(tuple(devices)), options)
        print("compiled", name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
