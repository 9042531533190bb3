"""Define semaphores and copies between memories, as programs that run in order see them.

A semaphore is a counter. A copy is done when it is started, so that waits end at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.primitives.references import Ref, RefView, ref_addupdate, ref_get, ref_set
from sagax._src.primitives.structural import convert
from sagax.experimental.pallas._memory import is_semaphore
from sagax.experimental.pallas._needs import TPU, unsupported
from sagax.experimental.pallas._operations import debug_check

NEVER_ENDS = "a wait for a semaphore never ends, as too little was signaled before"


def _checked(sem: Any, function: str) -> Any:
    if not isinstance(sem, (Ref, RefView)) or not is_semaphore(sem.aval) or sem.shape != ():
        raise ArgumentValueError(
            f"{function} takes one semaphore",
            function=function,
            argument="sem_or_view",
            got=repr(sem.aval)
            if isinstance(sem, (Ref, RefView))
            else f"a value of type {type(sem).__name__}",
            expected="a reference to scratch memory of type pl.tpu.SemaphoreType.REGULAR, or an element of it",
        )
    return sem


def semaphore_read(sem_or_view: Any) -> Any:
    """Return the count of a semaphore."""
    return ref_get(_checked(sem_or_view, "semaphore_read"))


def semaphore_signal(
    sem_or_view: Any,
    inc: Any = 1,
    *,
    device_id: Any = None,
    device_id_type: Any = None,
    core_index: Any = None,
) -> None:
    """Add `inc` to a semaphore of this device."""
    if device_id is not None:
        raise unsupported("semaphore_signal(device_id=...)", "several TPUs")
    sem = _checked(sem_or_view, "semaphore_signal")
    ref_addupdate(sem, None, _count(inc))


def semaphore_wait(sem_or_view: Any, value: Any = 1, *, decrement: bool = True) -> None:
    """Wait until a semaphore has at least `value`, and subtract that.

    Programs run in order, so that signals come before waits. A wait that never ends is an error: KernelCheckError
    while the kernel is traced, if the first program shows it by constants. The checking interpreter
    and `checkify` find all others, which end at once elsewhere.
    """
    _wait(_checked(sem_or_view, "semaphore_wait"), value, decrement)


def _wait(sem: Any, value: Any, decrement: bool = True) -> None:
    value = _count(value)
    debug_check(ref_get(sem) >= value, NEVER_ENDS)
    if decrement:
        ref_addupdate(sem, None, -value)


def _count(n: Any) -> Any:
    return np.int32(n) if isinstance(n, (int, np.integer)) else convert(n, np.dtype(np.int32))


@record(eq=False)
class AsyncCopy:
    """A copy from one reference to another: `start` does it, `wait` finds it done.

    `start` adds the number of elements to the semaphores, and `wait` subtracts it.
    """

    src_ref: Any
    dst_ref: Any
    sem: Any = None
    adds: bool = False
    src_sem: Any = None

    def start(self, priority: int = 0, *, add: bool = False) -> None:
        """Copy."""
        value = ref_get(self.src_ref)
        if self.adds or add:
            ref_addupdate(self.dst_ref, None, value)
        else:
            ref_set(self.dst_ref, None, value)
        for sem in self._semaphores():
            ref_addupdate(sem, None, _count(math.prod(self.dst_ref.shape)))

    def wait(self) -> None:
        """Wait for the end of the copy, which must have been started."""
        for sem in self._semaphores():
            _wait(sem, math.prod(self.dst_ref.shape))

    wait_send = wait_recv = wait

    def _semaphores(self) -> list:
        return [_checked(s, "make_async_copy") for s in (self.sem, self.src_sem) if s is not None]


def _check_copy(function: str, src: Any, dst: Any) -> None:
    for what, ref in (("src_ref", src), ("dst_ref", dst)):
        if not isinstance(ref, (Ref, RefView)):
            raise ArgumentError(
                f"{what} is no reference",
                function=function,
                argument=what,
                got=f"a value of type {type(ref).__name__}",
                expected="a reference or a view, ref.at[...]",
            )
    if src.shape != dst.shape or src.dtype != dst.dtype:
        raise ArgumentValueError(
            "the two references of a copy have different types",
            function=function,
            argument="dst_ref",
            got=repr(dst.aval),
            expected=repr(src.aval),
            fix="select equal parts of both: ref.at[...]",
        )


def make_async_copy(src_ref: Any, dst_ref: Any, sem: Any = None, *, src_sem: Any = None) -> Any:
    """Return a copy that `start` begins and `wait` ends.

    >>> a, b = sagax.new_ref(snp.arange(3)), sagax.new_ref(snp.zeros(3, int))
    >>> make_async_copy(a, b, None).start()
    >>> b[...].tolist()
    [0, 1, 2]
    """
    _check_copy("make_async_copy", src_ref, dst_ref)
    return AsyncCopy(src_ref, dst_ref, sem, src_sem=src_sem)


def async_copy(
    src_ref: Any,
    dst_ref: Any,
    sem: Any = None,
    *,
    src_sem: Any = None,
    priority: int = 0,
    add: bool = False,
) -> AsyncCopy:
    """Start a copy, and return it."""
    _check_copy("async_copy", src_ref, dst_ref)
    copy = AsyncCopy(src_ref, dst_ref, sem, add, src_sem)
    copy.start(priority)
    return copy


def sync_copy(src_ref: Any, dst_ref: Any, *, add: bool = False) -> None:
    """Copy one reference to another; either may be an array for the source."""
    _check_copy("sync_copy", src_ref, dst_ref)
    AsyncCopy(src_ref, dst_ref, None, add).start()


def make_async_remote_copy(
    src_ref: Any,
    dst_ref: Any,
    send_sem: Any,
    recv_sem: Any,
    device_id: Any,
    device_id_type: Any = None,
) -> Any:
    """Raise an error: copies between devices need several TPUs."""
    raise unsupported("make_async_remote_copy", "several TPUs", _COLLECTIVES)


def async_remote_copy(
    src_ref: Any,
    dst_ref: Any,
    send_sem: Any,
    recv_sem: Any,
    device_id: Any,
    device_id_type: Any = None,
) -> Any:
    """Raise an error: copies between devices need several TPUs."""
    raise unsupported("async_remote_copy", "several TPUs", _COLLECTIVES)


_COLLECTIVES = "exchange values outside of the kernel: lax.ppermute within shard_map"


def get_barrier_semaphore(tag: Any = None) -> Any:
    """Raise an error: a barrier of several devices needs TPUs."""
    raise unsupported("get_barrier_semaphore", TPU, _COLLECTIVES)


def core_barrier(sem: Any, *, core_axis_name: Any) -> None:
    """Wait for the other cores, which on CPUs run in order: nothing happens."""
    _checked(sem, "core_barrier")
