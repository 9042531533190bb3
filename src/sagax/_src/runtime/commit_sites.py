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


class DeviceConflictError(ArgumentValueError):
    """Arrays that are bound to different devices meet in one computation."""

    code = "SX0203"

    def details(self) -> Details:
        """Where each of them was bound."""
        labels = []
        for name, where, stack in self.facts.get("bound", ()):
            place = user_span(stack)
            if place is not None:
                labels.append(Label(place, f"{name} is committed to {where!r} here"))
        return Details(labels=tuple(labels))


DeviceConflictError.__module__ = "sagax.errors"  # its public home


def note(array: ConcreteArray) -> ConcreteArray:
    """The array, which keeps in mind that it was bound to its device by the call now at work."""
    array._committed_at = source_stacks.stack()
    return array


def inherit(results: Sequence[Any], operands: Sequence[ConcreteArray]) -> None:
    """Results lie where an operand was bound: they keep in mind where that happened."""
    for x in operands:
        # unset: bound to nothing, or by no call of the user's
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
    """The error for two operands, by position, that are bound to different places."""
    bound = []
    for i in (first, second):
        name = names[i] if names is not None and i < len(names) else f"operand {i}"
        bound.append((name, where(arrays[i]), getattr(arrays[i], "_committed_at", None)))
    said = [
        f"{name} ({arrays[i].aval.str_short(short_dtypes=False)}) is committed to {place!r}{_line(stack)}"
        for i, (name, place, stack) in zip((first, second), bound, strict=True)
    ]
    (one, there, _), (other, _, _) = bound
    fix = f"move one of them: sagax.device_put(x, {there!r})"
    about = {}
    if names is not None:
        fix = f"move one of them: sagax.device_put({other}, {one}.sharding)"
        about = {"about": ((one, other), "")}
    return DeviceConflictError(
        f"Received incompatible devices for jitted computation: {' and '.join(said)}",
        fix=fix,
        bound=bound,
        **about,
    )


def _line(stack: Any) -> str:
    place = user_span(stack)
    return f" (at {display_path(place.file)}:{place.line})" if place is not None else ""
