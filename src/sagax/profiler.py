"""Profile execution with XLA's profiler, for TensorBoard, XProf and Perfetto.

>>> import tempfile
>>> import sagax
>>> import sagax.numpy as snp
>>> with tempfile.TemporaryDirectory() as folder:
...     with sagax.profiler.trace(folder):
...         _ = snp.ones(10).sum().block_until_ready()
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sagax._src import fork_locks, xla
from sagax._src.argument_checks import checks
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError
from sagax._src.runtime import devices

__all__ = [
    "ProfileSession",
    "ProfilerError",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "export_profile_data",
    "register_subprocess",
    "save_device_memory_profile",
    "start_server",
    "start_trace",
    "stop_server",
    "stop_trace",
    "trace",
]

_lock = fork_locks.lock()
_running: list[ProfileSession] = []
_servers: list[Any] = []


class ProfilerError(SagaxError, RuntimeError):
    """A profile is started while another runs, or stopped while none runs."""

    code = "SX0206"


def __getattr__(name: str) -> Any:
    """Import the engine's classes of profiles on first use."""
    if name == "ProfileOptions":
        return xla.profiler.ProfileOptions
    if name in ("ProfileData", "ProfileEvent", "ProfileLine", "ProfilePlane"):
        return getattr(xla.profiler.profile_data(), name)
    raise AttributeError(f"module 'sagax.profiler' has no attribute {name!r}")


# --- recording profiles ---------------------------------------------------------------------------------


class ProfileSession:
    """A profile, between `start` and `stop`, or as a context manager.

    After `stop`, `profile_data` holds its planes, lines and events; with `log_dir` it is also written
    into that folder. Only one profile runs at a time.

    >>> with profiler.ProfileSession() as session:
    ...     with profiler.TraceAnnotation("my step"):
    ...         pass
    >>> any("my step" == event.name for plane in session.profile_data.planes
    ...     for line in plane.lines for event in line.events)
    True
    """

    def __init__(
        self,
        log_dir: Any = None,
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        profiler_options: Any = None,
    ) -> None:
        self._folder = None if log_dir is None else str(log_dir)
        self._link, self._trace = create_perfetto_link, create_perfetto_trace
        self._options = profiler_options
        self._session: Any = None
        self._recorded: bytes | None = None

    @property
    def is_running(self) -> bool:
        """Return whether the profile is running."""
        return self._session is not None

    def start(self) -> ProfileSession:
        """Start recording. Raises RuntimeError if a profile is running already."""
        with _lock:
            if _running:
                raise ProfilerError(
                    "Profile has already been started. Only one profile may be run at a time.",
                    function="profiler.start_trace",
                    fix="call stop_trace first",
                )
            devices.default_device()  # the profiler sees only devices that started before it
            self._session = xla.profiler.start_session(self._options)
            _running.append(self)
        return self

    def stop(self) -> ProfileSession:
        """Stop recording, and write the profile into `log_dir`, if given."""
        with _lock:
            if self not in _running:
                raise ProfilerError(
                    "No profile started",
                    function="profiler.stop_trace",
                    fix="call start_trace first",
                )
            _running.remove(self)
            session, self._session = self._session, None
        self._recorded = session.stop()
        if self._folder is not None:
            self.export_profile_data(self._folder, self._link, self._trace)
        return self

    def __enter__(self) -> ProfileSession:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()

    @property
    def profile_data(self) -> Any:
        """Return the recorded `ProfileData`, or None before `stop`."""
        if self._recorded is None:
            return None
        return xla.profiler.profile_data().ProfileData.from_serialized_xspace(self._recorded)

    def export_profile_data(
        self,
        log_dir: Any,
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Write the recorded profile into a folder, in the layout of TensorBoard and XProf."""
        if self._recorded is None:
            raise ProfilerError(
                "the profile has not ended",
                function="profiler.export_profile_data",
                fix="call stop first",
            )
        name = session_id or time.strftime("%Y_%m_%d_%H_%M_%S")
        folder = Path(log_dir) / "plugins" / "profile" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{socket.gethostname()}.xplane.pb").write_bytes(self._recorded)
        if create_perfetto_link or create_perfetto_trace:
            path = folder / "perfetto_trace.json.gz"
            with gzip.open(path, "wt", encoding="utf-8") as file:
                json.dump({"traceEvents": list(_perfetto_events(self.profile_data))}, file)
            if create_perfetto_link:
                print(f"Open {path} at https://ui.perfetto.dev")


def _perfetto_events(data: Any) -> Iterator[dict[str, Any]]:
    """Yield the events in the format of Chrome's trace viewer, with times in microseconds."""
    for process, plane in enumerate(data.planes, 1):
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": plane.name}}
        for thread, line in enumerate(plane.lines, 1):
            track = {"pid": process, "tid": thread}
            yield {"ph": "M", "name": "thread_name", **track, "args": {"name": line.name}}
            for event in line.events:
                times = {"ts": event.start_ns / 1e3, "dur": event.duration_ns / 1e3}
                yield {"ph": "X", "name": event.name, **track, **times}


def export_profile_data(
    profile_data: Any,
    log_dir: Any,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    session_id: str | None = None,
) -> None:
    """Write the profile of an ended `ProfileSession` into a folder. See its method."""
    checks.instance(
        "profiler.export_profile_data",
        "profile_data",
        profile_data,
        ProfileSession,
        "a ProfileSession that has ended",
        error=ArgumentValueError,
    )
    profile_data.export_profile_data(
        log_dir, create_perfetto_link, create_perfetto_trace, session_id
    )


def start_trace(
    log_dir: Any,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> ProfileSession:
    """Start a profile, which `stop_trace` writes into the folder `log_dir`.

    Args:
      log_dir: the folder; None stores the profile only in the returned session.
      create_perfetto_trace: also write a file that https://ui.perfetto.dev opens.
      create_perfetto_link: the same, and print its path.
      profiler_options: a `ProfileOptions`.

    Raises RuntimeError if a profile is running already.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = profiler.start_trace(folder)
    ...     _ = profiler.stop_trace()
    """
    return ProfileSession(
        log_dir, create_perfetto_link, create_perfetto_trace, profiler_options
    ).start()


def stop_trace() -> ProfileSession:
    """Stop the profile that `start_trace` started, write it, and return its session.

    Raises RuntimeError if none is running.
    """
    running = _running[-1] if _running else ProfileSession()
    return running.stop()


@contextlib.contextmanager
def trace(
    log_dir: Any = None,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[ProfileSession]:
    """Profile the block, and write the result into the folder `log_dir`. See `start_trace`."""
    session = ProfileSession(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    with session:
        yield session


# --- names in profiles ---------------------------------------------------------------------------------


class TraceAnnotation(contextlib.ContextDecorator):
    """A named block in the profile; nearly free while no profile runs.

    >>> with profiler.TraceAnnotation("load data", size=3):
    ...     pass
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name, self._metadata = name, kwargs
        self._open: list[Any] = []

    def __enter__(self) -> TraceAnnotation:
        self._open.append(xla.profiler.trace_me(self._name, **self._metadata))
        self._open[-1].__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)


class StepTraceAnnotation(TraceAnnotation):
    """Mark a training step in the profile: `with StepTraceAnnotation("train", step_num=i):`."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, _r=1, **kwargs)


def annotate_function(
    func: Callable[..., Any] | None = None, name: str | None = None, **decorator_kwargs: Any
) -> Callable[..., Any]:
    """Name the calls of `func` in the profile, as a decorator with or without arguments.

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
        with xla.profiler.trace_me(shown, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


# --- servers and memory --------------------------------------------------------------------------------


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Start a server on `port` from which TensorBoard can fetch profiles of this process."""
    if requires_backend:
        devices.default_device()
    server = xla.profiler.start_server(port)
    _servers.append(server)  # the server stops when the object is deleted
    return server


def stop_server() -> None:
    """Stop the server that `start_server` started."""
    if not _servers:
        raise ProfilerError(
            "No active profiler server",
            function="profiler.stop_server",
            fix="call start_server first",
        )
    _servers.pop()


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Include another process, such as a worker that loads data, in the profiles of this one.

    The worker runs `start_server(port)`. Each profile of this process then includes one of the worker.
    It records the worker's CPU, not its devices.

    Args:
      pid: the process id, as `multiprocessing.Process.pid`.
      port: the port of its server.

    Returns a function that removes the process; deleting the function removes it too.

    Raises RuntimeError if the process does not answer or is registered already.

    >>> def profile_with(worker, port, step):
    ...     leave_out = profiler.register_subprocess(worker.pid, port)
    ...     with profiler.trace("/tmp/profile"):
    ...         step()
    ...     leave_out()
    """
    for argument, value, least, most in (("pid", pid, 1, None), ("port", port, 1, 65535)):
        if type(value) is not int or value < least or (most is not None and value > most):
            raise ArgumentValueError(
                function="profiler.register_subprocess",
                argument=argument,
                got=value,
                expected="a number of a process" if most is None else "a number from 1 to 65535",
            )
    try:
        return xla.profiler.register_subprocess(pid, port)
    except RuntimeError as error:
        raise ProfilerError(
            f"process {pid} cannot be profiled at port {port}: {error}",
            function="profiler.register_subprocess",
            fix=f"call sagax.profiler.start_server({port}) in that process first",
        ) from None


def device_memory_profile(backend: str | None = None) -> bytes:
    """Return the memory use of the devices as a (gzipped) profile for `pprof`.

    >>> isinstance(sagax.profiler.device_memory_profile(), bytes)
    True
    """
    device = devices.devices(backend)[0] if backend else devices.default_device()
    return gzip.compress(devices.backend_of(device).client.heap_profile())


def save_device_memory_profile(filename: Any, backend: str | None = None) -> None:
    """Write `device_memory_profile` into a file, for `pprof`."""
    Path(filename).write_bytes(device_memory_profile(backend))
