"""Write many arrays while the program goes on, and read them: the base of checkpoint libraries."""

from __future__ import annotations

import abc
import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.runtime import devices
from sagax.experimental import multihost_utils
from sagax.experimental.array_serialization import tensorstore_impl
from sagax.experimental.array_serialization.tensorstore_impl import (
    async_deserialize,
    async_serialize,
    run_deserialization,
    run_serialization,
)

__all__ = [
    "AsyncManager", "BarrierTimeoutError", "GlobalAsyncCheckpointManager", "GlobalAsyncCheckpointManagerBase",
    "async_deserialize", "async_serialize", "get_tensorstore_spec", "is_remote_storage", "run_deserialization",
    "run_serialization",
]  # fmt: skip

# the driver that older checkpoints have
get_tensorstore_spec = functools.partial(
    tensorstore_impl.get_tensorstore_spec, ocdbt=False, process_idx=None, driver="zarr"
)
_saves = itertools.count()


class BarrierTimeoutError(Exception):
    """Some process did not come to the end of a save in time."""


def is_remote_storage(tspec: dict[str, Any] | str) -> bool:
    """Return whether a path or a specification is of a bucket.

    >>> is_remote_storage("gs://bucket/step"), is_remote_storage("/tmp/step")
    (True, False)
    """
    if isinstance(tspec, str):
        return tspec.startswith(("gs://", "s3://"))
    kvstore = tspec.get("kvstore", tspec)
    if isinstance(kvstore, str):
        return is_remote_storage(kvstore)
    if kvstore.get("driver") in ("gcs", "s3"):
        return True
    return any(
        isinstance(kvstore.get(k), dict | str) and is_remote_storage(kvstore[k]) for k in ("base",)
    )


class GlobalAsyncCheckpointManagerBase(abc.ABC):
    """Base class of what writes the arrays of all processes in the background."""

    @abc.abstractmethod
    def check_for_errors(self) -> None:
        """Raise the error of an earlier save, if it had one."""

    @abc.abstractmethod
    def wait_until_finished(self) -> None:
        """Wait until all is on disk; raise the error, if there was one."""

    @abc.abstractmethod
    def serialize(
        self,
        arrays: Sequence[Any],
        tensorstore_specs: Sequence[Any],
        *,
        on_commit_callback: Callable[[], None],
    ) -> None:
        """Begin to write arrays; call `on_commit_callback` when all processes are done."""

    @abc.abstractmethod
    def deserialize(
        self,
        shardings: Sequence[Any],
        tensorstore_specs: Sequence[Any],
        global_shapes: Sequence[Any] | None = None,
        dtypes: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Read arrays."""


class AsyncManager:
    """Wait for writes in a thread, then for the other processes, then call back."""

    def __init__(self, timeout_secs: int = 300) -> None:
        self._timeout_secs = timeout_secs
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._futures: Sequence[Any] = ()

    def _add_futures(self, futures: Sequence[Any]) -> None:
        self._futures = futures

    def _start_async_commit(self, on_commit_callback: Callable[[], None] | None) -> None:
        futures, self._futures = self._futures, ()
        number = next(_saves)

        def commit() -> None:
            try:
                for future in futures:
                    future.result()
                if devices.process_count() > 1:
                    multihost_utils.sync_global_devices(f"array_serialization {number}")
                if on_commit_callback is not None and devices.process_index() == 0:
                    on_commit_callback()
            except BaseException as error:
                self._error = error

        # no daemon: the end of the program waits for the files
        self._thread = threading.Thread(target=commit, name="sagax writes arrays")
        self._thread.start()

    def check_for_errors(self) -> None:
        """Raise the error of an earlier save, if it had one."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait_until_finished(self) -> None:
        """Wait until all is on disk; raise the error, if there was one."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(self._timeout_secs * 10)
            if thread.is_alive():
                raise BarrierTimeoutError(
                    f"a save did not end within {self._timeout_secs * 10} seconds"
                )
        self.check_for_errors()


class GlobalAsyncCheckpointManager(AsyncManager, GlobalAsyncCheckpointManagerBase):
    """Write the arrays of all processes in the background, and read them."""

    def serialize(
        self,
        arrays: Sequence[Any],
        tensorstore_specs: Sequence[Any],
        *,
        on_commit_callback: Callable[[], None] | None = None,
        transaction: Any = None,
    ) -> None:
        """Begin to write arrays; their buffers may be donated afterwards."""
        self.wait_until_finished()
        futures: list[Any] = []

        async def write() -> None:
            for x, spec in zip(arrays, tensorstore_specs, strict=True):
                await async_serialize(x, spec, commit_future=futures, transaction=transaction)

        tensorstore_impl.run(write())
        self._add_futures(futures)
        self._start_async_commit(on_commit_callback)

    def serialize_with_paths(
        self,
        arrays: Sequence[Any],
        paths: Sequence[str],
        *,
        on_commit_callback: Callable[[], None] | None = None,
        transaction: Any = None,
    ) -> None:
        """Begin to write arrays to paths."""
        specs = list(map(get_tensorstore_spec, paths))
        self.serialize(
            arrays, specs, on_commit_callback=on_commit_callback, transaction=transaction
        )

    def deserialize(
        self,
        shardings: Sequence[Any],
        tensorstore_specs: Sequence[Any],
        global_shapes: Sequence[Any] | None = None,
        dtypes: Sequence[Any] | None = None,
        concurrent_gb: int = 32,
    ) -> list[Any]:
        """Read arrays, after earlier saves have ended."""
        self.wait_until_finished()
        return run_deserialization(
            shardings, tensorstore_specs, global_shapes, dtypes, concurrent_gb
        )

    def deserialize_with_paths(
        self,
        shardings: Sequence[Any],
        paths: Sequence[str],
        global_shapes: Sequence[Any] | None = None,
        dtypes: Sequence[Any] | None = None,
        concurrent_gb: int = 32,
    ) -> list[Any]:
        """Read arrays from paths."""
        specs = list(map(get_tensorstore_spec, paths))
        return self.deserialize(shardings, specs, global_shapes, dtypes, concurrent_gb)
