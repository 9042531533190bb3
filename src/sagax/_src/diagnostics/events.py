"""What happens inside, told to whoever listens: names, durations and numbers.

Listeners are called in the thread where it happens, in the order in which they were registered.
Without listeners an event costs next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError

__all__ = [
    "Hook", "Listeners", "durations", "events", "index_clamped", "jit_called", "jit_compiled", "jit_made",
    "jit_traced", "known_indices_read", "number_taken", "numbers", "operations_seen", "record_span",
    "spans", "timed", "tracer_to_numpy",
]  # fmt: skip


class Listeners:
    """The functions that are called for one kind of events."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._functions: tuple[Callable[..., None], ...] = ()

    def __bool__(self) -> bool:
        return bool(self._functions)

    def add(self, function: Callable[..., None]) -> None:
        """Call `function` for each event from now on."""
        if not callable(function):
            raise ArgumentError(
                function=f"monitoring.register_{self._kind}_listener",
                argument="callback",
                got=function,
                expected="a function of the event's name, and what else such events have",
            )
        self._functions += (function,)

    def remove(self, function: Callable[..., None]) -> None:
        """Call `function` no more."""
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
        """Forget all functions."""
        self._functions = ()

    def tell(self, event: str, *values: Any, **metadata: Any) -> None:
        """Call all functions."""
        for function in self._functions:
            function(event, *values, **metadata)


events = Listeners("event")
durations = Listeners("event_duration_secs")
spans = Listeners("event_time_span")
numbers = Listeners("scalar")


class Hook:
    """A point where a tool takes part in what a program does: one function, or None for nobody.

    `python -m sagax explain` sets hooks, in a process that exists for one run. They are asked off
    the hot paths only.
    """

    __slots__ = ("function",)

    def __init__(self) -> None:
        self.function: Callable[..., Any] | None = None


# (jitted) A function was jitted.
jit_made = Hook()
# (jitted, closed jaxpr) It was traced.
jit_traced = Hook()
# (jitted, traced, tree, statics, args, kwargs) A signature of it was compiled.
jit_compiled = Hook()
# (jitted, args, kwargs) In place of `jitted._general(args, kwargs)`; set by `jit.watch_calls`.
jit_called = Hook()
# (tracer, error class) Python took the known value of a tracer, as a number or a condition.
number_taken = Hook()
# (tracer, *args) In place of the error where NumPy asks for the value of a tracer.
tracer_to_numpy = Hook()
# (index, size) A known index was moved into the bounds of an axis.
index_clamped = Hook()
# (array, parts of an index) Elements at known indices are read at once.
known_indices_read = Hook()
# (primitive, args, params, result) An operation ran at once; while this is set, composite functions
# run their operations one by one. Its caller is `evaluation.evaluate` of whoever sets it.
operations_seen = Hook()


def record_span(event: str, start: float, end: float, **metadata: Any) -> None:
    """Tell of something that took from `start` to `end`, in seconds since the epoch."""
    durations.tell(event, end - start, **metadata)
    spans.tell(event, start, end, **metadata)


class timed:
    """Context manager: tells how long the block took."""

    __slots__ = ("event", "metadata", "start")

    def __init__(self, event: str, **metadata: Any) -> None:
        self.event = event
        self.metadata = metadata

    def __enter__(self) -> None:
        self.start = time.time()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and (durations or spans):
            record_span(self.event, self.start, time.time(), **self.metadata)
