"""Record profiles: sessions, named regions, servers, and the recorded events."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sagax._src.xla.load import load

_profiler: Any = load("jaxlib._profiler")

# The class of options that say what a profile records.
ProfileOptions = _profiler.ProfileOptions


def start_session(options: Any = None) -> Any:
    """Start a profile, one at a time: `.stop()` gives bytes, `.stop_and_export(folder)` files."""
    return _profiler.ProfilerSession(options or ProfileOptions())


def trace_me(name: str, **metadata: Any) -> Any:
    """Make a context that shows as a named region in a running profile."""
    return _profiler.TraceMe(name, **metadata)


def start_server(port: int) -> Any:
    """Serve profiles of this process at a port, as long as the returned object lives."""
    return _profiler.start_server(port)


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Include another process, whose server is at `port`, in profiles of this one.

    Returns the function that ends that. Raises EngineError if the process does not answer.
    """
    return _profiler.register_subprocess(pid, port)


def register_plugin(c_api: Any) -> None:
    """Include the devices of a PJRT plugin in profiles."""
    _profiler.register_plugin_profiler(c_api)


def profile_data() -> Any:
    """Load jaxlib's module that reads recorded profiles: ProfileData, ProfilePlane, ..."""
    return load("jaxlib._profile_data")


def profile_events(profile: bytes) -> list[tuple[str, str, float, float]]:
    """List the events of a stopped session: (plane, region, start, duration), times in nanoseconds."""
    return [
        (plane.name, event.name, event.start_ns, event.duration_ns)
        for plane in profile_data().ProfileData.from_serialized_xspace(profile).planes
        for line in plane.lines
        for event in line.events
    ]


def profiled_instructions(folder: str) -> bytes:
    """Return the costs of instructions that the profile in a folder has, as a serialized proto."""
    return _profiler.get_profiled_instructions_proto(folder)


def operation_events(profile: bytes) -> list[tuple[int, str, str, float, float]]:
    """List the operations that executables ran: (thread, module, operation, start, duration), in nanoseconds."""
    found = []
    lines = [
        line
        for plane in profile_data().ProfileData.from_serialized_xspace(profile).planes
        for line in plane.lines
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the class of `stats`
        for thread, line in enumerate(lines):
            for event in line.events:
                stats = dict(event.stats)
                if "hlo_op" in stats:
                    module = stats.get("hlo_module", "")
                    found.append(
                        (thread, module, stats["hlo_op"], event.start_ns, event.duration_ns)
                    )
    return found
