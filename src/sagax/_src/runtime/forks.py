"""Restart the engine in a forked process, where none of its threads runs.

Calls to the inherited engine would wait for those threads forever. One CPU device is started anew on demand, and
arrays keep their contents in the memory that the processes share. For several devices, GPUs and distributed
programs there is no such way, so calls raise.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from typing import Any

from sagax._src import xla
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.runtime import devices, effect_tokens, map_limit, placements
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.compile import Compiled
from sagax._src.runtime.distributed import process

_FIX = (
    'start processes with multiprocessing.get_context("spawn") or "forkserver", or fork before the first use of '
    "sagax"
)
_inherited: list[Any] = []


class ForkError(SagaxError, RuntimeError):
    """A forked process used what only its parent can use: devices, executables, unfinished results."""

    code = "SX0217"


ForkError.__module__ = "sagax.errors"  # its public module


def restart() -> None:
    """Detach this process, a fork, from the engine of its parent."""
    started = list(devices.started_backends())
    restartable = process.session() is None and all(
        b.platform == "cpu" and len(b.devices) == 1 for b in started
    )
    objects = gc.get_objects()
    # Destroying what belongs to the engine would wait for its threads: nothing inherited is ever freed.
    _inherited.append((started, [x for x in objects if type(x) is xla.executable.Executable]))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_inherited))
    for x in objects:
        if type(x) is ConcreteArray and x._buffer is not None:
            _detach(x, restartable)
    del objects
    refusal = None
    if not restartable:
        refusal = ForkError(
            "this process was forked after sagax had started devices, of which it has no use",
            fix=_FIX,
        )
    devices.forget_started(refusal)
    placements.single.cache_clear()
    effect_tokens.forget()
    for each in map_limit.forget:
        each()
    for x in gc.get_objects():  # compiled ahead of time: the caller holds them
        if type(x) is Compiled:
            x.run = _refuse_to_run


def _detach(x: ConcreteArray, restartable: bool) -> None:
    """Give an array its contents on the host, from a buffer of the parent."""
    if x._host is None:
        if xla.is_deleted(x._buffer):
            return
        if not xla.is_ready(x._buffer):
            _inherited.append(x._buffer)
            x._buffer = None
            text = "this process was forked while the array was computed, and its parent has the result"
            x._donation = ForkError(text, got=x.aval, fix="wait before: x.block_until_ready()")
            return
        if restartable:
            x.host()
    if restartable:
        _inherited.append((x._buffer, x._device))
        x._buffer = x._device = x._shards = None


def _refuse_to_run(_: Sequence[Any]) -> Any:
    raise ForkError(
        "this function was compiled ahead of time by the process that this one was forked from",
        fix=f"compile it in this process; or {_FIX}",
    )
