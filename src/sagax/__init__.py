"""sagax: composable function transformations of Python and NumPy programs on XLA.

`jit` compiles, `grad` differentiates, `vmap` maps over examples; they compose in any order. Public
names and semantics follow jax 0.12.

>>> import sagax
>>> import sagax.numpy as snp
>>> sagax.grad(lambda x: snp.sum(x ** 2))(snp.array([1.0, 2.0]))
Array([2., 4.], dtype=float32)
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING

if _sys.argv[:2] == ["-m", "check"] and _sys.orig_argv[-len(_sys.argv) :][:1] == ["sagax"]:
    # `python -m sagax check` reads source, and should not wait for XLA. Python imports this package
    # before its `__main__`.
    from sagax._check.command import run as _run

    _sys.exit(_run(_sys.argv[2:]))

from sagax import _assemble as _assemble  # first: plugs the parts together
from sagax import dtypes, tree, tree_util
from sagax._src.api.derivatives import grad, jvp, linear_transpose, linearize, value_and_grad, vjp
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
    allow_f16_reductions,
    array_garbage_collection_guard,
    auto_pcast,
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
    jax2tf_associative_scan_reductions,
    legacy_prng_key,
    log_compiles,
    no_execution,
    no_tracing,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    remove_size_one_mesh_axis_from_type,
    softmax_custom_jvp,
    thread_guard,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
)
from sagax._src.core.value import Array
from sagax._src.lazy_import import lazy_names as _lazy_names
from sagax._src.runtime.devices import (
    default_backend,
    device_count,
    devices,
    host_count,
    host_id,
    host_ids,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from sagax._src.runtime.effect_tokens import effects_barrier
from sagax._src.xla import Device

if TYPE_CHECKING:
    from sagax._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)

__version__ = "0.2.0"

float0 = dtypes.float0
