"""Provide what kernels for TPUs use. Such kernels run on CPUs, as far as they need no other devices."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.experimental.pallas._pipelines as _pipelines
import sagax.numpy as snp
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record
from sagax.experimental.pallas._accesses import load as _masked_load
from sagax.experimental.pallas._accesses import store as _masked_store
from sagax.experimental.pallas._blocks import PrefetchScalarGridSpec
from sagax.experimental.pallas._interpret import (
    InterpretParams,
    force_tpu_interpret_mode,
    reset_tpu_interpret_mode_state,
    set_tpu_interpret_mode,
)
from sagax.experimental.pallas._memory import SemaphoreType
from sagax.experimental.pallas._memory import TPUMemorySpace as MemorySpace
from sagax.experimental.pallas._meshes import TensorCoreMesh
from sagax.experimental.pallas._needs import TPU, needs, others, unsupported
from sagax.experimental.pallas._operations import reciprocal, when
from sagax.experimental.pallas._semaphores import (
    async_copy,
    async_remote_copy,
    core_barrier,
    get_barrier_semaphore,
    make_async_copy,
    make_async_remote_copy,
    sync_copy,
)
from sagax.lax import axis_index

VMEM = MemorySpace.VMEM
VMEM_SHARED = MemorySpace.VMEM_SHARED
SMEM = MemorySpace.SMEM
CMEM = MemorySpace.CMEM
HBM = MemorySpace.HBM
SEMAPHORE = MemorySpace.SEMAPHORE


def create_tensorcore_mesh(axis_name: str, num_cores: int | None = None) -> TensorCoreMesh:
    """Return `TensorCoreMesh(axis_name=..., num_cores=...)`, its newer name; by default of one core.

    >>> create_tensorcore_mesh("core", num_cores=2).shape["core"]
    2
    """
    return TensorCoreMesh(axis_name, 1 if num_cores is None else num_cores)


class GridDimensionSemantics(enum.Enum):
    """Say whether programs along an axis of the grid may run in any order, also at a time."""

    PARALLEL = "parallel"
    CORE_PARALLEL = "core_parallel"
    SUBCORE_PARALLEL = "subcore_parallel"
    ARBITRARY = "arbitrary"


PARALLEL = GridDimensionSemantics.PARALLEL
CORE_PARALLEL = GridDimensionSemantics.CORE_PARALLEL
SUBCORE_PARALLEL = GridDimensionSemantics.SUBCORE_PARALLEL
ARBITRARY = GridDimensionSemantics.ARBITRARY


@record
class CompilerParams:
    """Options of the compiler for TPUs. On CPUs `dimension_semantics` matters, to the checks for races.

    >>> CompilerParams(dimension_semantics=("parallel", "arbitrary")).dimension_semantics
    ('parallel', 'arbitrary')
    """

    dimension_semantics: Any = None
    allow_input_fusion: Any = None
    vmem_limit_bytes: int | None = None
    collective_id: int | None = None
    has_side_effects: Any = False
    flags: Any = None
    internal_scratch_in_bytes: int | None = None
    serialization_format: int = 1
    disable_bounds_checks: bool = False
    disable_semaphore_checks: bool = False
    skip_device_barrier: bool = False
    allow_collective_id_without_custom_barrier: bool = False
    shape_invariant_numerics: bool = True
    use_tc_tiling_on_sc: bool | None = None
    needs_layout_passes: bool = True
    fuse_transposed_lhs_in_matmul: bool = False
    opt_level: Any = None


class ChipVersion(enum.Enum):
    """The generations of TPUs."""

    TPU_V2 = "v2"
    TPU_V3 = "v3"
    TPU_V4I = "v4i"
    TPU_V4 = "v4"
    TPU_V5E = "v5e"
    TPU_V5P = "v5p"
    TPU_V6E = "v6e"
    TPU_7 = "7"
    TPU_7X = "7x"


@record
class TpuInfo:
    """The sizes and speeds of a TPU."""

    chip_version: Any
    generation: int
    num_cores: int
    num_lanes: int
    num_sublanes: int
    mxu_column_size: int
    num_mxus: int
    num_accumulators: int
    vmem_capacity_bytes: int
    cmem_capacity_bytes: int
    smem_capacity_bytes: int
    hbm_capacity_bytes: int
    mem_bw_bytes_per_second: int
    bf16_ops_per_second: int
    int8_ops_per_second: int
    fp8_ops_per_second: int
    int4_ops_per_second: int
    sparse_core: Any = None


def is_tpu_device() -> bool:
    """Return whether the default device is a TPU: no.

    >>> is_tpu_device()
    False
    """
    return False


def get_tpu_info() -> TpuInfo:
    """Raise an error: there is no TPU to describe."""
    raise unsupported("get_tpu_info", TPU, "choose block sizes by hand")


class BufferType(enum.Enum):
    """Name what a pipeline does with a buffer."""

    INPUT = 1
    OUTPUT = 2
    ACCUMULATOR = 3
    INPUT_OUTPUT = 4
    MANUAL = 5


class BufferedRefBase:
    """Base of the buffers of a pipeline, which need a TPU: `emit_pipeline` makes its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise unsupported(type(self).__name__, TPU, "let emit_pipeline create the buffers")


class BufferedRef(BufferedRefBase):
    """A buffer of a pipeline, which needs a TPU."""


def emit_pipeline(
    body: Callable[..., Any],
    *,
    grid: Any,
    in_specs: Any = (),
    out_specs: Any = (),
    tiling: Any = None,
    core_axis: Any = None,
    core_axis_name: Any = None,
    dimension_semantics: Any = None,
    trace_scopes: bool = True,
    no_pipelining: bool = False,
    output_wait_read_only: bool = False,
    _explicit_indices: bool = False,
) -> Callable[..., None]:
    """Return a function of references that runs `body` on each of their blocks, within a kernel.

    Args:
      body: a function of references to blocks: of each input, then of each output.
      grid: the number of blocks along each axis of the pipeline.
      in_specs, out_specs: a `BlockSpec` for each reference.

    >>> pl = sagax.experimental.pallas
    >>> def kernel(x_ref, o_ref):
    ...     def body(x, o):
    ...         o[...] = x[...] * 2
    ...     spec = pl.BlockSpec((2,), lambda i: (i,))
    ...     emit_pipeline(body, grid=(3,), in_specs=[spec], out_specs=[spec])(x_ref, o_ref)
    >>> pl.pallas_call(kernel, sagax.ShapeDtypeStruct((6,), snp.float32))(snp.arange(6.0))
    Array([ 0.,  2.,  4.,  6.,  8., 10.], dtype=float32)
    """
    if core_axis is not None or core_axis_name is not None:
        raise unsupported("emit_pipeline(core_axis=...)", TPU, "leave core_axis out")
    return _pipelines.pipeline(
        body, grid, in_specs, out_specs, function="emit_pipeline", explicit=_explicit_indices
    )


def emit_pipeline_with_allocations(
    body: Callable[..., Any], *, grid: Any, in_specs: Any = (), out_specs: Any = ()
) -> tuple:
    """Return a pipeline, and a function that allocates its buffers: nothing, on CPUs."""
    run = _pipelines.pipeline(
        body, grid, in_specs, out_specs, function="emit_pipeline_with_allocations"
    )

    def pipeline(*refs: Any, allocations: Any = None, **options: Any) -> None:
        run(*refs, **options)

    return pipeline, lambda *refs, **_: ()


def run_on_first_core(core_axis_name: str) -> Callable[[Callable[[], None]], None]:
    """Decorate a function: run it on the first core of an axis only."""

    def decorate(fun: Callable[[], None]) -> None:
        if not core_axis_name:
            raise ArgumentValueError.about(
                "run_on_first_core", "core_axis_name", repr(core_axis_name), "the name of an axis"
            )
        when(axis_index(core_axis_name) == 0)(fun)

    return decorate


def load(ref: Any, *, mask: Any = None) -> Any:
    """Read a reference or a view; what `mask` leaves out is not defined.

    >>> load(sagax.new_ref(snp.arange(2))).tolist()
    [0, 1]
    """
    return _masked_load(ref, mask=mask)


def store(ref: Any, val: Any, *, mask: Any = None) -> None:
    """Write a reference or a view where `mask` holds."""
    _masked_store(ref, val, mask=mask)


def bitcast(x: Any, ty: Any) -> Any:
    """See the bytes of an array as another dtype; dimension -2 changes with the width.

    >>> bitcast(snp.float32(1.0), snp.int32).tolist()
    1065353216
    """
    old, new = np.dtype(x.dtype).itemsize, np.dtype(ty).itemsize
    if old == new:
        return x.view(ty)
    if x.ndim < 2:
        raise ArgumentValueError(
            "another width needs two dimensions", function="bitcast", argument="x", got=x
        )
    rows = snp.swapaxes(x, -1, -2).view(ty)
    return snp.swapaxes(rows, -1, -2)


def roll(x: Any, shift: Any, axis: int, *, stride: Any = None, stride_axis: Any = None) -> Any:
    """Move elements along an axis, cyclically.

    >>> roll(snp.arange(4), 1, 0).tolist()
    [3, 0, 1, 2]
    """
    if stride is not None or stride_axis is not None:
        raise unsupported("roll(stride=...)", TPU, "roll the rows one by one")
    return snp.roll(x, shift, axis)


def einshape(equation: str, x: Any) -> Any:
    """Raise an error: it is not implemented; use reshape and transpose."""
    raise unsupported("einshape", TPU, "use reshape and transpose")


def with_memory_space_constraint(x: Any, memory_space: Any) -> Any:
    """Return `x`: on CPUs there is one memory.

    >>> with_memory_space_constraint(snp.ones(1), MemorySpace.HBM).shape
    (1,)
    """
    return x


_KEYS = "draw outside of the kernel with sagax.random, and pass the numbers in"
prng_seed = needs(__name__, "prng_seed", TPU, _KEYS)
prng_random_bits = needs(__name__, "prng_random_bits", TPU, _KEYS)
stateful_bits = needs(__name__, "stateful_bits", TPU, _KEYS)
stateful_uniform = needs(__name__, "stateful_uniform", TPU, _KEYS)
stateful_normal = needs(__name__, "stateful_normal", TPU, _KEYS)
stateful_bernoulli = needs(__name__, "stateful_bernoulli", TPU, _KEYS)
to_pallas_key = needs(__name__, "to_pallas_key", TPU, _KEYS)
sample_block = needs(__name__, "sample_block", TPU, _KEYS)

# What jax's module has beside these.
__getattr__ = others(
    __name__,
    {
        TPU: """
            ACC BufferedRefBase CoreType LoweringException PipelineStep SideEffectType Tiling annotate conv core
            dma_semaphore emit_pipeline_with_async_prefetch get_tpu_info_for_chip has_memory_space join_bits
            matmul_acc_lhs matmul_lhs_fifo matmul_pop matmul_pop_fifo matmul_push_rhs pack_elementwise pack_fp6
            split_bits stochastic_round touch trace_value unpack_elementwise unpack_fp6
        """
    },
)

__all__ = [
    "ARBITRARY",
    "CMEM",
    "CORE_PARALLEL",
    "HBM",
    "PARALLEL",
    "SEMAPHORE",
    "SMEM",
    "SUBCORE_PARALLEL",
    "VMEM",
    "VMEM_SHARED",
    "BufferType",
    "BufferedRef",
    "BufferedRefBase",
    "ChipVersion",
    "CompilerParams",
    "GridDimensionSemantics",
    "InterpretParams",
    "MemorySpace",
    "PrefetchScalarGridSpec",
    "SemaphoreType",
    "TensorCoreMesh",
    "TpuInfo",
    "async_copy",
    "async_remote_copy",
    "bitcast",
    "core_barrier",
    "einshape",
    "emit_pipeline",
    "emit_pipeline_with_allocations",
    "force_tpu_interpret_mode",
    "get_barrier_semaphore",
    "get_tpu_info",
    "is_tpu_device",
    "load",
    "make_async_copy",
    "make_async_remote_copy",
    "prng_random_bits",
    "prng_seed",
    "reciprocal",
    "reset_tpu_interpret_mode_state",
    "roll",
    "run_on_first_core",
    "sample_block",
    "set_tpu_interpret_mode",
    "stateful_bernoulli",
    "stateful_bits",
    "stateful_normal",
    "stateful_uniform",
    "store",
    "sync_copy",
    "to_pallas_key",
    "with_memory_space_constraint",
]
