"""Name what kernels for Mosaic GPU use: descriptions exist, operations say which GPU they need."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

import sagax.experimental.pallas._blocks as _blocks
from sagax._src.core import dtypes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.references import AbstractRef
from sagax._src.frozen_class import record
from sagax.experimental.pallas._memory import GPUMemorySpace as MemorySpace
from sagax.experimental.pallas._memory import GPUSemaphoreType as SemaphoreType
from sagax.experimental.pallas._meshes import GPUMesh as Mesh
from sagax.experimental.pallas._needs import BLACKWELL, HOPPER, needs, others

GMEM = MemorySpace.GMEM
SMEM = MemorySpace.SMEM
TMEM = MemorySpace.TMEM
REGS = MemorySpace.REGS


class Layout(enum.Enum):
    """Name how the registers of a warpgroup hold an array."""

    WGMMA = 1
    WGMMA_8BIT = 2
    WGMMA_UPCAST_2X = 3
    WGMMA_UPCAST_4X = 4
    WGMMA_TRANSPOSED = 5
    WG_SPLAT = 6
    WG_STRIDED = 7
    TILED = 8
    TCGEN05 = 9
    TCGEN05_TRANSPOSED = 10
    TCGEN05_M64_COLLECTIVE = 11
    TCGEN05_TMEM_NATIVE = 12
    TCGEN05_M64_COLLECTIVE_NATIVE = 13
    SMEM_GMEM_COPY = 14
    TMA_INDICES = 15
    TMA_INDICES_4 = 16


class OOBFillMode(enum.Enum):
    """Name what a copy reads out of bounds."""

    UNSPECIFIED = 1
    NEGATIVE_INF = 2


class TraceScope(enum.Enum):
    """Name the threads that a profile records."""

    WARPGROUP = "warpgroup"
    WARP = "warp"


class LoweringSemantics(enum.Enum):
    """Name the threads that an operation of the kernel stands for."""

    Lane = 1
    Warpgroup = 2


@record
class TilingTransform:
    """Store an array as tiles of this shape.

    >>> TilingTransform((8, 64)).tiling
    (8, 64)
    """

    tiling: tuple


@record
class SwizzleTransform:
    """Store an array with its bytes swizzled, to avoid bank conflicts.

    >>> SwizzleTransform(128).swizzle
    128
    """

    swizzle: int


@record
class Barrier:
    """The type of a barrier in shared memory."""

    num_arrivals: int = 1
    num_barriers: Any = ()
    orders_tensor_core: bool = False

    def get_ref_aval(self) -> AbstractRef:
        """Return the type of the reference to the barriers."""
        shape = (self.num_barriers,) if isinstance(self.num_barriers, int) else self.num_barriers
        return MemorySpace.SMEM(tuple(shape), np.dtype(np.int32)).get_ref_aval()


@record
class WGMMAAccumulatorRef:
    """The type of an accumulator of matrix products, in registers.

    >>> ACC((64, 128)).shape
    (64, 128)
    """

    shape: tuple
    dtype: Any = np.dtype(np.float32)
    _init: Any = None

    def get_ref_aval(self) -> AbstractRef:
        """Return the type of the reference to the accumulator."""
        aval = ShapedArray(tuple(self.shape), dtypes.as_dtype(self.dtype))
        return AbstractRef(aval, MemorySpace.REGS)


ACC = WGMMAAccumulatorRef


@record
class SemaphoreSignal:
    """One of several signals to semaphores."""

    ref: Any
    device_id: Any
    inc: Any = 1


@record
class CompilerParams:
    """Options of the compiler for Mosaic GPU; on CPUs without effect.

    >>> CompilerParams().max_concurrent_steps
    1
    """

    approx_math: bool = False
    dimension_semantics: Any = None
    max_concurrent_steps: int = 1
    unsafe_no_auto_barriers: bool = False
    reduction_scratch_bytes: int = 2048
    profile_space: int = 0
    profile_dir: str = ""
    profile_trace_scope: Any = TraceScope.WARPGROUP
    profile_bounds_check: bool = False
    lowering_semantics: Any = LoweringSemantics.Warpgroup
    skip_device_barrier: bool = False
    is_multi_process: bool = False


class BlockSpec(_blocks.BlockSpec):
    """Say which block of an array a program sees, and how shared memory holds it.

    >>> BlockSpec((8, 8), lambda i: (i, 0), transforms=(TilingTransform((8, 8)),)).block_shape
    (8, 8)
    """

    __slots__ = ("collective_axes", "delay_release", "oob_fill_mode", "transforms")

    def __init__(
        self,
        block_shape: Any = None,
        index_map: Any = None,
        pipeline_mode: Any = None,
        transforms: Any = (),
        delay_release: int = 0,
        collective_axes: Any = None,
        oob_fill_mode: Any = OOBFillMode.UNSPECIFIED,
        *,
        memory_space: Any = None,
    ) -> None:
        super().__init__(block_shape, index_map, pipeline_mode, memory_space=memory_space)
        self.transforms = tuple(transforms)
        self.delay_release = delay_release
        self.collective_axes = collective_axes
        self.oob_fill_mode = oob_fill_mode


def _hopper(name: str) -> Any:
    return needs(__name__, name, HOPPER)


def _blackwell(name: str) -> Any:
    return needs(__name__, name, BLACKWELL)


kernel = _hopper("kernel")
emit_pipeline = _hopper("emit_pipeline")
emit_pipeline_warp_specialized = _hopper("emit_pipeline_warp_specialized")
as_torch_kernel = _hopper("as_torch_kernel")
barrier_arrive = _hopper("barrier_arrive")
barrier_wait = _hopper("barrier_wait")
commit_smem = _hopper("commit_smem")
copy_gmem_to_smem = _hopper("copy_gmem_to_smem")
copy_smem_to_gmem = _hopper("copy_smem_to_gmem")
wait_smem_to_gmem = _hopper("wait_smem_to_gmem")
dynamic_scheduling_loop = _hopper("dynamic_scheduling_loop")
nd_loop = _hopper("nd_loop")
layout_cast = _hopper("layout_cast")
multimem_load_reduce = _hopper("multimem_load_reduce")
multimem_store = _hopper("multimem_store")
planar_snake = _hopper("planar_snake")
query_cluster_cancel = _blackwell("query_cluster_cancel")
try_cluster_cancel = _blackwell("try_cluster_cancel")
semaphore_signal_parallel = _hopper("semaphore_signal_parallel")
set_max_registers = _hopper("set_max_registers")
wgmma = _hopper("wgmma")
wgmma_wait = _hopper("wgmma_wait")
async_load_tmem = _blackwell("async_load_tmem")
async_store_tmem = _blackwell("async_store_tmem")
commit_tmem = _blackwell("commit_tmem")
tcgen05_commit_arrive = _blackwell("tcgen05_commit_arrive")
tcgen05_mma = _blackwell("tcgen05_mma")
wait_load_tmem = _blackwell("wait_load_tmem")

# What jax's module has beside these; `kernel` and blocks of `pallas_call` have no use for it.
__getattr__ = others(
    __name__,
    {
        HOPPER: """
            ClusterBarrier CopyPartition InterpretGPUParams NDLoopInfo PeerMemRef PipelinePipeline RefType RefUnion
            Replicated ShapeDtypeStruct Tiling Transform WarpMesh alloc_semaphore async_prefetch async_store_smem atomic_add
            atomic_and atomic_max atomic_min atomic_or atomic_xor barrier_arrive_and_wait barrier_test
            broadcasted_iota cluster_ref commit_smem_to_gmem_group find_swizzle force_gpu_interpret_mode
            griddepcontrol_launch_dependents griddepcontrol_wait im2col_ref inline_mgpu load max min mma
            multicast_ref print_layout prod remote_ref semaphore_signal semaphore_signal_multicast semaphore_wait
            set_gpu_interpret_mode store sum transpose_ref wait_gmem_to_smem warp_map wgmma_accumulator_load
        """,
        BLACKWELL: """
            TMEMLayout TryClusterCancelResult async_copy_scales_to_tmem async_copy_smem_to_tmem
            async_copy_sparse_metadata_to_tmem format_tcgen05_sparse_metadata
        """,
    },
)

__all__ = ["Mesh", "SemaphoreType"]
