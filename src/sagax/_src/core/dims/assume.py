"""Record assumptions about symbolic sizes made while tracing.

The answer to an undecidable ``==`` between sizes is "not equal", so that tracing goes on. It may be wrong
for some sizes. So it is recorded in the collector of the current context, and checked against the actual
sizes at run time.
"""

from __future__ import annotations

import contextlib
import contextvars
import operator
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import field
from typing import Any

from sagax._src.frozen_class import record

_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@record
class Assumption:
    """Hold the assumption ``lhs kind rhs``, which was not proved.

    ``kind`` is one of ``== != >= <= > <``; ``lhs`` and ``rhs`` are sizes (int or Dim); ``where`` is the
    result of the locator (None without one).
    """

    kind: str
    lhs: Any
    rhs: Any
    where: Any = field(default=None, compare=False)

    def holds(self, env: Mapping[str, int]) -> bool:
        """Return whether the assumption holds for the values in ``env``."""
        lhs, rhs = (x if isinstance(x, int) else x.evaluate(env) for x in (self.lhs, self.rhs))
        return _RELATIONS[self.kind](lhs, rhs)

    def __str__(self) -> str:
        return f"{self.lhs} {self.kind} {self.rhs}"


class Assumptions:
    """Collect the distinct assumptions of one ``assumptions()`` block, in order of appearance."""

    def __init__(self, strict: bool = False):
        self.strict = strict
        self._items: dict[Assumption, Assumption] = {}

    def refuses(self, scope: Any) -> bool:
        """Return whether an undecided equality of sizes of this scope is an error."""
        return self.strict

    def add(self, assumption: Assumption) -> None:
        self._items.setdefault(assumption, assumption)

    def get(self, assumption: Assumption) -> Assumption | None:
        """Return the recorded assumption, which has a location; None if there is none."""
        return self._items.get(assumption)

    def __iter__(self) -> Iterator[Assumption]:
        return iter(list(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, assumption: object) -> bool:
        return assumption in self._items


_collector: contextvars.ContextVar[Assumptions | None] = contextvars.ContextVar(
    "sagax_dim_assumptions", default=None
)

_not_recording = Assumptions()  # the collector that turns recording off

# The function that returns the user's line. It runs once for each new assumption.
_locate: Callable[[], Any] | None = None


def set_locator(locate: Callable[[], Any] | None) -> None:
    """Install the function for ``Assumption.where``, called once for each recorded assumption."""
    global _locate
    _locate = locate


@contextlib.contextmanager
def assumptions(strict: bool = False) -> Generator[Assumptions, None, None]:
    """Collect the assumptions made in the block; with ``strict`` the first one raises instead.

    >>> from sagax._src.core import dims
    >>> (b,) = dims.symbolic_shape("b")
    >>> with dims.assumptions() as made:
    ...     b == 1
    False
    >>> [str(a) for a in made]
    ['b != 1']
    """
    collector = Assumptions(strict)
    token = _collector.set(collector)
    try:
        yield collector
    finally:
        _collector.reset(token)


class _StrictOn(Assumptions):
    """Refuse assumptions about one scope, and forward others to the outer collector."""

    def __init__(self, scope: Any, outer: Assumptions | None):
        super().__init__()
        self.scope, self.outer = scope, outer

    def refuses(self, scope: Any) -> bool:
        return scope is self.scope or (self.outer is not None and self.outer.refuses(scope))

    def add(self, assumption: Assumption) -> None:
        if self.outer is not None:
            self.outer.add(assumption)


@contextlib.contextmanager
def no_assumptions_on(scope: Any) -> Generator[None, None, None]:
    """Raise InconclusiveDimensionOperation in the block for undecided equalities of this scope."""
    token = _collector.set(_StrictOn(scope, _collector.get()))
    try:
        yield
    finally:
        _collector.reset(token)


@contextlib.contextmanager
def no_assumptions() -> Generator[None, None, None]:
    """Record no assumptions in the block.

    Use it for display and search, where no result depends on them.
    """
    token = _collector.set(_not_recording)
    try:
        yield
    finally:
        _collector.reset(token)


def note_assumption(kind: str, lhs: Any, rhs: Any) -> None:
    """Record the assumption ``lhs kind rhs`` in its scope and in the current collector.

    The scope records it because a trace may be reused. One of the two is a Dim. Raises
    InconclusiveDimensionOperation under a strict collector.
    """
    collector = _collector.get()
    if collector is _not_recording:
        return
    scope = (rhs if isinstance(lhs, int) else lhs).scope
    assumption = Assumption(kind, lhs, rhs, None)
    if collector is not None and collector.refuses(scope):
        raise scope.inconclusive(lhs, _ASKED_RELATION.get(kind, kind), rhs)
    known = scope.noted.get(assumption)
    if known is None:
        known = Assumption(kind, lhs, rhs, _locate() if _locate is not None else None)
        scope.noted.add(known)
    if collector is not None:
        collector.add(known)


_ASKED_RELATION = {"!=": "=="}  # "not equal" is the assumption behind `==`
