"""Name what `xla` imports on first use: what not every session needs."""

from sagax._src.xla import (
    artifacts,
    callbacks,
    client,
    compile_options,
    compiler,
    cuda,
    cuda_wheels,
    custom_calls,
    distributed,
    dlpack,
    executable,
    gpu_targets,
    mlir,
    partitioned,
    process_end,
    profiler,
    triton,
)
