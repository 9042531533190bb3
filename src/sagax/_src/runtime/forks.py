"""Refuse the engine to forked processes, where none of its threads runs.

A call into the inherited engine would wait for those threads forever, or abort: the engine keeps pools of threads
and their locks in static variables, which a second engine in the same process would share. Arrays keep their
contents, in the memory that the processes share.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from typing import Any

from sagax._src import xla
from sagax._src.core.shardings import Sharding
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.runtime import devices, effect_tokens, map_limit, placements
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.compile import Compiled

_FIX = (
    'start processes with multiprocessing.get_context("spawn") or "forkserver", or fork before the first use of '
    "sagax"
)
_inherited: list[Any] = []


class ForkError(SagaxError, RuntimeError):
    """A forked process used devices or compiled functions, which its parent had started."""

    code = "SX0217"


ForkError.__module__ = "sagax.errors"  # its public module


def detach() -> None:
    """Detach this process, a fork, from the engine of its parent."""
    objects = gc.get_objects()
    # Destroying what belongs to the engine would wait for its threads: nothing inherited is ever freed.
    executables = [x for x in objects if type(x) is xla.executable.Executable]
    _inherited.append((list(devices.started_backends()), executables))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_inherited))
    text = "this process was forked after sagax had started its engine, whose threads run in the parent only"
    devices.forget_started(ForkError(text, fix=_FIX))
    for x in objects:
        if type(x) is ConcreteArray and x._buffer is not None:
            _keep_contents(x)
    placements.single.cache_clear()
    effect_tokens.forget()
    for each in map_limit.forget:
        each()
    for x in objects:  # compiled ahead of time: the caller holds them
        if type(x) is Compiled:
            x.run = _refuse_to_run


def _keep_contents(x: ConcreteArray) -> None:
    """Give an array its contents on the host, from a buffer of the parent."""
    _inherited.append((x._buffer, x._device))
    buffer, x._buffer = x._buffer, None
    if x._host is None and not xla.is_deleted(buffer):
        if not xla.is_ready(buffer):
            text = "this process was forked while the array was computed, and its parent has the result"
        elif isinstance(x._device, Sharding) or xla.device_of(buffer).platform != "cpu":
            text = (
                "this process was forked, and the devices that hold the array belong to its parent"
            )
        else:
            try:
                x._host = xla.to_numpy(buffer)
                text = None
            except xla.EngineError:
                text = "this process was forked, and the computation of the array had failed"
        if text is not None:
            x._donation = ForkError(text, got=x.aval, fix="before the fork: x = np.asarray(x)")
    x._device = x._shards = None


def _refuse_to_run(_: Sequence[Any]) -> Any:
    raise ForkError(
        "this function was compiled by the process that this one was forked from", fix=_FIX
    )
