"""Exchange buffers with other libraries by DLPack capsules."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src.languages.choice import worded
from sagax._src.xla.buffers import deleted_error
from sagax._src.xla.engine import BEFORE_0_12, EngineError, xla_extension
from sagax._src.xla.jax_guard import no_jax
from sagax._src.xla.shardings import EngineAval, single_device_sharding

# The newest version of capsules that jaxlib knows; None: the unversioned kind alone.
MAX_VERSION: tuple[int, int] | None = None if BEFORE_0_12 else xla_extension.dlpack_version


class _DLTensor(ctypes.Structure):
    # The layouts are fixed: https://dmlc.github.io/dlpack/latest/c_api.html
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_DLPACK_TYPES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_DLPACK_TYPES |= {
    code: f"float8_{variant}"
    for code, variant in enumerate(
        ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"), 7
    )
}


class StridedMemoryError(BufferError):
    """The elements of a capsule do not lie side by side in row-major order."""


# XLA shares memory of the CPU that begins at a multiple of so many bytes, and copies other.
_ALIGNMENT = 64


def _capsule_tensor(capsule: Any) -> _DLTensor:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    for name, struct in (
        (b"dltensor_versioned", _DLManagedTensorVersioned),
        (b"dltensor", _DLTensor),
    ):
        try:
            pointer = pointer_of(capsule, name)
        except ValueError:  # it has another name
            continue
        found: Any = ctypes.cast(pointer, ctypes.POINTER(struct)).contents
        return found if struct is _DLTensor else found.tensor
    raise worded(ValueError("from_dlpack: not a DLPack capsule, or one that was used before"))


def _dtype(tensor: _DLTensor) -> np.dtype:
    name = _DLPACK_TYPES.get(tensor.code, "")
    if tensor.code in (0, 1, 2, 4, 5):
        name += str(tensor.bits)
    try:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        dtype = None
    if not name or dtype is None or tensor.lanes != 1 or dtype.itemsize * 8 != tensor.bits:
        raise worded(
            BufferError(f"from_dlpack: no such type: code {tensor.code}, {tensor.bits} bits")
        )
    return dtype


def _capsule_aval(tensor: _DLTensor) -> EngineAval:
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        expected = 1
        for size, stride in zip(reversed(shape), reversed(tensor.strides[: tensor.ndim])):
            if size > 1 and stride != expected:
                raise worded(
                    StridedMemoryError("from_dlpack: the array is not contiguous; copy it first")
                )
            expected *= size
    return EngineAval(shape, _dtype(tensor))


def is_aligned(capsule: Any) -> bool:
    """Tell whether XLA shares the memory of a capsule on the CPU; it copies what it does not."""
    tensor = _capsule_tensor(capsule)
    return ((tensor.data or 0) + tensor.byte_offset) % _ALIGNMENT == 0


def copy_to_numpy(capsule: Any) -> np.ndarray:
    """Copy what a capsule on the CPU describes, with any strides, to a NumPy array in row-major order.

    NumPy's own `from_dlpack` knows only its own types. The capsule stays unused.
    """
    tensor = _capsule_tensor(capsule)
    shape, dtype = tuple(tensor.shape[: tensor.ndim]), _dtype(tensor)
    if 0 in shape or not tensor.strides:
        strides = None
        low, high = 0, int(np.prod(shape)) * dtype.itemsize
    else:
        strides = tuple([stride * dtype.itemsize for stride in tensor.strides[: tensor.ndim]])
        ends = [(size - 1) * stride for size, stride in zip(shape, strides)]
        low = sum(end for end in ends if end < 0)
        high = sum(end for end in ends if end > 0) + dtype.itemsize
    if low == high:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (high - low)).from_address(tensor.data + tensor.byte_offset + low)
    return np.array(np.ndarray(shape, dtype, memory, -low, strides), order="C")


def to_dlpack(
    buffer: Any,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    copied: bool = False,
) -> Any:
    """Make a DLPack capsule of the buffer's memory; versioned if jaxlib and `max_version` allow it.

    `copied` says that the buffer is a copy made for the receiver. Raises BufferError for an
    array on several devices and for types that DLPack does not have.
    """
    if buffer.is_deleted():
        raise deleted_error(buffer)
    # a second owner: the engine aborts if the last one deletes its array while others use the memory
    buffer = buffer._rewrap_with_aval_and_sharding(buffer.aval, buffer._sharding)
    extra = {} if BEFORE_0_12 else {"max_version": max_version, "copied": copied}
    try:
        return xla_extension.buffer_to_dlpack_managed_tensor(buffer, stream=stream, **extra)
    except EngineError as error:
        reason = error.error_message
    raise BufferError(f"to_dlpack: {reason}")


def from_dlpack(capsule: Any, device: Any) -> Any:
    """Make a buffer of the capsule's memory, or of a copy if that is not aligned to 64 bytes.

    The capsule must describe memory of `device`, contiguous in row-major order: else StridedMemoryError.
    """
    aval = _capsule_aval(_capsule_tensor(capsule))
    try:
        with no_jax():
            buffer = xla_extension.dlpack_managed_tensor_to_buffer(capsule, device, None)
        return buffer._rewrap_with_aval_and_sharding(aval, single_device_sharding(device))
    except EngineError as error:
        reason = error.error_message
    raise BufferError(f"from_dlpack: {reason}")
