"""Let transformations take references as arguments: contents in, and new contents back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core.references import AbstractRef, Ref
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import sockets


class ReferenceArguments:
    """Replace the references among flat arguments by their contents, as far as they are marked.

    `values` are the arguments with contents in place of references.
    """

    __slots__ = ("positions", "references", "values")

    def __init__(self, leaves: Sequence[Any], marks: Sequence[bool] | None = None) -> None:
        self.positions = [
            i for i, x in enumerate(leaves) if type(x) is Ref and (marks is None or marks[i])
        ]
        self.references = [leaves[i] for i in self.positions]
        self.values = list(leaves)
        for i in self.positions:
            self.values[i] = contents(leaves[i])

    def __bool__(self) -> bool:
        return bool(self.positions)

    def on_values(self, flat: Callable[..., Sequence[Any]]) -> Callable[..., list]:
        """Return a function of `values`, which returns new contents after the results of `flat`."""

        def function(*xs: Any) -> list:
            trace: Any = state.trace
            owner = None if trace is evaluation else trace
            args = list(xs)
            for i, ref in zip(self.positions, self.references, strict=True):
                value = xs[i] if hasattr(xs[i], "aval") else sockets.concrete(xs[i])
                args[i] = Ref(AbstractRef(value.aval, None, ref.aval.kind), owner, value=value)
            outs = flat(*args)
            return [*outs, *[args[i]._value for i in self.positions]]

        return function

    def split(self, outs: Sequence[Any]) -> tuple[list, list]:
        """Split the results of such a function into those of `flat` and the new contents."""
        n = len(outs) - len(self.positions)
        return list(outs[:n]), list(outs[n:])

    def store(self, values: Sequence[Any]) -> None:
        """Write new contents to the references."""
        for ref, value in zip(self.references, values, strict=True):
            ref[...] = value


def contents(ref: Ref) -> Any:
    """Read a reference as an array."""
    value = ref[...]
    return value if hasattr(value, "aval") else sockets.concrete(value)
