"""The array: a value in memory, of the host or a device.

On the CPU a small result may exist as a NumPy array only, until a compiled program needs it; a
compiled program's result exists as an engine buffer until NumPy needs it. Both forms are kept once
made. Nothing ever changes the contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sagax._src import config, xla
from sagax._src.core import avals, dtypes, kinds
from sagax._src.core.avals import intern_aval
from sagax._src.core.trace import Tracer, leaked
from sagax._src.core.value import Array, aval_of, not_an_array, numpy_aval
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.runtime import devices

_SCALARS = frozenset((bool, int, float, complex))
_to_numpy = xla.to_numpy


class DeletedArrayError(SagaxError, RuntimeError):
    """An array whose memory was given away is used again."""

    code = "SX0202"


@dataclass(frozen=True, eq=False)
class Shard:
    """A part of an array: `data` lies on `device` and is `x[index]` of the whole array x.

    Parts with equal indices are numbered by `replica_id`.
    """

    device: Any
    index: tuple[slice, ...]
    replica_id: int
    data: Any


class ConcreteArray(Array):
    """An array that holds data. Made by `sagax.numpy` and by transformed functions."""

    # `_cells` is set on keys only, while debug_key_reuse is on (key_reuse/)
    __slots__ = ("__weakref__", "_buffer", "_cells", "_device", "_host", "_sharding", "aval")

    def __init__(
        self, aval: Any, host: np.ndarray | None, buffer: Any = None, device: Any = None
    ) -> None:
        self.aval = aval
        self._host = host
        self._buffer = buffer
        self._device = device  # the device it is committed to, or None
        self._sharding = None

    # -- the two forms ------------------------------------------------------------------------------

    def buffer(self) -> Any:
        """The engine's buffer, on the device the array is committed to or else the default one."""
        found = self._buffer
        if found is None:
            host = self._host
            if host is None:
                raise self._gone()
            device = self._device
            if device is None:
                device = devices.default_device()
            found = self._buffer = xla.put(host, device, share=True)
        return found

    def host(self) -> np.ndarray:
        """The contents in their physical form as a read-only NumPy array; waits for them."""
        found = self._host
        if found is None:
            if self._buffer is None:
                raise self._gone()
            try:
                found = _to_numpy(self._buffer)
            except xla.DeletedBufferError:
                raise self._gone() from None
            except xla.EngineError as error:
                raise xla.original_error(error) from None
            self._host = found
        return found

    def _gone(self) -> DeletedArrayError:
        return DeletedArrayError(
            f"Array has been deleted with shape={self.aval.str_short(short_dtypes=False)}.",
            fix="keep a copy, or do not donate or delete it before its last use",
        )

    # -- life ---------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Give the memory back now; later uses of the array raise."""
        if self._buffer is not None:
            xla.delete(self._buffer)
        self._buffer = self._host = None

    def copied(self) -> ConcreteArray:
        """The same contents in an array of their own, which deleting this one leaves alone."""
        if self._buffer is None:
            return ConcreteArray(self.aval, self.host(), None, self._device)
        try:
            buffer = xla.copy_to_device(self._buffer, xla.device_of(self._buffer))
        except xla.DeletedBufferError:
            raise self._gone() from None
        return ConcreteArray(self.aval, None, buffer, self._device)

    def is_deleted(self) -> bool:
        """Whether the memory was given back or donated."""
        if self._host is None and self._buffer is None:
            return True
        if self._host is None and xla.is_deleted(self._buffer):
            return True
        return False

    def is_ready(self) -> bool:
        """Whether the contents have been computed."""
        if self.is_deleted():
            raise self._gone()
        return self._buffer is None or self._host is not None or xla.is_ready(self._buffer)

    def block_until_ready(self) -> ConcreteArray:
        """Wait until the contents have been computed; returns the array. Raises if computing failed."""
        if self._host is None:
            if self._buffer is None:
                raise self._gone()
            try:
                xla.block(self._buffer)
            except xla.DeletedBufferError:
                raise self._gone() from None
            except xla.EngineError as error:
                raise xla.original_error(error) from None
        return self

    def copy_to_host_async(self) -> None:
        """Begin to copy to the host; on the CPU there is nothing to do."""

    # -- to Python and NumPy ---------------------------------------------------------------------------

    def _numpy(self) -> np.ndarray:
        if dtypes.is_extended(self.aval.dtype):
            raise ArgumentError(
                "an array of PRNG keys has no NumPy form",
                function="numpy.asarray",
                got=self,
                fix="use sagax.random.key_data(keys) for the numbers in them",
            )
        return self.host()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        x = self._numpy()
        if dtype is not None and np.dtype(dtype) != x.dtype:
            return x.astype(dtype)
        return x.copy() if copy else x

    def __bool__(self) -> bool:
        x = self._numpy()
        if x.size != 1:
            raise ArgumentValueError(
                f"The truth value of an array with {'more than one element' if x.size else 'no elements'} is ambiguous.",
                got=self,
                fix="use x.any() or x.all()",
            )
        return bool(x.reshape(())[()])

    def _scalar(self, what: str) -> Any:
        x = self._numpy()
        if x.ndim:
            raise ArgumentError(
                "Only scalar arrays can be converted to Python scalars",
                function=what,
                got=self,
                fix="pick one element first, such as x[0]" if x.size != 1 else "use x.item()",
            )
        return x[()]

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if not (kinds.is_integer(self.aval.dtype) and self.aval.shape == ()):
            raise ArgumentError(
                "Only integer scalar arrays can be converted to a scalar index.",
                function="index",
                got=self,
                expected="an integer array of shape ()",
            )
        return int(self._numpy()[()])

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of unsized object: the array has shape ()")
        return self.aval.shape[0]

    def item(self, *args: Any) -> Any:
        """The only element (or the one at the given index) as a Python number."""
        return self._numpy().item(*args)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self._numpy().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """The elements' memory as bytes."""
        return self._numpy().tobytes(order)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        raise TypeError(
            f"unhashable type: arrays are compared element by element, so {self.aval.str_short()} cannot be a dict key, in a "
            "set, or a static argument; use a tuple of its numbers, such as tuple(x.tolist())"
        )

    def __format__(self, spec: str) -> str:
        if self.aval.shape == () and spec:
            return format(self.item(), spec)
        if spec:
            raise ArgumentError(
                "numbers are formatted one by one, and this is an array",
                function="format",
                got=self,
                expected="an array of shape (), or no format specification",
                fix="format its elements, or print it with numpy.array2string(x, precision=...)",
            )
        return str(self)

    def __repr__(self) -> str:
        return array_repr(self)

    def __str__(self) -> str:
        if dtypes.is_extended(self.aval.dtype):
            return array_repr(self)
        return str(self.host())

    def __copy__(self) -> ConcreteArray:
        return self

    def __deepcopy__(self, memo: Any) -> ConcreteArray:
        return ConcreteArray(self.aval, np.array(self.host()), None, self._device)

    def __reduce__(self) -> tuple:
        if dtypes.is_extended(self.aval.dtype):
            return _unpickle_extended, (np.asarray(self.host()), self.aval.dtype)
        return _unpickle, (np.asarray(self.host()), self.aval.weak_type)

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.aval.shape[0]))  # type: ignore[index]

    # -- placement ----------------------------------------------------------------------------------

    @property
    def committed(self) -> bool:
        """Whether the array is bound to its device, so that computations with it run there."""
        return self._device is not None

    def devices(self) -> set:
        """The devices that hold the array."""
        return {self._where()}

    @property
    def device(self) -> Any:
        """The device that holds the array."""
        return self._where()

    def _where(self) -> Any:
        if self._device is not None:
            return self._device
        if self._buffer is not None:
            return xla.device_of(self._buffer)
        return devices.default_device()

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all of the array lies on devices of this process."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device that holds any of the array holds all of it."""
        return True

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts of the array that lie on devices of this process."""
        return [Shard(self._where(), (slice(None),) * self.aval.ndim, 0, self)]

    @property
    def global_shards(self) -> list[Shard]:
        """The parts of the array on all devices; those of other processes have no data."""
        return self.addressable_shards

    def addressable_data(self, index: int) -> Array:
        """The data of one of the parts that lie on devices of this process."""
        return self.addressable_shards[index].data

    def unsafe_buffer_pointer(self) -> int:
        """The address of the memory."""
        return self.buffer().unsafe_buffer_pointer()

    def on_device_size_in_bytes(self) -> int:
        """Bytes the array takes on its device."""
        return self.buffer().on_device_size_in_bytes()

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        buffer = self.buffer()
        if copy:
            buffer = xla.put(np.array(self.host()), self._where(), share=True)
        return xla.to_dlpack(buffer, stream=stream, max_version=max_version, copied=bool(copy))

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self._where()
        return (1, 0) if device.platform == "cpu" else (2, device.local_hardware_id)


def _unpickle_extended(x: np.ndarray, dtype: Any) -> ConcreteArray:
    """Keys, of their numbers."""
    x = np.array(x, order="C")
    x.flags.writeable = False
    shape = x.shape[: x.ndim - len(dtype.physical_shape)]
    return ConcreteArray(intern_aval(shape, dtype, False, None), x)


def _unpickle(x: np.ndarray, weak_type: bool) -> ConcreteArray:
    x = np.ascontiguousarray(x).reshape(x.shape)
    x.flags.writeable = False
    return ConcreteArray(intern_aval(x.shape, x.dtype, weak_type, None), x)


def array_repr(x: ConcreteArray) -> str:
    """`Array([1., 2.], dtype=float32)`."""
    if x.is_deleted():
        return f"Array<deleted, {x.aval.str_short(short_dtypes=False)}>"
    dtype = x.aval.dtype
    if dtypes.is_extended(dtype):
        body = np.array2string(x.host(), separator=" ")
        return f"Array({x.aval.shape}, dtype={dtypes.name(dtype)}) overlaying:\n{body}"
    host = x.host()
    weak = ", weak_type=True" if x.aval.weak_type else ""
    if host.size == 0 and host.shape != (0,):
        body = f"[], shape={host.shape}"
    else:
        shown = (
            host.astype(np.float32)
            if dtype.type.__module__ == "ml_dtypes" and kinds.is_floating(dtype)
            else host
        )
        body = np.array2string(shown, separator=", ", prefix="Array(")
    return f"Array({body}, dtype={dtypes.name(dtype)}{weak})"


# -- making arrays ----------------------------------------------------------------------------------


def from_host(x: np.ndarray, aval: Any = None) -> ConcreteArray:
    """An array over memory that nobody else will change (a fresh NumPy array)."""
    if aval is None:
        aval = intern_aval(x.shape, x.dtype, False, None)
    return ConcreteArray(aval, x)


def from_scalar(x: Any, kind: type, x64: bool) -> ConcreteArray:
    """A weakly typed array of shape () for a Python number."""
    aval = avals.scalar_aval(kind, x64)
    if kind is int:
        dtypes.check_python_int(x, aval.dtype)
    host = np.array(x, aval.dtype)
    host.flags.writeable = False
    return ConcreteArray(aval, host)


def as_array(x: Any) -> ConcreteArray:
    """Any operand as a concrete array; NumPy arrays are copied, since their owner may change them."""
    kind = type(x)
    if kind is ConcreteArray:
        return x
    if kind in _SCALARS:
        return from_scalar(x, kind, config.thread.settings.x64)
    if isinstance(x, (np.ndarray, np.generic)):
        aval = numpy_aval(x, config.thread.settings.x64)
        if aval.dtype == dtypes.float0:
            host = np.zeros(aval.shape, bool)
        else:
            if x.dtype != aval.dtype:
                x = kinds.convert_numpy(np.asarray(x), aval.dtype)
            host = np.array(x, dtype=aval.dtype, order="C")
        host.flags.writeable = False
        return ConcreteArray(aval, host)
    if isinstance(x, Tracer):
        value = x.concrete() if x._trace.alive else None
        if value is None:
            raise leaked(x)
        return as_array(value)
    if hasattr(x, "__jax_array__"):
        return as_array(x.__jax_array__())
    aval = aval_of(x) if not isinstance(x, Array) else None  # raises for what is no operand
    if aval is None:
        raise not_an_array(x)
    host = np.array(x, aval.dtype)
    host.flags.writeable = False
    return ConcreteArray(aval, host)
