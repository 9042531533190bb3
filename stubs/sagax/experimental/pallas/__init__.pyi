"""Write kernels: functions of references to blocks, which run once for each program of a grid."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sagax.experimental.pallas import mosaic_gpu as mosaic_gpu
from sagax.experimental.pallas import tpu as tpu
from sagax.experimental.pallas import triton as triton
from sagax.experimental.pallas._blocks import BlockDim as BlockDim
from sagax.experimental.pallas._blocks import Blocked as Blocked
from sagax.experimental.pallas._blocks import BlockSpec as BlockSpec
from sagax.experimental.pallas._blocks import BoundedSlice as BoundedSlice
from sagax.experimental.pallas._blocks import Buffered as Buffered
from sagax.experimental.pallas._blocks import Element as Element
from sagax.experimental.pallas._blocks import GridSpec as GridSpec
from sagax.experimental.pallas._blocks import Indirect as Indirect
from sagax.experimental.pallas._blocks import RevisitMode as RevisitMode
from sagax.experimental.pallas._blocks import Squeezed as Squeezed
from sagax.experimental.pallas._blocks import no_block_spec as no_block_spec
from sagax.experimental.pallas._blocks import squeezed as squeezed
from sagax.experimental.pallas._call import pallas_call_p as pallas_call_p
from sagax.experimental.pallas._check import KernelCheckError as KernelCheckError
from sagax.experimental.pallas._check import KernelRaceWarning as KernelRaceWarning
from sagax.experimental.pallas._memory import MemoryRef as MemoryRef
from sagax.experimental.pallas._memory import MemorySpace as MemorySpace
from sagax.experimental.pallas._memory import SemaphoreType as _semaphore
from sagax.experimental.pallas._operations import CostEstimate as CostEstimate
from sagax.numpy._indexing.windows import Slice as Slice

ANY: Any
HOST: Any

def align_to(a: Any, alignment: Any) -> Any: ...
def broadcast_to(a: Any, shape: Sequence[int]) -> Any: ...
def cdiv(a: Any, b: Any) -> Any: ...
def core_map(
    mesh: Any,
    *,
    compiler_params: Any = None,
    interpret: Any = False,
    debug: bool = False,
    cost_estimate: Any = None,
    name: str | None = None,
    metadata: Any = None,
    scratch_shapes: Any = (),
) -> Callable[[Callable[..., Any]], None]: ...
def debug_check(condition: Any, message: str) -> None: ...
def debug_print(fmt: str, *args: Any) -> None: ...
def delay(nanos: Any) -> None: ...
def ds(start: Any, size: Any = ..., stride: int | None = None) -> slice | Slice: ...
def dslice(start: Any, size: Any = ..., stride: int | None = None) -> slice | Slice: ...
def empty(shape: Sequence[int], dtype: Any, *, out_sharding: Any = None) -> Any: ...
def empty_like(x: Any) -> Any: ...
def empty_ref_like(x: Any) -> Any: ...
def estimate_cost(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> CostEstimate: ...
def get_global(what: Any) -> Any: ...
def kernel(
    body: Any = ...,
    out_type: Any = (),
    *,
    mesh: Any,
    scratch_types: Any = (),
    compiler_params: Any = None,
    interpret: Any = False,
    cost_estimate: Any = None,
    debug: bool = False,
    name: str | None = None,
    metadata: Any = None,
) -> Any: ...
def loop(
    lower: Any, upper: Any, *, init_carry: Any = None, step: Any = 1, unroll: Any = None
) -> Callable[[Callable[..., Any]], Any]: ...
def multiple_of(x: Any, values: Any) -> Any: ...
def next_power_of_2(x: int) -> int: ...
def num_programs(axis: int) -> Any: ...
def pallas_call(
    kernel: Callable[..., None],
    out_shape: Any,
    *,
    grid_spec: GridSpec | None = None,
    grid: Any = (),
    in_specs: Any = ...,
    out_specs: Any = ...,
    scratch_shapes: Any = (),
    input_output_aliases: Mapping[int, int] = ...,
    debug: bool = False,
    interpret: Any = False,
    name: str | None = None,
    compiler_params: Any = None,
    cost_estimate: Any = None,
    metadata: Any = None,
) -> Callable[..., Any]: ...
def program_id(axis: int) -> Any: ...
def reciprocal(x: Any, *, approx: bool = False, full_range: bool = True) -> Any: ...
def run_scoped(
    f: Callable[..., Any], *types: Any, collective_axes: Any = (), **kw_types: Any
) -> Any: ...
def run_state(f: Callable[[Any], None]) -> Callable[[Any], Any]: ...

semaphore = _semaphore

def semaphore_read(sem_or_view: Any) -> Any: ...
def semaphore_signal(
    sem_or_view: Any,
    inc: Any = 1,
    *,
    device_id: Any = None,
    device_id_type: Any = None,
    core_index: Any = None,
) -> None: ...
def semaphore_wait(sem_or_view: Any, value: Any = 1, *, decrement: bool = True) -> None: ...
def strides_from_shape(shape: Sequence[int]) -> tuple[int, ...]: ...
def when(condition: Any) -> Callable[[Callable[[], None]], None]: ...
def with_scoped(*types: Any, collective_axes: Any = (), **kw_types: Any) -> Callable[..., Any]: ...
