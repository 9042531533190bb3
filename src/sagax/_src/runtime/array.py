"""Define the array: a value in host or device memory.

On the CPU a small result may exist as a NumPy array only, until an executable needs it; an executable's
result exists as a buffer until NumPy needs it. Both forms are cached. The contents are immutable.
"""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src import config, source_stacks, tuning, xla
from sagax._src.callbacks import active_calls
from sagax._src.core import avals, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.layouts import Format, Layout
from sagax._src.core.shardings import Sharding, ShardingError, unreduced_axes
from sagax._src.core.trace import Tracer, leaked
from sagax._src.core.value import Array, aval_of, not_an_array, numpy_aval
from sagax._src.diagnostics.base import Details
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.diagnostics.model import Label
from sagax._src.diagnostics.spans import display_path, user_span
from sagax._src.frozen_class import record
from sagax._src.languages.choice import worded
from sagax._src.runtime import callback_deadlock, devices, placements, transfer_guard

_SCALARS = frozenset((bool, int, float, complex))
_to_numpy = xla.to_numpy


# alternative names that users of older tutorials search for
_OTHER_WORDS = 'also known as "Invalid argument: CopyToHostAsync() called on invalid buffer"'


class DeletedArrayError(SagaxError, RuntimeError):
    """An array was used after its memory was donated."""

    code = "SX0202"

    def details(self) -> Details:
        """Show the call that the array was donated to."""
        _, argument, stack = self.facts.get("given") or (None, "", None)
        span = user_span(stack)
        if span is None:
            return Details()
        label = Label(span, "donated here" if argument else "deleted here")
        return Details(notes=(_OTHER_WORDS,) if argument else (), labels=(label,))


DeletedArrayError.__module__ = "sagax.errors"  # its public module


class NonAddressableError(SagaxError, RuntimeError):
    """The requested contents are on devices of other processes."""

    code = "SX0212"


NonAddressableError.__module__ = "sagax.errors"  # its public module


@record(eq=False)
class Shard:
    """A shard of an array x: `data` is on `device` and is `x[index]` of the array.

    Shards with equal indices are numbered by `replica_id`.
    """

    device: Any
    index: tuple[slice, ...]
    replica_id: int
    data: Any


# By thread, the array and the exception of a buffer that was not had. NumPy drops the exception, and asks for the
# array in another way, which raises it.
_dropped: dict[int, tuple[int, BaseException]] = {}


def _raise_dropped(array: Any) -> None:
    """Raise what NumPy has dropped, if it now asks for the same array again."""
    asked, error = _dropped.pop(threading.get_ident(), (None, None))
    if error is not None and asked == id(array):
        passed = error.__traceback__  # it begins where the exception was last seen
        if passed is not None and passed.tb_frame.f_code is ConcreteArray.__buffer__.__code__:
            raise error


class ConcreteArray(Array):
    """An array that holds data. Created by `sagax.numpy` and by transformed functions."""

    # `_cells` is set on keys only, under debug_key_reuse (key_reuse/); `_donation` by donation;
    # `_committed_at` (the stack) if a user committed the array to a device; `_shards` on first use
    __slots__ = (
        "__weakref__",
        "_buffer",
        "_cells",
        "_committed_at",
        "_device",
        "_donation",
        "_host",
        "_is_shared",
        "_shards",
        "aval",
    )

    def __init__(
        self, aval: Any, host: np.ndarray | None, buffer: Any = None, device: Any = None
    ) -> None:
        self.aval = aval
        self._host = host
        self._buffer = buffer
        self._device = device  # the device or sharding that it is committed to, or None

    # -- the two forms ------------------------------------------------------------------------------

    def buffer(self) -> Any:
        """The buffer, on the device that the array is committed to, or else on the default one."""
        found = self._buffer
        if found is None:
            host = self._host
            if host is None:
                raise self._gone()
            device = self._device
            if isinstance(device, Sharding):
                found = self._buffer = placements.put(host, device, share=True)
                return found
            if device is None:
                device = devices.default_device()
            found = self._buffer = xla.put(host, device, share=True)
        return found

    def host(self) -> np.ndarray:
        """The contents in their physical form as a read-only NumPy array; blocks until they are computed."""
        found = self._host
        if found is None:
            if self._buffer is None:
                raise self._gone()
            if config.thread.settings.transfer_guard_device_to_host is not None:
                if self._where().platform != "cpu":
                    transfer_guard.check_to_host(self, explicit=False)
            if active_calls.active_calls:
                callback_deadlock.before_reading(self._buffer)
            try:
                if isinstance(self._device, Sharding):
                    self._check_reduced(self._device)
                    found = self._host = self._gathered(self._device)
                    return found
                found = _to_numpy(self._buffer)
            except xla.DeletedBufferError:
                raise self._gone() from None
            except xla.EngineError as error:
                failure = xla.original_error(error)
                raise failure from failure.__cause__
            self._host = found
        return found

    def _check_reduced(self, sharding: Sharding) -> None:
        """Raise if no device has the elements, but parts of a sum."""
        axes = unreduced_axes(sharding)
        if axes:
            raise ShardingError(
                f"the array is unreduced along {', '.join(sorted(map(repr, axes)))}: its devices hold summands, and the "
                "sums are not computed yet",
                function="asarray",
                got=f"an array of type {self.aval.str_short(short_dtypes=True)}",
                fix="add them up: sagax.sharding.reshard(x, P(...)) without unreduced; x.addressable_shards are the summands",
            )

    def fetched(self) -> ConcreteArray:
        """Return the array after a transfer to the host that the user asked for."""
        guard = config.thread.settings.transfer_guard_device_to_host
        if guard is None or self._host is not None or self.is_deleted():
            return self
        if self._where().platform != "cpu":
            transfer_guard.check_to_host(self, explicit=True)
            with config.context(transfer_guard_device_to_host=None):
                self.host()
        return self

    def _gathered(self, sharding: Sharding) -> np.ndarray:
        """Gather the contents of an array on several devices."""
        if sharding.is_fully_addressable:
            return _to_numpy(self._buffer)
        if sharding.is_fully_replicated:
            return _to_numpy(xla.shards(self._buffer)[0])
        raise NonAddressableError(
            "Fetching value for an array that spans non-addressable (non process local) devices is "
            "not possible",
            got=self,
            fix="use x.addressable_shards for the parts of this process, or "
            "sagax.experimental.multihost_utils.process_allgather(x) for all",
            sharding=sharding,
        )

    def _gone(self) -> SagaxError:
        given = getattr(self, "_donation", None)
        if isinstance(given, SagaxError):  # of a forked process
            return given
        text = f"Array has been deleted with shape={self.aval.str_short(short_dtypes=False)}."
        if given is None:
            fix = "keep a copy, or do not donate or delete it before its last use"
            return DeletedArrayError(text, fix=fix)
        fun, argument, stack = given
        span = user_span(stack)
        where = f" at {display_path(span.file)}:{span.line}" if span is not None else ""
        if argument:
            name = function_name(fun)
            text += f" It was donated to `{name}` as argument {argument}{where}."
            fix = f"do not donate {argument}, or pass a copy of it (x.copy()) to `{name}`"
        else:
            text += f" Its method delete() was called{where}."
            fix = "delete it after its last use"
        return DeletedArrayError(text, fix=fix, given=given)

    # -- life ---------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Free the memory now; later uses of the array raise."""
        if not self.is_deleted():
            self.give_away((None, "", source_stacks.stack()))

    def give_away(self, given: tuple[Any, str, Any]) -> None:
        """Free the memory now, and record the donation: function, argument ("": none), stack."""
        if self._buffer is not None:
            self._buffer.delete()
        self._buffer = self._host = self._shards = None
        self._donation: tuple[Any, str, Any] | SagaxError = given

    def copied(self) -> ConcreteArray:
        """Copy the contents to an independent array, which stays valid if this one is deleted."""
        if self._buffer is None:
            return ConcreteArray(self.aval, self.host(), None, self._device)
        try:
            if isinstance(self._device, Sharding):
                buffer = placements.copied(self._buffer)
                return ConcreteArray(self.aval, None, buffer, self._device)
            buffer = xla.copy_to_device(self._buffer, xla.device_of(self._buffer))
        except xla.DeletedBufferError:
            raise self._gone() from None
        except xla.EngineError as error:
            failure = xla.original_error(error)
            raise failure from failure.__cause__
        return ConcreteArray(self.aval, None, buffer, self._device)

    def is_deleted(self) -> bool:
        """Return whether the memory was freed or donated."""
        if self._host is None and self._buffer is None:
            return True
        if self._host is None and xla.is_deleted(self._buffer):
            return True
        return False

    def is_ready(self) -> bool:
        """Return whether the contents have been computed."""
        if self.is_deleted():
            raise self._gone()
        return self._buffer is None or self._host is not None or xla.is_ready(self._buffer)

    def block_until_ready(self) -> ConcreteArray:
        """Wait until the contents have been computed; return the array. Raises if computing failed."""
        if self._host is None:
            if self._buffer is None:
                raise self._gone()
            if active_calls.active_calls:
                callback_deadlock.before_reading(self._buffer)
            try:
                xla.block(self._buffer)
            except xla.DeletedBufferError:
                raise self._gone() from None
            except xla.EngineError as error:
                failure = xla.original_error(error)
                raise failure from failure.__cause__
        return self

    def copy_to_host_async(self) -> None:
        """Start a copy to the host, for `numpy.asarray` later; on the CPU this has no effect."""
        if self.is_deleted():
            raise self._gone()
        if self._host is None and self._where().platform != "cpu":
            xla.start_copy_to_host(self._buffer)

    # -- to Python and NumPy ---------------------------------------------------------------------------

    def _numpy(self) -> np.ndarray:
        if dtypes.is_extended(self.aval.dtype):
            raise self._no_numbers("numpy.asarray", "an array of PRNG keys has no NumPy form")
        return self.host()

    def _no_numbers(self, function: str, text: str) -> ArgumentError:
        fix = "use sagax.random.key_data(keys) for the numbers in them"
        return ArgumentError(text, function=function, got=self, fix=fix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if _dropped:
            _raise_dropped(self)
        x = self._numpy()
        if dtype is not None and np.dtype(dtype) != x.dtype:
            return np.array(x, dtype, copy=copy)  # raises for copy=False
        return x.copy() if copy else x.view()  # a view cannot be made writable, its owner could

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

    def _real_scalar(self, what: str) -> Any:
        if self.aval.dtype.kind == "c" and self.aval.shape == ():
            raise ArgumentError(
                "complex numbers have no value as a real number",
                function=what,
                got=self,
                fix="take x.real, or abs(x)",
            )
        return self._scalar(what)

    def __float__(self) -> float:
        return float(self._real_scalar("float"))

    def __int__(self) -> int:
        return int(self._real_scalar("int"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if not (dtype_predicates.is_integer(self.aval.dtype) and self.aval.shape == ()):
            raise ArgumentError(
                "Only integer scalar arrays can be converted to a scalar index.",
                function="index",
                got=self,
                expected="an integer array of shape ()",
            )
        return int(self._numpy()[()])

    def __len__(self) -> int:
        if not self.aval.shape:
            raise worded(TypeError("len() of unsized object: the array has shape ()"))
        return self.aval.shape[0]

    def item(self, *args: Any) -> Any:
        """Return the only element (or the one at the given index) as a Python number."""
        return self._numpy().item(*args)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self._numpy().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """Return the elements' memory as bytes."""
        return self._numpy().tobytes(order)  # type: ignore[arg-type]

    def __buffer__(self, flags: int) -> memoryview:  # from Python 3.12 on: memoryview(x)
        try:
            x = self._numpy()
            try:
                return memoryview(x)
            except ValueError:  # bfloat16 and the like: dtypes that buffers have no letter for
                raise worded(
                    BufferError(
                        f"a buffer cannot describe elements of {dtypes.name(x.dtype)}; use numpy.asarray(x)"
                    )
                ) from None
        except BufferError:
            raise
        except BaseException as error:  # also of a signal handler, which may raise anything
            _dropped[threading.get_ident()] = id(self), error
            raise

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def __format__(self, spec: str) -> str:
        if self.aval.shape == () and not dtypes.is_extended(self.aval.dtype):
            return format(self.item() if spec else self._numpy()[()], spec)
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
        if dtypes.is_extended(self.aval.dtype) or not self._is_readable():
            return array_repr(self)
        return str(self.host())

    def _is_readable(self) -> bool:
        """Return whether this process has every shard of the array."""
        if unreduced_axes(self._device):
            return False
        return self.is_fully_addressable or self.is_fully_replicated

    def __copy__(self) -> ConcreteArray:
        return self

    def __deepcopy__(self, memo: Any) -> ConcreteArray:
        host = np.array(self.host())
        host.flags.writeable = False
        return ConcreteArray(self.aval, host, None, self._device)

    def __reduce__(self) -> tuple:
        if dtypes.is_extended(self.aval.dtype):
            return _unpickle_extended, (np.asarray(self.host()), self.aval.dtype)
        return _unpickle, (np.asarray(self.host()), self.aval.weak_type)

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise worded(TypeError("iteration over a 0-d array"))
        x = self
        if self.aval.explicit_sharding is not None:
            # a consumer would refuse it by its type alone
            unsharded = self.aval.update(sharding=None)
            x = ConcreteArray(unsharded, self._host, self._buffer, self._device)
        return (x[i] for i in range(self.aval.shape[0]))  # type: ignore[index]

    # -- placement ----------------------------------------------------------------------------------

    @property
    def committed(self) -> bool:
        """True if the user committed the array to its devices, so that computations with it run there."""
        return self._device is not None

    @property
    def sharding(self) -> Sharding:
        """The sharding of the array."""
        found = self._device
        if isinstance(found, Sharding):
            return found
        return placements.single(self._where())

    @property
    def format(self) -> Format:
        """The array's layout in memory, and its sharding."""
        return Format(Layout(tuple(range(self.aval.ndim))), self.sharding)

    def devices(self) -> set:
        """The devices that hold the array."""
        found = self._device
        return found.device_set if isinstance(found, Sharding) else {self._where()}

    @property
    def device(self) -> Any:
        """The device that holds the array; its sharding, if there are several."""
        found = self._device
        if isinstance(found, Sharding) and found.num_devices > 1:
            return found
        return self._where()

    def _where(self) -> Any:
        """Return the device, the first one of several."""
        found = self._device
        if found is not None:
            return found.local_devices[0] if isinstance(found, Sharding) else found
        if self._buffer is not None:
            return xla.device_of(self._buffer)
        return devices.default_device()

    @property
    def is_fully_addressable(self) -> bool:
        """True if all of the array is on devices of this process."""
        found = self._device
        return not isinstance(found, Sharding) or found.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """True if each device of the array holds all of it."""
        found = self._device
        return not isinstance(found, Sharding) or found.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The shards on devices of this process."""
        if self.is_deleted():
            raise self._gone()
        if not isinstance(self._device, Sharding):
            return self.global_shards  # a replicated array is its own shard: no reference to itself
        known = getattr(self, "_shards", None)
        if known is None:
            known = self._shards = [s for s in self.global_shards if s.data is not None]
        return list(known)

    @property
    def global_shards(self) -> list[Shard]:
        """The shards on all devices; those of other processes have no data."""
        if self.is_deleted():
            raise self._gone()
        found = self._device
        if not isinstance(found, Sharding):
            return [Shard(self._where(), (slice(None),) * self.aval.ndim, 0, self)]
        indices = found.indices(self.aval.shape)
        here = found.addressable_devices
        parts = iter(xla.shards(self.buffer()))
        aval = self.aval.update(shape=found.shard_shape(self.aval.shape), sharding=None)
        return [
            Shard(
                device,
                index,
                replica,
                ConcreteArray(aval, None, next(parts), device) if device in here else None,
            )
            for device, index, replica in zip(
                found._device_assignment, indices, placements.replica_ids(indices), strict=True
            )
        ]

    def addressable_data(self, index: int) -> Array:
        """Return the data of one of this process's shards."""
        return self.addressable_shards[index].data

    def unsafe_buffer_pointer(self) -> int:
        """Return the address of the memory."""
        return self._readable().unsafe_buffer_pointer()

    def _readable(self) -> Any:
        """Return the buffer when its memory is there: the engine ends the process if it could not allocate it."""
        if self._where().platform == "cpu":
            self.block_until_ready()
        return self.buffer()

    def on_device_size_in_bytes(self) -> int:
        """Return the size in bytes on its device."""
        return self.buffer().on_device_size_in_bytes()

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        if dtypes.is_extended(self.aval.dtype):
            raise self._no_numbers("__dlpack__", "an array of PRNG keys has no DLPack form")
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise worded(
                BufferError(
                    f"the array lies on DLPack device {self.__dlpack_device__()}, not on {tuple(map(int, dl_device))}; move it "
                    "there first: sagax.device_put(x, device)"
                )
            )
        buffer = self._readable()
        if isinstance(self._device, Sharding):
            if not self._device.is_fully_replicated:
                raise worded(
                    BufferError(
                        f"an array that is divided among {self._device.num_devices} devices has no DLPack form; "
                        "use its parts, x.addressable_shards[i].data, or sagax.device_put(x, device)"
                    )
                )
            buffer = xla.shards(buffer)[0]
        if copy:
            buffer = xla.put(np.array(self.host()), self._where(), share=True)
        return xla.dlpack.to_dlpack(
            buffer, stream=stream, max_version=max_version, copied=bool(copy)
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self._where()
        return (1, 0) if device.platform == "cpu" else (2, device.local_hardware_id)


def _unpickle_extended(x: np.ndarray, dtype: Any) -> ConcreteArray:
    """Restore an array of an extended dtype, such as keys, from its numbers."""
    x = np.array(x, order="C")
    x.flags.writeable = False
    shape = x.shape[: x.ndim - len(dtype.physical_shape)]
    return ConcreteArray(intern_aval(shape, dtype, False, None), x)


def _unpickle(x: np.ndarray, weak_type: bool) -> ConcreteArray:
    x = np.array(x, order="C")
    x.flags.writeable = False
    return ConcreteArray(intern_aval(x.shape, x.dtype, weak_type, None), x)


def array_repr(x: ConcreteArray) -> str:
    """Format `Array([1., 2.], dtype=float32)`."""
    if x.is_deleted():
        return f"Array<deleted, {x.aval.str_short(short_dtypes=False)}>"
    dtype = x.aval.dtype
    if not x._is_readable():  # the contents are in other processes
        return f"Array(shape={x.aval.shape}, dtype={dtypes.name(dtype)})"
    if dtypes.is_extended(dtype):
        body = np.array2string(x.host(), separator=" ")
        return f"Array({x.aval.shape}, dtype={dtypes.name(dtype)}) overlaying:\n{body}"
    host = x.host()
    weak = ", weak_type=True" if x.aval.weak_type else ""
    if host.size == 0:
        body = f"[], shape={host.shape}"
    else:
        body = np.array2string(host, separator=", ", prefix="Array(")
    return f"Array({body}, dtype={dtypes.name(dtype)}{weak})"


# -- making arrays ----------------------------------------------------------------------------------


def from_host(x: np.ndarray, aval: Any = None) -> ConcreteArray:
    """Wrap memory that is never written again (a fresh NumPy array) as an array."""
    if aval is None:
        aval = intern_aval(x.shape, x.dtype, False, None)
    return settled(ConcreteArray(aval, x))


def block_all(values: Sequence[Any]) -> None:
    """Wait until the contents of all arrays among `values` have been computed.

    All buffers are awaited in one call of XLA. Other objects with `block_until_ready` are awaited too.
    Raises the error of the first array whose contents are not available.
    """
    buffers = [x._buffer for x in values if type(x) is ConcreteArray and x._buffer is not None]
    rest = values
    if not active_calls.active_calls:
        try:
            xla.block_all(buffers)
            if len(buffers) == len(values):
                return
            rest = [x for x in values if type(x) is not ConcreteArray or x._buffer is None]
        except (xla.DeletedBufferError, xla.EngineError):
            pass  # the array raises a more detailed error than XLA, below
    for x in rest:
        if hasattr(x, "block_until_ready"):
            x.block_until_ready()


def settled(x: ConcreteArray) -> ConcreteArray:
    """Commit the array to the default device if a user chose that: it stays there if another is chosen."""
    if config.thread.settings.default_device is not None:
        x.buffer()
    return x


_MAX_FLOAT32 = float(np.finfo(np.float32).max)


def from_scalar(x: Any, kind: type, x64: bool) -> ConcreteArray:
    """Create a weakly typed array of shape () from a Python number."""
    aval = avals.scalar_aval(kind, x64)
    if kind is int:
        dtypes.check_python_int(x, aval.dtype)
        host = np.array(x, aval.dtype)
    elif (max(abs(x.real), abs(x.imag)) if kind is complex else abs(x)) > _MAX_FLOAT32:
        # may warn, at the user's line
        host = np.array(dtypes.convert_data(np.array(x), aval.dtype))
    else:
        host = np.array(x, aval.dtype)
    host.flags.writeable = False
    return ConcreteArray(aval, host)


_ALIGNMENT = 64  # XLA uses host memory without a copy if it is aligned to this


def _copied(x: Any, dtype: np.dtype) -> np.ndarray:
    if x.nbytes < tuning.ALIGNED_COPY_MIN_BYTES:
        return np.array(x, dtype=dtype, order="C")
    copy = aligned_empty(x.shape, dtype)
    np.copyto(copy, x)
    memory: Any = copy.base  # through which `copy` could be made writable again
    memory.flags.writeable = False
    return copy


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Create an array without contents that XLA uses without a copy."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def is_aligned(x: np.ndarray) -> bool:
    """Return whether XLA uses `x` without a copy."""
    return x.flags.c_contiguous and not x.__array_interface__["data"][0] % _ALIGNMENT


_NEEDED_FIELDS = ("aval", "_host", "_buffer", "_device")


def existing_arrays() -> list[ConcreteArray]:
    """List the arrays of the process, by visiting all of its objects.

    Those without fields are left out: another thread is making them, or an exception came between.
    """
    return [
        x
        for x in gc.get_objects()
        if type(x) is ConcreteArray and all(hasattr(x, name) for name in _NEEDED_FIELDS)
    ]


def as_array(x: Any, guarded: bool = True) -> ConcreteArray:
    """Convert any operand to a concrete array; NumPy arrays are copied, since their owner may change them.

    With `guarded`, a NumPy array is an implicit transfer, which `transfer_guard` may refuse.
    """
    kind = type(x)
    if kind is ConcreteArray:
        return x
    if kind in _SCALARS:
        return from_scalar(x, kind, config.thread.settings.x64)
    if isinstance(x, (np.ndarray, np.generic)):
        settings = config.thread.settings
        guard = settings.transfer_guard_host_to_device
        if guard is not None and guarded and isinstance(x, np.ndarray):
            transfer_guard.check_to_device(x, explicit=False)
        aval = numpy_aval(x, settings.x64)
        if aval.dtype == dtypes.float0:
            host = np.zeros(aval.shape, bool)
        else:
            if x.dtype != aval.dtype:
                x = dtype_predicates.convert_data(x, aval.dtype)
            host = _copied(x, aval.dtype)
        host.flags.writeable = False
        return settled(ConcreteArray(aval, host))
    if isinstance(x, Tracer):
        value = x.concrete() if x._trace.alive else None
        if value is None:
            raise leaked(x)
        return as_array(value)
    if hasattr(x, "__jax_array__"):
        return as_array(source_stacks.apart(x.__jax_array__))
    aval = aval_of(x) if not isinstance(x, Array) else None  # raises if it is no operand
    if aval is None:
        raise not_an_array(x)
    host = np.array(x, aval.dtype)
    host.flags.writeable = False
    return ConcreteArray(aval, host)
