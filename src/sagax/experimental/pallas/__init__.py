"""Write kernels: functions of references to blocks, which run once for each program of a grid.

>>> def double(x_ref, o_ref):
...     o_ref[...] = 2 * x_ref[...]
>>> spec = BlockSpec((4,), lambda i: (i,))
>>> out = sagax.ShapeDtypeStruct((8,), snp.float32)
>>> pallas_call(double, out, grid=(2,), in_specs=[spec], out_specs=spec)(snp.arange(8.0))
Array([ 0.,  2.,  4.,  6.,  8., 10., 12., 14.], dtype=float32)
"""

from sagax.experimental.pallas import _needs, mosaic_gpu, tpu, triton
from sagax.experimental.pallas._blocks import (
    BlockDim,
    Blocked,
    BlockSpec,
    BoundedSlice,
    Buffered,
    Element,
    GridSpec,
    Indirect,
    RevisitMode,
    Squeezed,
    no_block_spec,
    squeezed,
)
from sagax.experimental.pallas._call import pallas_call, pallas_call_p
from sagax.experimental.pallas._check import KernelCheckError, KernelRaceWarning
from sagax.experimental.pallas._frames import num_programs, program_id
from sagax.experimental.pallas._memory import MemoryRef, MemorySpace
from sagax.experimental.pallas._meshes import core_map, kernel
from sagax.experimental.pallas._operations import (
    CostEstimate,
    align_to,
    broadcast_to,
    cdiv,
    debug_check,
    debug_print,
    delay,
    ds,
    dslice,
    empty,
    empty_like,
    empty_ref_like,
    estimate_cost,
    get_global,
    loop,
    multiple_of,
    next_power_of_2,
    reciprocal,
    run_scoped,
    run_state,
    strides_from_shape,
    when,
    with_scoped,
)
from sagax.experimental.pallas._semaphores import semaphore_read, semaphore_signal, semaphore_wait
from sagax.experimental.pallas.tpu import SemaphoreType as semaphore
from sagax.numpy._indexing.windows import Slice

ANY = MemorySpace.ANY
HOST = MemorySpace.HOST

# What jax's module has beside these.
__getattr__ = _needs.others(
    __name__,
    {
        "kernels that are compiled for a TPU or a GPU of their own": """
            CompilerParams DeviceIdType enable_debug_checks enable_poison_buffers lower_as_mlir
            pallas_export_experimental select_ref
        """
    },
)
