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
from typing import TYPE_CHECKING, Any

from sagax import _assemble as _assemble  # first: plugs the parts together
from sagax import dtypes, tree, tree_util
from sagax._src.api.derivatives import (
    grad,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from sagax._src.api.jit import ShapeDtypeStruct, jit
from sagax._src.api.tracing_utils import (
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
from sagax._src.api.tracing_utils import clear_all_caches as clear_caches
from sagax._src.api.vmap import vmap
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
from sagax._src.runtime.effect_tokens import effects_barrier
from sagax._src.xla import Device

if TYPE_CHECKING:
    from sagax import errors as errors
    from sagax._autofix.interactive import explain as explain
    from sagax._autojit.convert import autojit as autojit
    from sagax._src.api.compile_log import explain_compiles as explain_compiles
    from sagax._src.api.environment import print_environment_info as print_environment_info
    from sagax._src.api.hlo import xla_computation as xla_computation
    from sagax._src.api.jacobians import hessian as hessian
    from sagax._src.api.jacobians import jacfwd as jacfwd
    from sagax._src.api.jacobians import jacrev as jacobian
    from sagax._src.api.jacobians import jacrev as jacrev
    from sagax._src.api.live_arrays import copy_to_host_async as copy_to_host_async
    from sagax._src.api.live_arrays import live_arrays as live_arrays
    from sagax._src.api.option_enums import CompilerEffortLevel as CompilerEffortLevel
    from sagax._src.api.option_enums import Inline as Inline
    from sagax._src.api.pmap import device_put_replicated as device_put_replicated
    from sagax._src.api.pmap import device_put_sharded as device_put_sharded
    from sagax._src.api.pmap import pmap as pmap
    from sagax._src.api.shard_map import shard_map as shard_map
    from sagax._src.api.shard_map import smap as smap
    from sagax._src.callbacks.callbacks import pure_callback as pure_callback
    from sagax._src.higher_order.closures import closure_convert as closure_convert
    from sagax._src.higher_order.closures import custom_gradient as custom_gradient
    from sagax._src.higher_order.custom_derivatives import custom_jvp as custom_jvp
    from sagax._src.higher_order.custom_derivatives import custom_vjp as custom_vjp
    from sagax._src.higher_order.remat import checkpoint as checkpoint
    from sagax._src.higher_order.remat import checkpoint as remat
    from sagax._src.higher_order.remat import checkpoint_policies as checkpoint_policies
    from sagax._src.runtime.device_put import make_array_from_callback as make_array_from_callback
    from sagax._src.runtime.device_put import (
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from sagax._src.runtime.device_put import (
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from sagax.numpy._indexing.windows import ds as ds
    from sagax.sharding import AbstractMesh as AbstractMesh
    from sagax.sharding import Mesh as Mesh
    from sagax.sharding import NamedSharding as NamedSharding
    from sagax.sharding import P as P
    from sagax.sharding import get_abstract_mesh as get_abstract_mesh
    from sagax.sharding import get_mesh as get_mesh
    from sagax.sharding import make_mesh as make_mesh
    from sagax.sharding import reshard as reshard
    from sagax.sharding import set_mesh as set_mesh
    from sagax.sharding import use_abstract_mesh as use_abstract_mesh

__version__ = "0.1.0.dev0"

float0 = dtypes.float0
_LAZY = (
    "ad_checkpoint",
    "core",
    "custom_batching",
    "custom_derivatives",
    "custom_transpose",
    "debug",
    "distributed",
    "dlpack",
    "errors",
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
    "checkpoint": "sagax._src.higher_order.remat",
    "checkpoint_policies": "sagax._src.higher_order.remat",
    "closure_convert": "sagax._src.higher_order.closures",
    "custom_gradient": "sagax._src.higher_order.closures",
    "custom_jvp": "sagax._src.higher_order.custom_derivatives",
    "custom_vjp": "sagax._src.higher_order.custom_derivatives",
    "ds": "sagax.numpy._indexing.windows",
    "pure_callback": "sagax._src.callbacks.callbacks",
    "remat": "sagax._src.higher_order.remat:checkpoint",
    "autojit": "sagax._autojit.convert",
    "AbstractMesh": "sagax.sharding",
    "Mesh": "sagax.sharding",
    "NamedSharding": "sagax.sharding",
    "P": "sagax.sharding",
    "explain": "sagax._autofix.interactive",
    "explain_compiles": "sagax._src.api.compile_log",
    "hessian": "sagax._src.api.jacobians",
    "jacfwd": "sagax._src.api.jacobians",
    "jacobian": "sagax._src.api.jacobians:jacrev",
    "jacrev": "sagax._src.api.jacobians",
    "CompilerEffortLevel": "sagax._src.api.option_enums",
    "Inline": "sagax._src.api.option_enums",
    "copy_to_host_async": "sagax._src.api.live_arrays",
    "live_arrays": "sagax._src.api.live_arrays",
    "xla_computation": "sagax._src.api.hlo",
    "get_abstract_mesh": "sagax.sharding",
    "get_mesh": "sagax.sharding",
    "make_array_from_callback": "sagax._src.runtime.device_put",
    "make_array_from_process_local_data": "sagax._src.runtime.device_put",
    "make_array_from_single_device_arrays": "sagax._src.runtime.device_put",
    "make_mesh": "sagax.sharding",
    "device_put_replicated": "sagax._src.api.pmap",
    "device_put_sharded": "sagax._src.api.pmap",
    "pmap": "sagax._src.api.pmap",
    "print_environment_info": "sagax._src.api.environment",
    "reshard": "sagax.sharding",
    "set_mesh": "sagax.sharding",
    "shard_map": "sagax._src.api.shard_map",
    "smap": "sagax._src.api.shard_map",
    "use_abstract_mesh": "sagax.sharding",
}


def __getattr__(name: str) -> Any:
    """Import public submodules and functions on first use."""
    if name in _LAZY:
        return importlib.import_module(f"sagax.{name}")
    if name in _LAZY_FUNCTIONS:
        module, _, its_name = _LAZY_FUNCTIONS[name].partition(":")
        found = getattr(importlib.import_module(module), its_name or name)
        globals()[name] = found  # asked for once
        return found
    raise AttributeError(f"module 'sagax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_FUNCTIONS})
