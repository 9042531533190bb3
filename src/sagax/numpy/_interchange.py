"""Exchange arrays with other libraries, bytes, text and files."""

from __future__ import annotations

import os
from typing import IO, Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import xla
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError
from sagax._src.runtime import devices
from sagax._src.runtime.array import ConcreteArray, from_host
from sagax.numpy._arguments import UnsupportedArgumentError
from sagax.numpy._conversion import asarray, on_device

_PLATFORMS = {1: "cpu", 2: "cuda"}  # DLPack's device type codes


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Import an array of another library that supports DLPack, sharing its memory if possible.

    While memory is shared, the other library must not write to it. With `copy` True it is copied;
    with x64 off, 64-bit numbers become 32-bit ones, which copies too.

    >>> import numpy as np
    >>> snp.from_dlpack(np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    if isinstance(x, Array):
        return on_device(x.copy() if copy else x, device)
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise ArgumentError(
            "The array passed to from_dlpack must have __dlpack__ and __dlpack_device__ methods.",
            function="from_dlpack",
            got=x,
            fix="asarray takes numbers, lists and whatever has __array__",
        )
    kind, index = x.__dlpack_device__()
    platform = _PLATFORMS.get(int(kind))
    if platform is None:
        raise ArgumentError(
            function="from_dlpack",
            got=f"memory of DLPack device type {int(kind)}",
            expected="memory of a CPU or of a CUDA device",
        )
    home = devices.devices(platform)[index if platform == "cuda" else 0]
    # torch's capsules do not tell that the signs are still to be changed
    if getattr(x, "is_neg", bool)():
        raise ArgumentError(
            "the tensor is negated lazily, which DLPack cannot express",
            function="from_dlpack",
            got=type(x).__name__,
            fix="pass tensor.resolve_neg()",
        )
    try:
        capsule = x.__dlpack__()
    except BufferError as error:  # NumPy has no capsule of a read-only array
        if not isinstance(x, np.ndarray) or x.flags.writeable:
            raise
        if copy is False:
            raise _needs_copy("read-only memory") from error
        return on_device(asarray(x), device)
    if copy and platform == "cpu":
        return on_device(_of_copy(xla.dlpack.copy_to_numpy(capsule)), device)
    try:
        if copy is False and platform == "cpu" and not xla.dlpack.is_aligned(capsule):
            raise _needs_copy("memory that does not begin at a multiple of 64 bytes")
        buffer = xla.dlpack.from_dlpack(capsule, home)
    except xla.dlpack.StridedMemoryError as error:
        if copy is False:
            raise _needs_copy("memory that is not contiguous") from error
        if platform != "cpu":
            raise
        return on_device(_of_copy(xla.dlpack.copy_to_numpy(capsule)), device)
    aval = intern_aval(tuple(buffer.aval.shape), dtypes.as_dtype(buffer.aval.dtype), False, None)
    array = ConcreteArray(aval, None, buffer)
    narrow = dtypes.canonicalize_given(array.dtype, _base.x64())
    if narrow != array.dtype:
        if copy is False:
            raise _needs_copy("numbers of 64 bits, with x64 off")
        return on_device(array.astype(narrow), device)
    return on_device(array.copied() if copy else array, device)


def _of_copy(x: np.ndarray) -> Array:
    """Wrap a fresh copy, with 64-bit numbers as 32-bit ones unless x64 is on."""
    x = x.astype(dtypes.canonicalize_given(x.dtype, _base.x64()), copy=False)
    x.flags.writeable = False
    return from_host(x)


def _needs_copy(memory: str) -> ArgumentValueError:
    return ArgumentValueError(
        "the array must be copied, and copy=False forbids that",
        function="from_dlpack",
        got=memory,
        fix="copy=None copies where it must, copy=True always",
    )


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """Interpret the memory of `buffer` (bytes, bytearray, ...), from byte `offset` on, as a vector.

    The bytes are read as `dtype`, of 64 bits too; with x64 off the numbers then become 32-bit ones.

    >>> snp.frombuffer(b"ab", dtype=snp.uint8)
    Array([97, 98], dtype=uint8)
    """
    found = np.frombuffer(buffer, dtype=dtypes.as_dtype(dtype), count=count, offset=offset)
    return asarray(found)


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """Parse the numbers in a text, separated by `sep`.

    >>> snp.fromstring("1, 2, 3", dtype=int, sep=",")
    Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtype=dtypes.as_dtype(dtype), count=count, sep=sep))


def _impure(name: str) -> UnsupportedArgumentError:
    return UnsupportedArgumentError(
        f"numpy.{name}() is not supported: it takes from a source that changes as it is read, which a "
        "traced program would do once and never again.",
        fix=f"read with NumPy, outside of jitted functions: asarray(numpy.{name}(...))",
    )


def fromfile(*args: Any, **kwargs: Any) -> Array:
    """Raise NotImplementedError: read with NumPy's `fromfile`, and make an array of the result.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(bytes([1, 2])), file.seek(0)
    ...     snp.asarray(np.fromfile(file, dtype="uint8"))
    Array([1, 2], dtype=uint8)
    """
    raise _impure("fromfile")


def fromiter(*args: Any, **kwargs: Any) -> Array:
    """Raise NotImplementedError: read with NumPy's `fromiter`, and make an array of the result.

    >>> import numpy as np
    >>> snp.asarray(np.fromiter(range(3), dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    raise _impure("fromiter")


# --- files ---------------------------------------------------------------------------------------


def save(file: str | os.PathLike | IO[bytes], arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's format (.npy).

    >>> import io
    >>> file = io.BytesIO()
    >>> snp.save(file, snp.arange(3))
    >>> _ = file.seek(0)
    >>> snp.load(file)
    Array([0, 1, 2], dtype=int32)
    """
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(
    file: str | os.PathLike | IO[bytes], *args: Any, allow_pickle: bool = True, **kwds: Any
) -> None:
    """Write several arrays to one file (.npz), under the given names or arr_0, arr_1, ...

    >>> import io
    >>> file = io.BytesIO()
    >>> snp.savez(file, x=snp.arange(3))
    >>> _ = file.seek(0)
    >>> snp.load(file)["x"]
    array([0, 1, 2], dtype=int32)
    """
    arrays = {name: np.asarray(x) for name, x in kwds.items()}
    np.savez(file, *[np.asarray(x) for x in args], allow_pickle=allow_pickle, **arrays)


def load(file: str | os.PathLike | IO[bytes], *args: Any, **kwargs: Any) -> Any:
    """Load the array in a file of NumPy's format (.npy).

    From a .npz file it returns NumPy's mapping of names to arrays. The format does not know
    bfloat16: two bytes without a type are taken for it. Raises DtypeError for other types that it
    does not know.

    >>> import io
    >>> file = io.BytesIO()
    >>> snp.save(file, snp.arange(3))
    >>> _ = file.seek(0)
    >>> snp.load(file)
    Array([0, 1, 2], dtype=int32)
    """
    found = np.load(file, *args, **kwargs)
    if not isinstance(found, np.ndarray):
        return found
    if found.dtype == np.dtype("V2"):
        found = found.view(dtypes.bfloat16)
    elif found.dtype.kind == "V":
        raise DtypeError(
            "the file holds bytes whose type its format could not name",
            function="load",
            got=str(found.dtype),
            fix="load it with NumPy and name the type: asarray(numpy.load(file).view(dtype))",
        )
    return asarray(found)
