"""Register listeners of internal events: durations of tracing, lowering, compiling, and custom events.

The recorded durations, each with the name of the function as `fun_name`:
`/jax/core/compile/jaxpr_trace_duration`, `/jax/core/compile/jaxpr_to_mlir_module_duration` and
`/jax/core/compile/backend_compile_duration`.

>>> import sagax
>>> def listen(event, seconds, **metadata):
...     print(event.rpartition("/")[2], metadata)
>>> sagax.monitoring.register_event_duration_secs_listener(listen)
>>> def add_one(x):
...     return x + 1
>>> _ = sagax.jit(add_one)(1.0)
jaxpr_trace_duration {'fun_name': 'add_one'}
jaxpr_to_mlir_module_duration {'fun_name': 'add_one'}
backend_compile_duration {'fun_name': 'add_one'}
>>> sagax.monitoring.unregister_event_duration_listener(listen)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.diagnostics import events

__all__ = [
    "clear_event_listeners",
    "record_event",
    "record_event_duration_secs",
    "record_event_time_span",
    "record_scalar",
    "register_event_duration_secs_listener",
    "register_event_listener",
    "register_event_time_span_listener",
    "register_scalar_listener",
    "unregister_event_duration_listener",
    "unregister_event_listener",
    "unregister_event_time_span_listener",
    "unregister_scalar_listener",
]


def record_event(event: str, **kwargs: str | int) -> None:
    """Record an event: notify its listeners.

    >>> monitoring.register_event_listener(print)
    >>> monitoring.record_event("/mine/started")
    /mine/started
    >>> monitoring.unregister_event_listener(print)
    """
    events.events.notify(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Record a duration in seconds: notify its listeners."""
    events.durations.notify(event, duration, **kwargs)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **kwargs: str | int
) -> None:
    """Record a time span, in seconds since the epoch: notify its listeners."""
    events.spans.notify(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float | int, **kwargs: str | int) -> None:
    """Record a scalar: notify its listeners."""
    events.scalars.notify(event, value, **kwargs)


def register_event_listener(callback: Callable[..., None]) -> None:
    """Call `callback(event, **metadata)` for each event."""
    events.events.add(callback)


def register_event_duration_secs_listener(callback: Callable[..., None]) -> None:
    """Call `callback(event, seconds, **metadata)` for each duration."""
    events.durations.add(callback)


def register_event_time_span_listener(callback: Callable[..., None]) -> None:
    """Call `callback(event, start, end, **metadata)` for each time span."""
    events.spans.add(callback)


def register_scalar_listener(callback: Callable[..., None]) -> None:
    """Call `callback(event, value, **metadata)` for each scalar."""
    events.scalars.add(callback)


def unregister_event_listener(callback: Callable[..., None]) -> None:
    """Undo `register_event_listener`; ValueError if it is not registered."""
    events.events.remove(callback)


def unregister_event_duration_listener(callback: Callable[..., None]) -> None:
    """Undo `register_event_duration_secs_listener`; ValueError if it is not registered."""
    events.durations.remove(callback)


def unregister_event_time_span_listener(callback: Callable[..., None]) -> None:
    """Undo `register_event_time_span_listener`; ValueError if it is not registered."""
    events.spans.remove(callback)


def unregister_scalar_listener(callback: Callable[..., None]) -> None:
    """Undo `register_scalar_listener`; ValueError if it is not registered."""
    events.scalars.remove(callback)


def clear_event_listeners() -> None:
    """Remove all listeners of all kinds."""
    kinds: tuple[Any, ...] = (events.events, events.durations, events.spans, events.scalars)
    for kind in kinds:
        kind.clear()
