"""sagax: composable function transformations of Python and NumPy programs on XLA."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from sagax import ad as ad
from sagax import ad_checkpoint as ad_checkpoint
from sagax import api_util as api_util
from sagax import core as core
from sagax import custom_batching as custom_batching
from sagax import custom_derivatives as custom_derivatives
from sagax import custom_transpose as custom_transpose
from sagax import debug as debug
from sagax import distributed as distributed
from sagax import dlpack as dlpack
from sagax import dtypes as dtypes
from sagax import errors as errors
from sagax import example_libraries as example_libraries
from sagax import experimental as experimental
from sagax import export as export
from sagax import extend as extend
from sagax import ffi as ffi
from sagax import flatten_util as flatten_util
from sagax import image as image
from sagax import interpreters as interpreters
from sagax import lax as lax
from sagax import lib as lib
from sagax import memory as memory
from sagax import monitoring as monitoring
from sagax import nn as nn
from sagax import numpy as numpy
from sagax import ops as ops
from sagax import profiler as profiler
from sagax import random as random
from sagax import ref as ref
from sagax import scipy as scipy
from sagax import sharding as sharding
from sagax import stages as stages
from sagax import tree as tree
from sagax import tree_util as tree_util
from sagax import typing as typing
from sagax._autofix.interactive import Explained
from sagax._plan.public import plan as plan
from sagax._src.api.compile_log import CompilesTable
from sagax._src.api.option_enums import CompilerEffortLevel as CompilerEffortLevel
from sagax._src.api.option_enums import Inline as Inline
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct as ShapeDtypeStruct
from sagax._src.api.user_contexts import UserContext
from sagax._src.config import Context
from sagax._src.config import allow_f16_reductions as allow_f16_reductions
from sagax._src.config import array_garbage_collection_guard as array_garbage_collection_guard
from sagax._src.config import auto_pcast as auto_pcast
from sagax._src.config import check_tracer_leaks as check_tracer_leaks
from sagax._src.config import config as config
from sagax._src.config import debug_infs as debug_infs
from sagax._src.config import debug_key_reuse as debug_key_reuse
from sagax._src.config import debug_nans as debug_nans
from sagax._src.config import default_device as default_device
from sagax._src.config import default_matmul_precision as default_matmul_precision
from sagax._src.config import default_prng_impl as default_prng_impl
from sagax._src.config import enable_checks as enable_checks
from sagax._src.config import enable_custom_prng as enable_custom_prng
from sagax._src.config import enable_x64 as enable_x64
from sagax._src.config import explain_cache_misses as explain_cache_misses
from sagax._src.config import (
    jax2tf_associative_scan_reductions as jax2tf_associative_scan_reductions,
)
from sagax._src.config import legacy_prng_key as legacy_prng_key
from sagax._src.config import log_compiles as log_compiles
from sagax._src.config import no_execution as no_execution
from sagax._src.config import no_tracing as no_tracing
from sagax._src.config import numpy_dtype_promotion as numpy_dtype_promotion
from sagax._src.config import numpy_rank_promotion as numpy_rank_promotion
from sagax._src.config import (
    remove_size_one_mesh_axis_from_type as remove_size_one_mesh_axis_from_type,
)
from sagax._src.config import softmax_custom_jvp as softmax_custom_jvp
from sagax._src.config import thread_guard as thread_guard
from sagax._src.config import threefry_partitionable as threefry_partitionable
from sagax._src.config import transfer_guard as transfer_guard
from sagax._src.config import transfer_guard_device_to_device as transfer_guard_device_to_device
from sagax._src.config import transfer_guard_device_to_host as transfer_guard_device_to_host
from sagax._src.config import transfer_guard_host_to_device as transfer_guard_host_to_device
from sagax._src.core.avals import ShapedArray
from sagax._src.core.jaxpr import ClosedJaxpr
from sagax._src.core.meshes import AbstractMesh as AbstractMesh
from sagax._src.core.meshes import Mesh as Mesh
from sagax._src.core.references import Ref as Ref
from sagax._src.core.shardings import NamedSharding as NamedSharding
from sagax._src.core.value import Array as Array
from sagax._src.core.value import Device as Device
from sagax._src.higher_order.remat import checkpoint_policies as checkpoint_policies
from sagax._src.runtime.array import Shard as Shard
from sagax._src.runtime.shardings import set_mesh as set_mesh
from sagax.custom_derivatives import custom_jvp as custom_jvp
from sagax.custom_derivatives import custom_vjp as custom_vjp
from sagax.numpy._indexing.windows import Slice
from sagax.sharding import P as P
from sagax.stages import Wrapped
from sagax.typing import ArrayLike

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Rc = TypeVar("_Rc", covariant=True)
_T = TypeVar("_T")
_A = TypeVar("_A")
_B = TypeVar("_B")
_C = TypeVar("_C")
_Aux = TypeVar("_Aux")

class _Jit(Protocol):
    def __call__(self, fun: Callable[_P, _R], /) -> Wrapped[_P, _R]: ...

class _SameSignature(Protocol):
    def __call__(self, fun: Callable[_P, _R], /) -> Callable[_P, _R]: ...

class _Mapped1(Protocol[_Rc]):
    def __call__(self, x: ArrayLike, /, *args: Any, **kwargs: Any) -> _Rc: ...

class _Mapped2(Protocol[_Rc]):
    def __call__(self, x: ArrayLike, y: ArrayLike, /, *args: Any, **kwargs: Any) -> _Rc: ...

def checking_leaks() -> Context: ...
def clear_caches() -> None: ...
def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]: ...
def custom_gradient(
    fun: Callable[..., Any] | None = None,
    *,
    with_logs: bool = False,
    remat: bool = False,
    with_accums: Any = None,
) -> Callable[..., Any]: ...
def default_backend() -> str: ...
def device_count(backend: str | None = None) -> int: ...
def device_put_replicated(x: Any, devices: Sequence[Any]) -> Any: ...
def device_put_sharded(shards: Sequence[Any], devices: Sequence[Any]) -> Any: ...
def disable_jit(disable: bool = True) -> Context: ...
def ds(start: Any, size: Any = ..., stride: int | None = None) -> slice | Slice: ...
def effects_barrier() -> None: ...
def empty_ref(ty: Any, *, memory_space: Any = None, pin: bool = False) -> Ref: ...
def ensure_compile_time_eval() -> AbstractContextManager[None]: ...
def explain(error: BaseException) -> Explained: ...
def explain_compiles() -> CompilesTable: ...

float0: Any

def free_ref(ref: Ref) -> None: ...
def freeze(ref: Ref) -> Any: ...
def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]: ...
def get_abstract_mesh() -> AbstractMesh: ...
def get_mesh() -> Mesh: ...
def host_count(backend: str | None = None) -> int: ...
def host_id(backend: str | None = None) -> int: ...
def host_ids(backend: str | None = None) -> list[int]: ...
def live_arrays(platform: str | None = None) -> list[Array]: ...
def local_device_count(backend: str | None = None) -> int: ...
def make_array_from_callback(
    shape: Sequence[int], sharding: Any, data_callback: Callable[[Any], Any], dtype: Any = None
) -> Array: ...
def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Sequence[int | None] | None = None
) -> Any: ...
def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Any], *, dtype: Any = None
) -> Array: ...
def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[Any],
    axis_types: Sequence[Any] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh: ...
def make_user_context(default_value: Any = None) -> UserContext: ...
def named_scope(name: str) -> AbstractContextManager[None]: ...
def new_ref(
    init_val: Any, *, memory_space: Any = None, kind: str | None = None, pin: bool = False
) -> Ref: ...
def print_environment_info(return_string: bool = False) -> str | None: ...
def process_count(backend: str | None = None) -> int: ...
def process_index(backend: str | None = None) -> int: ...
def process_indices(backend: str | None = None) -> list[int]: ...
def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = ...,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Any = ...,
    check_vma: bool = True,
) -> Any: ...
def smap(
    f: Callable[..., Any] | None = None, /, *, in_axes: Any = ..., out_axes: Any, axis_name: Any
) -> Any: ...
def use_abstract_mesh(mesh: AbstractMesh) -> Any: ...
def xla_computation(
    fun: Callable[..., Any],
    static_argnums: Any = (),
    axis_env: Any = None,
    in_parts: Any = None,
    out_parts: Any = None,
    backend: str | None = None,
    tuple_args: bool = False,
    instantiate_const_outputs: bool | None = None,
    return_shape: bool = False,
    donate_argnums: Any = (),
) -> Callable[..., Any]: ...

__version__: str

@overload
def autojit(
    fun: Callable[_P, _R], *, strict: bool = False, max_steps: int | None = None, **options: Any
) -> Wrapped[_P, _R]: ...
@overload
def autojit(
    fun: None = None, *, strict: bool = False, max_steps: int | None = None, **options: Any
) -> _Jit: ...
def block_until_ready(x: _T) -> _T: ...
@overload
def checkpoint(
    fun: Callable[_P, _R],
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[_P, _R]: ...
@overload
def checkpoint(
    fun: None = None,
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> _SameSignature: ...
def copy_to_host_async(x: _T) -> _T: ...
@overload
def device_get(x: Array) -> np.ndarray: ...
@overload
def device_get(x: Any) -> Any: ...
@overload
def device_put(
    x: ArrayLike,
    device: Any = None,
    *,
    src: Any = None,
    donate: bool = False,
    may_alias: bool | None = None,
) -> Array: ...
@overload
def device_put(
    x: _T,
    device: Any = None,
    *,
    src: Any = None,
    donate: bool = False,
    may_alias: bool | None = None,
) -> _T: ...
def devices(platform: str | None = None) -> list[Device]: ...
@overload
def eval_shape(fun: Callable[..., Array], *args: Any, **kwargs: Any) -> ShapeDtypeStruct: ...
@overload
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any: ...
@overload
def grad(
    fun: Callable[Concatenate[Array, _P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def grad(
    fun: Callable[Concatenate[float, _P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _P], _A]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _B, _P], Any],
    argnums: Literal[1],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], _B]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _B, _C, _P], Any],
    argnums: Literal[2],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _C, _P], _C]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _B, _P], Any],
    argnums: tuple[Literal[0], Literal[1]],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[_A, _B]]: ...
@overload
def grad(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[_P, Any]: ...
@overload
def grad(
    fun: Callable[Concatenate[Array, _P], tuple[Any, _Aux]],
    argnums: Literal[0],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[Array, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[Array, _P], tuple[Any, _Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[Array, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[float, _P], tuple[Any, _Aux]],
    argnums: Literal[0],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[Array, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[float, _P], tuple[Any, _Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[Array, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _P], tuple[Any, _Aux]],
    argnums: Literal[0],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _P], tuple[_A, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _P], tuple[Any, _Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _P], tuple[_A, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _B, _P], tuple[Any, _Aux]],
    argnums: Literal[1],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[_B, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _B, _C, _P], tuple[Any, _Aux]],
    argnums: Literal[2],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _C, _P], tuple[_C, _Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[_A, _B, _P], tuple[Any, _Aux]],
    argnums: tuple[Literal[0], Literal[1]],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[tuple[_A, _B], _Aux]]: ...
@overload
def grad(
    fun: Callable[_P, tuple[Any, _Aux]],
    argnums: int | Sequence[int],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[_P, tuple[Any, _Aux]]: ...
@overload
def grad(
    fun: Callable[_P, tuple[Any, _Aux]],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[_P, tuple[Any, _Aux]]: ...
@overload
def hessian(
    fun: Callable[Concatenate[Array, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def hessian(
    fun: Callable[Concatenate[float, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def hessian(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[_P, Any]: ...
@overload
def jacfwd(
    fun: Callable[Concatenate[Array, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def jacfwd(
    fun: Callable[Concatenate[float, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def jacfwd(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[_P, Any]: ...
@overload
def jacobian(
    fun: Callable[Concatenate[Array, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def jacobian(
    fun: Callable[Concatenate[float, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def jacobian(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[_P, Any]: ...
@overload
def jacrev(
    fun: Callable[Concatenate[Array, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def jacrev(
    fun: Callable[Concatenate[float, _P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[Concatenate[ArrayLike, _P], Array]: ...
@overload
def jacrev(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[_P, Any]: ...
@overload
def jit(
    fun: Callable[_P, _R],
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: dict[str, Any] | None = None,
    stale: Literal["warn", "retrace", "raise", "ignore"] | None = None,
    exact: bool | None = None,
    safe_where: bool | None = None,
    masks: str | None = None,
    reroll: str | None = None,
) -> Wrapped[_P, _R]: ...
@overload
def jit(
    fun: None = None,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: dict[str, Any] | None = None,
    stale: Literal["warn", "retrace", "raise", "ignore"] | None = None,
    exact: bool | None = None,
    safe_where: bool | None = None,
    masks: str | None = None,
    reroll: str | None = None,
) -> _Jit: ...
@overload
def jvp(
    fun: Callable[..., tuple[_R, _Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[True],
) -> tuple[_R, _R, _Aux]: ...
@overload
def jvp(
    fun: Callable[..., _R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[False] = False,
) -> tuple[_R, _R]: ...
def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Any = ()
) -> Callable[[Any], tuple[Any, ...]]: ...
@overload
def linearize(
    fun: Callable[..., tuple[_R, _Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[_R, Callable[..., _R], _Aux]: ...
@overload
def linearize(
    fun: Callable[..., _R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[_R, Callable[..., _R]]: ...
def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]: ...
@overload
def make_jaxpr(
    fun: Callable[_P, Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Any = None,
    return_shape: Literal[False] = False,
    abstracted_axes: Any = None,
) -> Callable[_P, ClosedJaxpr]: ...
@overload
def make_jaxpr(
    fun: Callable[_P, Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Any = None,
    *,
    return_shape: Literal[True],
    abstracted_axes: Any = None,
) -> Callable[_P, tuple[ClosedJaxpr, Any]]: ...
def named_call(fun: Callable[_P, _R], *, name: str | None = None) -> Callable[_P, _R]: ...
def pmap(
    fun: Callable[_P, _R],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Wrapped[_P, _R]: ...
@overload
def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: ShapeDtypeStruct,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Array: ...
@overload
def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any: ...
@overload
def remat(
    fun: Callable[_P, _R],
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[_P, _R]: ...
@overload
def remat(
    fun: None = None,
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> _SameSignature: ...
def reshard(x: _T, out_shardings: Any) -> _T: ...
def typeof(x: Any) -> ShapedArray: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[Array, _P], _R],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[_R, Array]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[float, _P], _R],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[_R, Array]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _P], _R],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _P], tuple[_R, _A]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _B, _P], _R],
    argnums: Literal[1],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[_R, _B]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _B, _C, _P], _R],
    argnums: Literal[2],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _C, _P], tuple[_R, _C]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _B, _P], _R],
    argnums: tuple[Literal[0], Literal[1]],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[_R, tuple[_A, _B]]]: ...
@overload
def value_and_grad(
    fun: Callable[_P, _R],
    argnums: int | Sequence[int] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[_P, tuple[_R, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[Array, _P], tuple[_R, _Aux]],
    argnums: Literal[0],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[tuple[_R, _Aux], Array]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[Array, _P], tuple[_R, _Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[tuple[_R, _Aux], Array]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[float, _P], tuple[_R, _Aux]],
    argnums: Literal[0],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[tuple[_R, _Aux], Array]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[float, _P], tuple[_R, _Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[Concatenate[ArrayLike, _P], tuple[tuple[_R, _Aux], Array]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _P], tuple[_R, _Aux]],
    argnums: Literal[0],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _P], tuple[tuple[_R, _Aux], _A]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _P], tuple[_R, _Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _P], tuple[tuple[_R, _Aux], _A]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _B, _P], tuple[_R, _Aux]],
    argnums: Literal[1],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[tuple[_R, _Aux], _B]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _B, _C, _P], tuple[_R, _Aux]],
    argnums: Literal[2],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _C, _P], tuple[tuple[_R, _Aux], _C]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[_A, _B, _P], tuple[_R, _Aux]],
    argnums: tuple[Literal[0], Literal[1]],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[Concatenate[_A, _B, _P], tuple[tuple[_R, _Aux], tuple[_A, _B]]]: ...
@overload
def value_and_grad(
    fun: Callable[_P, tuple[_R, _Aux]],
    argnums: int | Sequence[int],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable[_P, tuple[tuple[_R, _Aux], Any]]: ...
@overload
def value_and_grad(
    fun: Callable[_P, tuple[_R, _Aux]],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    safe_where: bool | None = None,
) -> Callable[_P, tuple[tuple[_R, _Aux], Any]]: ...
@overload
def vjp(
    fun: Callable[[Array], _R],
    x: ArrayLike,
    /,
    *,
    has_aux: Literal[False] = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple[_R, Callable[[Any], tuple[Array]]]: ...
@overload
def vjp(
    fun: Callable[[_A], _R],
    x: _A,
    /,
    *,
    has_aux: Literal[False] = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple[_R, Callable[[Any], tuple[_A]]]: ...
@overload
def vjp(
    fun: Callable[[_A, _B], _R],
    x: _A,
    y: _B,
    /,
    *,
    has_aux: Literal[False] = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple[_R, Callable[[Any], tuple[_A, _B]]]: ...
@overload
def vjp(
    fun: Callable[[_A, _B, _C], _R],
    x: _A,
    y: _B,
    z: _C,
    /,
    *,
    has_aux: Literal[False] = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple[_R, Callable[[Any], tuple[_A, _B, _C]]]: ...
@overload
def vjp(
    fun: Callable[..., tuple[_R, _Aux]],
    *primals: Any,
    has_aux: Literal[True],
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple[_R, Callable[[Any], tuple[Any, ...]], _Aux]: ...
@overload
def vjp(
    fun: Callable[..., _R],
    *primals: Any,
    has_aux: Literal[False] = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple[_R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vmap(
    fun: Callable[[Array], _R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> _Mapped1[_R]: ...
@overload
def vmap(
    fun: Callable[[Array, Array], _R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> _Mapped2[_R]: ...
@overload
def vmap(
    fun: Callable[_P, _R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable[_P, _R]: ...
