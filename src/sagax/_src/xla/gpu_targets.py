"""Describe models of GPUs, so that XLA compiles for one that this machine does not have."""

from __future__ import annotations

from typing import Any, Final

# Per model: compute capability, multiprocessors, arithmetic units and shared memory of each, L2, memory, bandwidth,
# clock. From NVIDIA's data sheets and the tables of compute capabilities in the CUDA C++ programming guide.
_MODELS: Final[dict[str, dict[str, Any]]] = {
    "a100": {
        "name": "NVIDIA A100-SXM4-80GB",
        "capability": (8, 0),
        "cores": 108,
        "units": 64,
        "shared": (167936, 166912),
        "l2": 40 << 20,
        "memory": 80 << 30,
        "bandwidth": 2039 * 10**9,
        "clock": 1.41,
    },
    "h100": {
        "name": "NVIDIA H100 80GB HBM3",
        "capability": (9, 0),
        "cores": 132,
        "units": 128,
        "shared": (233472, 232448),
        "l2": 50 << 20,
        "memory": 80 << 30,
        "bandwidth": 3352 * 10**9,
        "clock": 1.98,
    },
    "h200": {
        "name": "NVIDIA H200",
        "capability": (9, 0),
        "cores": 132,
        "units": 128,
        "shared": (233472, 232448),
        "l2": 50 << 20,
        "memory": 141 * 10**9,
        "bandwidth": 4800 * 10**9,
        "clock": 1.98,
    },
}
MODELS: Final = tuple(_MODELS)


def target_config(model: str, cuda: int) -> str:
    """Return XLA's `GpuTargetConfigProto` of a model, as text; `cuda` is the major version of CUDA."""
    found = _MODELS[model]
    (major, minor), (shared, optin) = found["capability"], found["shared"]
    return f"""
gpu_device_info {{
  cuda_compute_capability {{ major: {major} minor: {minor} }}
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: {optin}
  shared_memory_per_core: {shared}
  threads_per_core_limit: 2048
  core_count: {found["cores"]}
  fpus_per_core: {found["units"]}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {found["bandwidth"]}
  l2_cache_size: {found["l2"]}
  clock_rate_ghz: {found["clock"]}
  device_memory_size: {found["memory"]}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 12 patch: 0 }}
runtime_version {{ major: {cuda} minor: 0 patch: 0 }}
device_description_str: "{found["name"]}"
"""
