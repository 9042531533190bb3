"""Notify listeners of internal events: names, durations and numbers.

Listeners are called in the thread of the event, in the order of registration. An event without listeners
costs almost nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError

__all__ = [
    "Hook", "Listeners", "debug_printed", "durations", "events", "index_clamped", "jit_called", "jit_compiled", "jit_created",
    "jit_traced", "kernel_called", "key_reused", "operation_evaluated", "record_duration", "record_span", "scalars", "spans",
    "static_indices_read", "tracer_concretized", "tracer_to_numpy", "unmapped_operation",
]  # fmt: skip


class Listeners:
    """Hold the functions that are called for one kind of events."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._functions: tuple[Callable[..., None], ...] = ()

    def __bool__(self) -> bool:
        return bool(self._functions)

    def add(self, function: Callable[..., None]) -> None:
        """Register a function."""
        if not callable(function):
            raise ArgumentError(
                function=f"monitoring.register_{self._kind}_listener",
                argument="callback",
                got=function,
                expected="a function of the event's name, and what else such events have",
            )
        self._functions += (function,)

    def remove(self, function: Callable[..., None]) -> None:
        """Unregister a function."""
        if function not in self._functions:
            raise ArgumentValueError(
                function=f"monitoring.unregister_{self._kind}_listener",
                argument="callback",
                got=function,
                expected="a function that is registered",
            )
        found = list(self._functions)
        found.remove(function)
        self._functions = tuple(found)

    def clear(self) -> None:
        """Unregister all functions."""
        self._functions = ()

    def notify(self, event: str, *values: Any, **metadata: Any) -> None:
        """Call all functions."""
        for function in self._functions:
            function(event, *values, **metadata)


events = Listeners("event")
durations = Listeners("event_duration_secs")
spans = Listeners("event_time_span")
scalars = Listeners("scalar")


class Hook:
    """A function that a tool sets to observe or replace an action, or None.

    `python -m sagax explain` sets hooks, in a process of its own. Only slow paths call them.
    """

    __slots__ = ("function",)

    def __init__(self) -> None:
        self.function: Callable[..., Any] | None = None


# (jitted) after the creation of a jitted function
jit_created = Hook()
# (jitted, closed jaxpr) after its tracing
jit_traced = Hook()
# (jitted, traced, tree, statics, args, kwargs) after the compilation of a signature
jit_compiled = Hook()
# (jitted, args, kwargs) instead of `jitted._general(args, kwargs)`; set by `jit.watch_calls`
jit_called = Hook()
# (tracer, error class) before a tracer is converted to its known Python value
tracer_concretized = Hook()
# (tracer, *args) instead of the error for the conversion of a tracer to NumPy
tracer_to_numpy = Hook()
# (index, size) before a static index is clamped to the bounds of an axis
index_clamped = Hook()
# (array, parts of an index) before elements at static indices are read eagerly
static_indices_read = Hook()
# (trace, primitive, args, params) before an operation of vmap none of whose operands is mapped
unmapped_operation = Hook()
# (primitive, args, params, result) after an eager evaluation; while it is set, composite functions
# evaluate their operations one by one. Its setter also replaces `evaluation.evaluate`, which calls it.
operation_evaluated = Hook()

# (error) before a key that is used twice raises; true excuses it
key_reused = Hook()

# (format string) when debug.print is called
debug_printed = Hook()

# (check) before a kernel runs that is not checked; `check()` runs it in the checking interpreter
kernel_called = Hook()


def record_span(event: str, start: float, end: float, **metadata: Any) -> None:
    """Notify listeners of an event from `start` to `end`, in seconds since the epoch."""
    durations.notify(event, end - start, **metadata)
    spans.notify(event, start, end, **metadata)


class record_duration:
    """Record the duration of a block, as a context manager."""

    __slots__ = ("event", "metadata", "start")

    def __init__(self, event: str, **metadata: Any) -> None:
        self.event = event
        self.metadata = metadata

    def __enter__(self) -> None:
        self.start = time.time()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and (durations or spans):
            record_span(self.event, self.start, time.time(), **self.metadata)
