"""Record where arrays were committed, for device-conflict errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import source_stacks
from sagax._src.diagnostics.base import Details
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.diagnostics.model import Label
from sagax._src.diagnostics.spans import display_path, user_span
from sagax._src.runtime.array import ConcreteArray

__all__ = ["DeviceConflictError", "conflict", "inherit", "note"]


class DeviceConflictError(ArgumentValueError):
    """Arrays that are committed to different devices are operands of one computation."""

    code = "SX0203"

    def details(self) -> Details:
        """Show where each of them was committed."""
        labels = []
        for name, where, stack in self.facts.get("bound", ()):
            span = user_span(stack)
            if span is not None:
                labels.append(Label(span, f"{name} is committed to {where!r} here"))
        return Details(labels=tuple(labels))


DeviceConflictError.__module__ = "sagax.errors"  # its public module


def note(array: ConcreteArray) -> ConcreteArray:
    """Record that the current call committed the array; return it."""
    array._committed_at = source_stacks.stack()
    return array


def inherit(results: Sequence[Any], operands: Sequence[ConcreteArray]) -> None:
    """Propagate the commit sites of operands to results."""
    for x in operands:
        # unset: uncommitted, or not by a user's call
        stack = getattr(x, "_committed_at", None)
        if stack is not None:
            for result in results:
                result._committed_at = stack
            return


def conflict(
    arrays: Sequence[ConcreteArray],
    first: int,
    second: int,
    where: Callable[[ConcreteArray], Any],
    names: Sequence[str] | None = None,
) -> DeviceConflictError:
    """Return the error for two operands, by position, that are committed to different devices."""
    bound = []
    for i in (first, second):
        name = names[i] if names is not None and i < len(names) else f"operand {i}"
        bound.append((name, where(arrays[i]), getattr(arrays[i], "_committed_at", None)))
    described = [
        f"{name} ({arrays[i].aval.str_short(short_dtypes=False)}) is committed to {span!r}{_line(stack)}"
        for i, (name, span, stack) in zip((first, second), bound, strict=True)
    ]
    (one, there, _), (other, _, _) = bound
    fix = f"move one of them: sagax.device_put(x, {there!r})"
    about = {}
    if names is not None:
        fix = f"move one of them: sagax.device_put({other}, {one}.sharding)"
        about = {"about": ((one, other), "")}
    return DeviceConflictError(
        f"Received incompatible devices for jitted computation: {' and '.join(described)}",
        fix=fix,
        bound=bound,
        **about,
    )


def _line(stack: Any) -> str:
    span = user_span(stack)
    return f" (at {display_path(span.file)}:{span.line})" if span is not None else ""
