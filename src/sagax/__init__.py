"""sagax: composable function transformations of Python and NumPy programs on XLA.

`jit` compiles, `grad` differentiates, `vmap` maps over examples; they compose in any order. Public
names and semantics follow jax 0.12.

>>> import sagax
>>> import sagax.numpy as snp
>>> sagax.grad(lambda x: snp.sum(x ** 2))(snp.array([1.0, 2.0]))
Array([2., 4.], dtype=float32)
"""

from __future__ import annotations

import importlib
from typing import Any

from sagax import _assemble as _assemble  # first: plugs the parts together
from sagax import dtypes, errors, tree, tree_util
from sagax._src.api.compilations import explain_compiles
from sagax._src.api.derivatives import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from sagax._src.api.jit import ShapeDtypeStruct, jit
from sagax._src.api.mapping import vmap
from sagax._src.api.values import (
    block_until_ready,
    device_get,
    device_put,
    ensure_compile_time_eval,
    eval_shape,
    make_jaxpr,
    named_call,
    named_scope,
    typeof,
)
from sagax._src.api.values import clear_all_caches as clear_caches
from sagax._src.config import (
    array_garbage_collection_guard,
    check_tracer_leaks,
    checking_leaks,
    config,
    debug_infs,
    debug_key_reuse,
    debug_nans,
    default_device,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_checks,
    enable_custom_prng,
    enable_x64,
    explain_cache_misses,
    legacy_prng_key,
    log_compiles,
    no_execution,
    no_tracing,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
)
from sagax._src.control.callbacks import pure_callback
from sagax._src.control.closures import closure_convert, custom_gradient
from sagax._src.control.custom_derivatives import custom_jvp, custom_vjp
from sagax._src.control.remat import checkpoint, checkpoint_policies
from sagax._src.core.value import Array
from sagax._src.runtime.devices import (
    default_backend,
    device_count,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from sagax._src.runtime.pending import effects_barrier
from sagax._src.xla import Device
from sagax.numpy._indexing import ds

__version__ = "0.1.0.dev0"

remat = checkpoint
jacobian = jacrev
float0 = dtypes.float0
_LAZY = (
    "ad_checkpoint",
    "core",
    "custom_batching",
    "custom_derivatives",
    "debug",
    "distributed",
    "dlpack",
    "example_libraries",
    "experimental",
    "export",
    "extend",
    "ffi",
    "flatten_util",
    "image",
    "interpreters",
    "lax",
    "monitoring",
    "nn",
    "numpy",
    "ops",
    "profiler",
    "random",
    "scipy",
    "sharding",
    "stages",
    "typing",
)

# Functions whose modules bring in what few programs need.
_LAZY_FUNCTIONS = {
    "autojit": "sagax._autojit.convert",
    "AbstractMesh": "sagax.sharding",
    "Mesh": "sagax.sharding",
    "NamedSharding": "sagax.sharding",
    "P": "sagax.sharding",
    "explain": "sagax._explain.interactive",
    "CompilerEffortLevel": "sagax._src.api.levels",
    "Inline": "sagax._src.api.levels",
    "copy_to_host_async": "sagax._src.api.live",
    "live_arrays": "sagax._src.api.live",
    "xla_computation": "sagax._src.api.hlo",
    "get_abstract_mesh": "sagax.sharding",
    "get_mesh": "sagax.sharding",
    "make_array_from_callback": "sagax._src.runtime.moving",
    "make_array_from_process_local_data": "sagax._src.runtime.moving",
    "make_array_from_single_device_arrays": "sagax._src.runtime.moving",
    "make_mesh": "sagax.sharding",
    "device_put_replicated": "sagax._src.api.pmap",
    "device_put_sharded": "sagax._src.api.pmap",
    "pmap": "sagax._src.api.pmap",
    "print_environment_info": "sagax._src.api.environment",
    "reshard": "sagax.sharding",
    "set_mesh": "sagax.sharding",
    "shard_map": "sagax._src.api.parallel",
    "smap": "sagax._src.api.parallel",
    "use_abstract_mesh": "sagax.sharding",
}


def __getattr__(name: str) -> Any:
    """Public submodules and functions that are imported when first used."""
    if name in _LAZY:
        return importlib.import_module(f"sagax.{name}")
    if name in _LAZY_FUNCTIONS:
        return getattr(importlib.import_module(_LAZY_FUNCTIONS[name]), name)
    raise AttributeError(f"module 'sagax' has no attribute {name!r}")
