"""Profiles of what runs where and how long, by XLA's profiler: for TensorBoard, XProf and Perfetto.

>>> import tempfile, sagax, sagax.numpy as snp
>>> with tempfile.TemporaryDirectory() as folder:
...     with sagax.profiler.trace(folder):
...         _ = snp.ones(10).sum().block_until_ready()
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sagax._src import xla
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.runtime import devices

_lock = threading.Lock()
_running: list[tuple[Any, str]] = []
_servers: list[Any] = []


def start_trace(
    log_dir: Any,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> None:
    """Begin a profile, which `stop_trace` writes into the folder `log_dir`.

    `create_perfetto_link` and `create_perfetto_trace` are accepted; convert the written file with
    XProf for Perfetto. Raises ArgumentValueError if a profile is running already.

    >>> import tempfile
    >>> from sagax import profiler
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     profiler.start_trace(folder)
    ...     profiler.stop_trace()
    """
    with _lock:
        if _running:
            raise ArgumentValueError(
                "Profile has already been started. Only one profile may be run at a time.",
                function="profiler.start_trace",
                fix="call stop_trace first",
            )
        devices.default_device()  # a device that starts later would not be seen
        _running.append((xla.profiler_session(), str(log_dir)))


def stop_trace() -> None:
    """End the profile that `start_trace` began, and write it.

    Raises ArgumentValueError if none is running.
    """
    with _lock:
        if not _running:
            raise ArgumentValueError(
                "No profile started", function="profiler.stop_trace", fix="call start_trace first"
            )
        session, folder = _running.pop()
    session.stop_and_export(folder)


@contextlib.contextmanager
def trace(
    log_dir: Any = None,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[None]:
    """A profile of the block, written into the folder `log_dir`. See `start_trace`."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


class TraceAnnotation(contextlib.ContextDecorator):
    """A block with a name in the profile; costs next to nothing where none is taken.

    >>> from sagax import profiler
    >>> with profiler.TraceAnnotation("load data", size=3):
    ...     pass
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name, self._metadata = name, kwargs
        self._open: list[Any] = []

    def __enter__(self) -> TraceAnnotation:
        self._open.append(xla.trace_me(self._name, **self._metadata))
        self._open[-1].__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)


class StepTraceAnnotation(TraceAnnotation):
    """A step of a training loop in the profile: `with StepTraceAnnotation("train", step_num=i):`."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, _r=1, **kwargs)


def annotate_function(
    func: Callable | None = None, name: str | None = None, **decorator_kwargs: Any
) -> Callable:
    """`func` with its calls named in the profile; a decorator, with or without arguments.

    >>> from sagax import profiler
    >>> @profiler.annotate_function
    ... def load():
    ...     return 3
    >>> load()
    3
    """
    if func is None:
        return functools.partial(annotate_function, name=name, **decorator_kwargs)
    shown = name or getattr(func, "__qualname__", repr(func))

    @functools.wraps(func)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        with xla.trace_me(shown, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


def start_server(port: int, requires_backend: bool = True) -> Any:
    """A server on `port` from which profiles of this process can be fetched, as by TensorBoard."""
    if requires_backend:
        devices.default_device()
    server = xla.profiler_server(port)
    _servers.append(server)  # it ends with the object
    return server


def stop_server() -> None:
    """End the server that `start_server` began."""
    if not _servers:
        raise ArgumentValueError(
            "No active profiler server",
            function="profiler.stop_server",
            fix="call start_server first",
        )
    _servers.pop()


def device_memory_profile(backend: str | None = None) -> bytes:
    """What lies in the memory of the devices, as a profile that `pprof` reads.

    >>> import sagax
    >>> isinstance(sagax.profiler.device_memory_profile(), bytes)
    True
    """
    device = devices.devices(backend)[0] if backend else devices.default_device()
    return devices.backend_of(device).client.heap_profile()


def save_device_memory_profile(filename: Any, backend: str | None = None) -> None:
    """Write `device_memory_profile` into a file, for `pprof`."""
    Path(filename).write_bytes(device_memory_profile(backend))
