"""Put arrays on devices, read them back, and copy and split device buffers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.languages.choice import worded
from sagax._src.xla.engine import (
    BEFORE_0_11,
    Buffer,
    DeletedBufferError,
    EngineError,
    xla_client,
    xla_extension,
)
from sagax._src.xla.failures import original_error
from sagax._src.xla.jax_guard import no_jax
from sagax._src.xla.shardings import (
    EngineAval,
    EngineSharding,
    describe_type,
    hlo_shard_indices,
    parse_sharding,
    single_device_sharding,
)

_SHARE = xla_extension.HostBufferSemantics.ZERO_COPY
_COPY = xla_extension.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_COPY_SOON = xla_extension.HostBufferSemantics.IMMUTABLE_UNTIL_TRANSFER_COMPLETES
_batched_device_put = xla_extension.batched_device_put

# Waits for buffers in a way that a lost process ends, while several processes run.
_wait: Callable[[Sequence[Any]], None] | None = None


def set_wait(wait: Callable[[Sequence[Any]], None] | None) -> None:
    """Set the function that waits for buffers before they are read; None: XLA alone waits."""
    global _wait
    _wait = wait


# --- host to device ---------------------------------------------------------------------------------


def put(
    x: Any,
    device: Any,
    *,
    shape: tuple[int, ...] | None = None,
    dtype: np.dtype | None = None,
    share: bool,
    memory_kind: str | None = None,
) -> Any:
    """Put a NumPy array on a device, into its default memory or that of `memory_kind`.

    With `share=True` the buffer may use x's own memory: for an array that never changes again. With
    `share=False` a later change of x never shows. `shape` and `dtype`, where given, say what x is
    to be reshaped and converted to. Raises TypeError for element types that XLA does not have.
    """
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    if dtype is not None and x.dtype != dtype:
        x = x.astype(dtype)
    if shape is not None and x.shape != shape:
        x = x.reshape(shape)
    own = x.dtype
    if not own.isnative:  # XLA would take the bytes as they stand
        own = own.newbyteorder("=")
        x = x.astype(own)
    try:
        return _batched_device_put(
            EngineAval(x.shape, own),
            single_device_sharding(device, memory_kind),
            [x],
            [device],
            True,  # committed: a flag that jaxlib does not look at
            False,
            _SHARE if share else _COPY,
            enable_x64=True,
        )
    except EngineError as error:
        if "Unknown NumPy dtype" not in str(error):
            raise
    raise worded(
        TypeError(f"an array of dtype {own} cannot be put on a device: XLA has no such type")
    )


def put_of_type(
    shape: tuple[int, ...], dtype: Any, device: Any, *, share: bool
) -> Callable[[np.ndarray], Any]:
    """Return a function that puts NumPy arrays of one type on a device, as `put` does.

    Without `share` it is for small arrays: XLA's CPU client copies them within the call in any case, and takes a
    quarter less time if it may do so later.
    """
    aval, sharding, where = EngineAval(shape, dtype), single_device_sharding(device), [device]
    copy = _COPY_SOON if device.platform == "cpu" else _COPY
    semantics = _SHARE if share else copy

    def put_array(x: np.ndarray) -> Any:
        return _batched_device_put(
            aval, sharding, [x], where, True, False, semantics, enable_x64=True
        )

    return put_array


def _addressable(devices: Sequence[Any], items: Sequence[Any]) -> list[tuple[Any, Any]]:
    """List the devices of this process, each with its item."""
    here = devices[0].client.process_index()
    return [(d, item) for d, item in zip(devices, items) if d.process_index == here]


@functools.lru_cache(maxsize=1024)
def _sharding_and_shard_shapes(
    devices: tuple, text: str | None, shape: tuple[int, ...], memory_kind: str | None
) -> tuple[EngineSharding, list[tuple[Any, tuple[int, ...]]]]:
    """Return the sharding of arrays of a shape, and the local devices with the shapes of their shards."""
    sharding = EngineSharding(devices, parse_sharding(text), memory_kind)
    indices = hlo_shard_indices(sharding.hlo_sharding, shape, len(devices))
    local = _addressable(devices, indices)
    return sharding, [(d, tuple([cut.stop - cut.start for cut in index])) for d, index in local]


def put_sharded(
    shards: Sequence[Any],
    devices: Sequence[Any],
    shape: Sequence[int],
    dtype: Any,
    sharding_text: str | None = None,
    *,
    share: bool = False,
    memory_kind: str | None = None,
) -> Any:
    """Make a buffer on several devices: an array of `shape`, sharded as the text says.

    `devices` are those of all processes; `shards` holds, in the same order, the shards (NumPy arrays
    or single-device buffers) for the devices of this process. Without a `sharding_text` each device
    has an array of `shape`. Raises ValueError if the number, shape or dtype of the shards is wrong.
    """
    aval = EngineAval(tuple(shape), np.dtype(dtype))
    sharding, local = _sharding_and_shard_shapes(
        tuple(devices), sharding_text, aval.shape, memory_kind
    )
    if len(shards) != len(local):
        raise worded(
            ValueError(f"put_sharded: {len(shards)} shards for {len(local)} local devices")
        )
    buffers = []
    for shard, (device, expected) in zip(shards, local):
        given = shard.aval if isinstance(shard, Buffer) else np.asarray(shard)
        if tuple(given.shape) != expected or given.dtype != aval.dtype:
            raise worded(
                ValueError(
                    f"put_sharded: the shard for {device} must be {describe_type(expected, aval.dtype)}, "
                    f"got {describe_type(given.shape, given.dtype)}"
                )
            )
        if not isinstance(shard, Buffer):
            shard = put(shard, device, share=share, memory_kind=memory_kind)
        elif device_of(shard) != device:
            shard = copy_to_device(shard, device)
        buffers.append(shard)
    # One by one: given several host arrays at once, jaxlib takes one for all devices that should
    # hold the same values, and fails for some partially replicated layouts.
    return Buffer(aval, sharding, buffers, True, _skip_checks=True)


def make_error_buffer(
    client: Any, shape: Sequence[int], dtype: Any, device: Any, message: str
) -> Any:
    """Make a buffer that never gets values: using it raises EngineError with the message. For tests."""
    aval = EngineAval(tuple(shape), np.dtype(dtype))
    aval.sharding = single_device_sharding(device)
    return xla_extension._make_error_array(client, aval, message)


# --- device to host ---------------------------------------------------------------------------------


def to_numpy(buffer: Any) -> np.ndarray:
    """Wait for the values and return them as a read-only NumPy array, a view where possible.

    An array on several devices is gathered. Raises DeletedBufferError for a deleted buffer, and the
    callback's exception if a callback failed in the execution that should have made the values.
    """
    if _wait is not None:
        _wait([buffer])
    try:
        # XLA ends the process, or never returns, where memory is read that it could not allocate.
        buffer.block_until_ready()
        # Not np.asarray(buffer): without the buffer protocol that gives an object array, no error.
        return np.asarray(memoryview(buffer))
    except EngineError:
        block_all([buffer])  # finds the error to raise
    except BufferError:
        # A type that the protocol does not know, several devices, deleted, or without values.
        pass
    return _to_numpy_by_copy(buffer)


def _to_numpy_by_copy(buffer: Any) -> np.ndarray:
    if buffer.is_deleted():
        raise deleted_error(buffer)
    try:
        if not BEFORE_0_11:
            array = buffer._to_np_array_did_copy()[0]
        elif len(devices_of(buffer)) == 1:
            with no_jax():
                array = buffer._single_device_array_to_np_array_did_copy()[0]
        else:
            array = _gather(buffer)
    except EngineError as error:
        failure = error
    else:
        array = array.view()
        array.flags.writeable = False
        return array
    raise original_error(failure)


def _gather(buffer: Any) -> np.ndarray:
    shape, devices = buffer.aval.shape, devices_of(buffer)
    indices = hlo_shard_indices(buffer._sharding.hlo_sharding, shape, len(devices))
    array = np.empty(shape, buffer.aval.dtype)
    for shard, (_, index) in zip(shards(buffer), _addressable(devices, indices)):
        array[index] = to_numpy(shard)
    return array


def start_copy_to_host(buffer: Any) -> None:
    """Begin to copy the values to the host, so that `to_numpy` finds them there."""
    if BEFORE_0_11:
        with no_jax():
            buffer._copy_single_device_array_to_host_async()
    else:
        xla_extension.batched_copy_to_host_async([buffer])


# --- waiting and deletion ---------------------------------------------------------------------------


def deleted_error(buffer: Any, name: str = "buffer") -> DeletedBufferError:
    """Make the error for the use of a deleted buffer."""
    text = describe_type(buffer.aval.shape, buffer.aval.dtype)
    return DeletedBufferError(f"{name} ({text}) was used after it had been deleted or donated")


def is_deleted(buffer: Any) -> bool:
    """Tell whether the buffer's memory was freed, by `delete` or by donation."""
    return buffer.is_deleted()


def delete(buffer: Any) -> None:
    """Free the buffer's memory now."""
    buffer.delete()


def is_ready(buffer: Any) -> bool:
    """Tell whether the buffer can be read without waiting. Raises DeletedBufferError."""
    if buffer.is_deleted():
        raise deleted_error(buffer)
    return buffer.is_ready()


def block(buffer: Any) -> None:
    """Wait until the values are there. Raises the error that occurred in computing them."""
    if _wait is not None:
        _wait([buffer])
    try:
        buffer.block_until_ready()
    except EngineError:
        block_all([buffer])  # finds the error to raise


def was_computed(buffer: Any) -> bool:
    """Wait for a buffer; tell whether it has values: it has none where computing them failed."""
    try:
        buffer.block_until_ready()
    except RuntimeError:  # EngineError is one
        return False
    return True


def block_all(buffers: Sequence[Any]) -> None:
    """Wait until the values of all buffers are there. Raises the error that occurred in computing them."""
    if _wait is not None:
        _wait(buffers)
    try:
        xla_extension.batched_block_until_ready(buffers)
        return
    except EngineError as error:
        failure = error
    for i, buffer in enumerate(buffers):
        if buffer.is_deleted():
            raise deleted_error(buffer, f"buffer {i}")
    raise original_error(failure)


# --- devices and shards -----------------------------------------------------------------------------


def devices_of(buffer: Any) -> tuple[Any, ...]:
    """Return the devices of the buffer."""
    return buffer._sharding.devices


def device_of(buffer: Any) -> Any:
    """Return the device of the buffer; the first of several."""
    return buffer._sharding.devices[0]


def shards(buffer: Any) -> list[Any]:
    """Split a buffer into its single-device buffers on the devices of this process."""
    if buffer.is_deleted():
        raise deleted_error(buffer)
    devices, aval = devices_of(buffer), buffer.aval
    if len(devices) == 1:
        return [buffer]
    indices = hlo_shard_indices(buffer._sharding.hlo_sharding, aval.shape, len(devices))
    with no_jax():
        arrays = buffer._arrays
    result = []
    for array, (device, index) in zip(arrays, _addressable(devices, indices)):
        shard_aval = EngineAval(tuple(cut.stop - cut.start for cut in index), aval.dtype)
        sharding = single_device_sharding(device, buffer._sharding.memory_kind)
        result.append(array._rewrap_with_aval_and_sharding(shard_aval, sharding))
    return result


def copy_to_device(buffer: Any, device: Any) -> Any:
    """Copy a single-device buffer to another device of the same client."""
    if buffer.is_deleted():
        raise deleted_error(buffer)
    return xla_extension.batched_copy_array_to_devices_with_sharding(
        [buffer],
        [xla_client.DeviceList((device,))],
        [single_device_sharding(device)],
        [xla_extension.ArrayCopySemantics.ALWAYS_COPY],
    )[0]


def with_device_order(buffer: Any, devices: Sequence[Any]) -> Any:
    """Rewrap a buffer with its devices in another order; each shard stays on its device."""
    old, aval = devices_of(buffer), buffer.aval
    tiles = buffer._sharding.hlo_sharding
    if not tiles.is_replicated():
        positions = {d: i for i, d in enumerate(devices)}
        renumbered = [positions[old[i]] for i in tiles.tile_assignment_devices()]
        shape = list(tiles.tile_assignment_dimensions())
        copies = " last_tile_dim_replicate" if len(shape) > len(aval.shape) else ""
        text = f"{{devices=[{','.join(map(str, shape))}]{','.join(map(str, renumbered))}{copies}}}"
        tiles = parse_sharding(text)
    sharding = EngineSharding(devices, tiles, buffer._sharding.memory_kind)
    local = [d for d, _ in _addressable(tuple(devices), devices)]
    by_device = {device_of(shard): shard for shard in shards(buffer)}
    return Buffer(aval, sharding, [by_device[d] for d in local], True, _skip_checks=True)


def with_shards(buffer: Any, shards: Sequence[Any]) -> Any:
    """Make a buffer of the same type and sharding from other single-device buffers."""
    return Buffer(buffer.aval, buffer._sharding, list(shards), True, _skip_checks=True)
