"""Connect several processes: coordination service, clients and collectives."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

from sagax._src import fork_locks
from sagax._src.xla.engine import xla_extension


def start_service(address: str, num_nodes: int, **options: Any) -> Any:
    """Start the coordination service, in one of the processes. `address`: '[::]:1234'."""
    return xla_extension.get_distributed_runtime_service(address, num_nodes, **options)


def make_client(address: str, node_id: int, **options: Any) -> Any:
    """Make a client of the service, to be connected by `.connect()`: a key-value store and barriers."""
    return xla_extension.get_distributed_runtime_client(address, node_id, **options)


def gloo_collectives(client: Any, hostname: str | None = None) -> Any:
    """Make collectives between processes on CPUs; `client` is a connected distributed one."""
    return xla_extension.make_gloo_tcp_collectives(client, hostname=hostname)


def never_free(*objects: Any) -> None:
    """Keep objects from being freed, also at the end of the process.

    A client of a service ends the process when it sees the service go, so neither may.
    """
    for object_ in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(object_))


_mute_lock = fork_locks.lock()
_mute_depth = 0


@contextlib.contextmanager
def mute_cpp_stdout() -> Iterator[None]:
    """Keep C++ code from writing to std::cout. Python's own output is not touched."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        stream = ctypes.addressof(ctypes.c_char.in_dll(library, "_ZSt4cout"))
        set_state = library["_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate"]
    except (OSError, ValueError, AttributeError):  # another C++ library: its lines are shown
        yield
        return
    # The state belongs to a virtual base, whose offset stands before the table of virtual functions.
    table = ctypes.c_void_p.from_address(stream).value or 0
    state = ctypes.c_void_p(stream + ctypes.c_ssize_t.from_address(table - 24).value)

    def enter(step: int) -> None:
        global _mute_depth
        with _mute_lock:
            _mute_depth += step
            set_state(state, ctypes.c_int(1 if _mute_depth else 0))  # 1 is badbit

    enter(1)
    try:
        yield
    finally:
        enter(-1)
