"""Provide what kernels for Triton use. On CPUs such kernels run without it."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.frozen_class import record
from sagax._src.runtime.devices import default_backend
from sagax.experimental.pallas._accesses import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
    load,
    operation,
    store,
)
from sagax.experimental.pallas._needs import TRITON, needs, others
from sagax.experimental.pallas._operations import multiple_of
from sagax.lax import dot_general


@record
class CompilerParams:
    """Options of Triton: how many warps run a program, and how many steps of a loop are in flight.

    A kernel with them may run its programs in any order, and on GPUs runs them at the same time. On CPUs they have
    no effect.

    >>> CompilerParams(num_warps=4).num_warps
    4
    """

    num_warps: int | None = None
    num_stages: int | None = None


def approx_tanh(x: Any) -> Any:
    """Return the hyperbolic tangent; on CPUs it is not an approximation.

    >>> float(approx_tanh(0.0))
    0.0
    """
    return operation("approx_tanh", None, snp.tanh, snp.asarray(x))


def dot(
    a: Any,
    b: Any,
    *,
    trans_a: bool = False,
    trans_b: bool = False,
    allow_tf32: Any = None,
    precision: Any = None,
) -> Any:
    """Multiply two matrices, in float32 for shorter dtypes.

    >>> dot(snp.ones((2, 3)), snp.ones((3, 2))).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    contract = ((0 if trans_a else 1,), (1 if trans_b else 0,))
    wide = snp.float32 if snp.issubdtype(a.dtype, snp.floating) else snp.int32
    if precision is None and allow_tf32 is not None:
        precision = "default" if allow_tf32 else "highest"

    def product(a: Any, b: Any) -> Any:
        return dot_general(
            a, b, (contract, ((), ())), precision=precision, preferred_element_type=wide
        )

    options = (("trans_a", bool(trans_a)), ("trans_b", bool(trans_b)), ("precision", precision))
    return operation("dot", options, product, a, b)


def debug_barrier() -> None:
    """Wait for the other threads of the program: there is one, on CPUs.

    >>> debug_barrier()
    """
    operation("barrier", None, lambda: ())


def max_contiguous(x: Any, values: Any) -> Any:
    """Promise that runs of `values` elements of `x` are contiguous; not used on CPUs.

    >>> max_contiguous(3, 8)
    3
    """
    return x


def is_gpu_device() -> bool:
    """Return whether the default device is a GPU.

    >>> is_gpu_device()
    False
    """
    return default_backend() == "gpu"


CUSTOM_CALL_TARGET_NAME = "__gpu$xla.gpu.triton"

elementwise_inline_asm = needs(
    __name__, "elementwise_inline_asm", TRITON, "write the operation with sagax.numpy"
)

# What jax's module has beside these: descriptions of GPUs.
__getattr__ = others(
    __name__, {TRITON: "GpuInfo GpuVersion get_gpu_info get_gpu_info_from_version"}
)

__all__ = [
    "CompilerParams",
    "approx_tanh",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "debug_barrier",
    "dot",
    "elementwise_inline_asm",
    "load",
    "max_contiguous",
    "multiple_of",
    "store",
]
