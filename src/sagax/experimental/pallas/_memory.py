"""Define memory spaces, and the types of scratch memory that kernels ask for."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dtypes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.references import AbstractRef
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.frozen_class import record
from sagax._src.primitives.shaping import full
from sagax._src.primitives.structural import zeros_of


class _Space(enum.Enum):
    """Base of the memory spaces: call one with a shape and a dtype for scratch memory."""

    holds_blocks = property(lambda self: True)

    def __call__(self, shape: Sequence[int], dtype: Any) -> MemoryRef:
        return MemoryRef(ShapedArray(tuple(shape), dtypes.as_dtype(dtype)), self)

    def __str__(self) -> str:
        return self.value


class MemorySpace(_Space):
    """Name the memory of an operand, where the platform decides which that is.

    >>> MemorySpace.ANY((8,), snp.float32).shape
    (8,)
    """

    ANY = "any"
    DEFAULT = "default"
    ERROR = "error"
    HOST = "host"
    INDEX = "index"
    KEY = "key"


class TPUMemorySpace(_Space):
    """Name a memory of TPUs. On CPUs all are ordinary memory.

    >>> TPUMemorySpace.VMEM((8, 128), snp.float32).dtype
    dtype('float32')
    """

    VMEM = "vmem"
    VMEM_SHARED = "vmem_shared"
    SMEM = "smem"
    CMEM = "cmem"
    SEMAPHORE = "semaphore_mem"
    HBM = "hbm"

    def __repr__(self) -> str:
        return self.name


class GPUMemorySpace(_Space):
    """Name a memory of GPUs. On CPUs all are ordinary memory.

    >>> GPUMemorySpace.SMEM((8,), snp.int32).shape
    (8,)
    """

    GMEM = "gmem"
    SMEM = "smem"
    TMEM = "tmem"
    REGS = "regs"


@record
class MemoryRef:
    """The type of a scratch reference: shape, dtype and memory space."""

    inner_aval: Any
    memory_space: Any

    shape = property(lambda self: self.inner_aval.shape)
    dtype = property(lambda self: self.inner_aval.dtype)

    def get_ref_aval(self) -> AbstractRef:
        """Return the type of the reference."""
        return AbstractRef(self.inner_aval, self.memory_space)

    def get_array_aval(self) -> ShapedArray:
        """Return the type of the contents."""
        return self.inner_aval


class SemaphoreType(enum.Enum):
    """The kinds of semaphores; call one with a shape for an array of them."""

    REGULAR = "regular"
    DMA = "dma"
    BARRIER = "barrier"

    def __call__(self, shape: Sequence[int]) -> MemoryRef:
        return MemoryRef(ShapedArray(tuple(shape), np.dtype(np.int32)), TPUMemorySpace.SEMAPHORE)

    def get_ref_aval(self) -> AbstractRef:
        """Return the type of the reference to one semaphore."""
        return self(()).get_ref_aval()


class GPUSemaphoreType(enum.Enum):
    """The kinds of semaphores of GPUs."""

    REGULAR = "regular"
    BARRIER = "barrier"

    def __call__(self, shape: Sequence[int]) -> MemoryRef:
        return SemaphoreType.REGULAR(shape)

    def get_ref_aval(self) -> AbstractRef:
        """Return the type of the reference to one semaphore."""
        return self(()).get_ref_aval()


def ref_aval(x: Any, function: str, argument: str) -> AbstractRef:
    """Return the type of the reference that a scratch shape asks for."""
    if isinstance(x, AbstractRef):
        return x
    if hasattr(x, "get_ref_aval"):
        return x.get_ref_aval()
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return MemorySpace.ANY(x.shape, x.dtype).get_ref_aval()
    raise ArgumentError(
        f"{argument} is no type of memory",
        function=function,
        argument=argument,
        got=f"a value of type {type(x).__name__}",
        expected="a memory space called with shape and dtype, such as pl.ANY((8, 128), sagax.numpy.float32)",
    )


def is_semaphore(aval: AbstractRef) -> bool:
    """Return whether references of this type are semaphores."""
    return aval.memory_space is TPUMemorySpace.SEMAPHORE


def uninitialized(aval: Any) -> Any:
    """Return the contents of memory before the first write: NaN, the least integer or False."""
    return full(aval.shape, filler(aval.dtype), aval.dtype)


def empty_value(dtype: Any) -> Any:
    """Return a scalar that stands for an element that was never written."""
    return full((), filler(dtype), dtype)


def first_contents(aval: AbstractRef, shape: tuple | None = None) -> Any:
    """Return the first contents of scratch memory of a type: semaphores count from 0."""
    inner = aval.inner_aval if shape is None else aval.inner_aval.update(shape=shape)
    return zeros_of(inner) if is_semaphore(aval) else uninitialized(inner)


def filler(dtype: Any) -> Any:
    """Return what stands for an element that was never written."""
    if dtypes.is_inexact(dtype):
        return np.nan
    if np.issubdtype(dtype, np.bool_):
        return False
    return int(np.iinfo(dtype).min) if np.issubdtype(dtype, np.integer) else 0
