"""Start clients of the CPU, and fingerprint what a serialized executable depends on."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import pathlib
import platform as host_platform
import re
from collections.abc import Callable
from typing import Any

from sagax._src.languages.choice import worded
from sagax._src.xla.engine import engine_version_text, xla_client, xla_extension
from sagax._src.xla.load import load


@functools.cache
def prepare_process() -> None:
    """Check the CPU's features and set up garbage collection; once, before the first client."""
    load("jaxlib.cpu_feature_guard").check_cpu_features()
    # Objects that XLA's own threads release wait in a list until a thread with the GIL frees them.
    # A callback in Python would run signal handlers, whose exceptions are lost there: so this is C throughout.
    # PyObject_CallNoArgs ignores the two arguments that follow the function.
    function_type = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.py_object] * 3)
    call = function_type(("PyObject_CallNoArgs", ctypes.pythonapi))
    collect = functools.partial(call, xla_extension.collect_garbage)
    gc.callbacks.append(collect)
    if hasattr(os, "register_at_fork"):
        _leave_out_of_forks(collect)


def _leave_out_of_forks(collect: Callable[..., Any]) -> None:
    """Take a callback of the garbage collector away before a fork, and give it back to the parent only.

    It waits for a lock of the engine. A thread that held it during the fork does not run in the child, where the first
    collection, in any hook or import, would wait forever.
    """
    forks = 0

    def before() -> None:
        nonlocal forks
        forks += 1
        if collect in gc.callbacks:
            gc.callbacks.remove(collect)

    def after_in_parent() -> None:
        nonlocal forks
        forks -= 1
        if forks == 0:  # no other thread is about to fork
            gc.callbacks.append(collect)

    os.register_at_fork(before=before, after_in_parent=after_in_parent)


def make_cpu_client(
    num_devices: int | None = None,
    *,
    distributed: Any = None,
    node_id: int = 0,
    num_nodes: int = 1,
    collectives: Any = None,
) -> Any:
    """Start a client of the host CPU with `num_devices` devices (None: as XLA_FLAGS says, else 1).

    With several processes: a connected `distributed.make_client`, the number of this process,
    the number of processes, and `distributed.gloo_collectives`.
    """
    if num_devices is not None and num_devices < 1:
        raise worded(ValueError(f"cpu_client: num_devices must be at least 1, got {num_devices}"))
    prepare_process()
    parallelism = _parallelism()
    client = xla_client.make_cpu_client(
        num_devices=num_devices,
        distributed_client=distributed,
        node_id=node_id,
        num_nodes=num_nodes,
        collectives=collectives,
    )
    _parallelism_of[id(client)] = parallelism
    return client


_parallelism_of: dict[int, str] = {}


def _parallelism() -> str:
    """Collect what XLA chooses the number of threads by, when a client of the CPU starts."""
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    given = [os.environ.get(name, "") for name in ("PJRT_NPROC", "NPROC")]
    return " ".join([str(processors), *given])


def parallelism(client: Any) -> str:
    """Describe for how many threads a client divides the loops of what it compiles.

    An executable runs anywhere, but one for a single processor keeps to one thread on any number of them.
    """
    return _parallelism_of.get(id(client), "")


def platform_fingerprint(client: Any) -> str:
    """Describe all that a serialized executable depends on besides its module and options.

    XLA itself loads executables of another version or processor without complaint.
    """
    device = client.local_devices()[0]
    parts = [engine_version_text, client.platform, client.platform_version, device.device_kind]
    if client.platform == "cpu":
        parts += [host_platform.machine(), *_cpu_features()]
    return "\n".join(parts)


def _cpu_features() -> list[str]:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return [host_platform.processor()]
    fields = dict(re.split(r"\s*:\s*", line, maxsplit=1) for line in lines if ":" in line)
    return [fields.get(name, "") for name in ("model name", "flags", "CPU part", "Features")]
