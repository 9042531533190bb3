"""Name what `sagax` imports on first use."""

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
from sagax import typing as typing
from sagax._autofix.interactive import explain as explain
from sagax._autojit.convert import autojit as autojit
from sagax._plan.public import plan as plan
from sagax._src.api.compile_log import explain_compiles as explain_compiles
from sagax._src.api.derivatives import fwd_and_bwd as fwd_and_bwd
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
from sagax._src.api.user_contexts import make_user_context as make_user_context
from sagax._src.callbacks.callbacks import pure_callback as pure_callback
from sagax._src.core.references import Ref as Ref
from sagax._src.higher_order.closures import closure_convert as closure_convert
from sagax._src.higher_order.closures import custom_gradient as custom_gradient
from sagax._src.higher_order.custom_derivatives import custom_jvp as custom_jvp
from sagax._src.higher_order.custom_derivatives import custom_vjp as custom_vjp
from sagax._src.higher_order.remat import checkpoint as checkpoint
from sagax._src.higher_order.remat import checkpoint as remat
from sagax._src.higher_order.remat import checkpoint_policies as checkpoint_policies
from sagax._src.primitives.references import empty_ref as empty_ref
from sagax._src.primitives.references import free_ref as free_ref
from sagax._src.primitives.references import freeze as freeze
from sagax._src.primitives.references import new_ref as new_ref
from sagax._src.runtime.array import Shard as Shard
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
