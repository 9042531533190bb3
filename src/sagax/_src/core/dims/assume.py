"""Assumptions: what a traced program took for granted about symbolic sizes.

An undecidable ``==`` between sizes is answered "not equal" so that ordinary programs keep tracing.
Such an answer may be wrong for some sizes, so it is written down here, in the collector of the
current context, and whoever runs the program later checks it against the real sizes.
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
    """``lhs kind rhs``, taken to hold although it could not be proved.

    ``kind`` is one of ``== != >= <= > <``; ``lhs`` and ``rhs`` are sizes (int or Dim); ``where`` is
    whatever the location socket gave (None without one).
    """

    kind: str
    lhs: Any
    rhs: Any
    where: Any = field(default=None, compare=False)

    def holds(self, env: Mapping[str, int]) -> bool:
        """True if the assumption is right when the variables have the values in ``env``."""
        lhs, rhs = (x if isinstance(x, int) else x.evaluate(env) for x in (self.lhs, self.rhs))
        return _RELATIONS[self.kind](lhs, rhs)

    def __str__(self) -> str:
        return f"{self.lhs} {self.kind} {self.rhs}"


class Assumptions:
    """The distinct assumptions made inside one ``assumptions()`` block, in order of appearance."""

    def __init__(self, strict: bool = False):
        self.strict = strict
        self._items: dict[Assumption, Assumption] = {}

    def refuses(self, scope: Any) -> bool:
        """Whether an undecided equality of sizes of this scope is an error here."""
        return self.strict

    def add(self, assumption: Assumption) -> None:
        self._items.setdefault(assumption, assumption)

    def get(self, assumption: Assumption) -> Assumption | None:
        """The one that was recorded, which knows where; None if there is none."""
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

_nobody = Assumptions()  # in whose presence nothing is recorded

# Socket: who can name the user's line installs a function without arguments here. It runs once for
# each new assumption.
_locate: Callable[[], Any] | None = None


def set_locator(locate: Callable[[], Any] | None) -> None:
    """Install what gives ``Assumption.where``: called once for each recorded assumption."""
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


class _Refusing(Assumptions):
    """Refuses questions about one scope, and passes the others on."""

    def __init__(self, scope: Any, around: Assumptions | None):
        super().__init__()
        self.scope, self.around = scope, around

    def refuses(self, scope: Any) -> bool:
        return scope is self.scope or (self.around is not None and self.around.refuses(scope))

    def add(self, assumption: Assumption) -> None:
        if self.around is not None:
            self.around.add(assumption)


@contextlib.contextmanager
def no_assumptions_on(scope: Any) -> Generator[None, None, None]:
    """A block in which an undecided equality of sizes of this scope raises InconclusiveDimensionOperation."""
    token = _collector.set(_Refusing(scope, _collector.get()))
    try:
        yield
    finally:
        _collector.reset(token)


@contextlib.contextmanager
def no_assumptions() -> Generator[None, None, None]:
    """A block whose undecided equalities are not recorded.

    For displaying and searching, where no result depends on them.
    """
    token = _collector.set(_nobody)
    try:
        yield
    finally:
        _collector.reset(token)


def note_assumption(kind: str, lhs: Any, rhs: Any) -> None:
    """Record that ``lhs kind rhs`` was taken for granted: in its scope, and for who collects here.

    The scope remembers because what was traced may be used again, without being traced again. One of
    the two is a Dim. Under a strict collector the question is refused instead: raises
    InconclusiveDimensionOperation.
    """
    collector = _collector.get()
    if collector is _nobody:
        return
    scope = (rhs if isinstance(lhs, int) else lhs).scope
    assumption = Assumption(kind, lhs, rhs, None)
    if collector is not None and collector.refuses(scope):
        raise scope.inconclusive(lhs, _ASKED.get(kind, kind), rhs)
    known = scope.noted.get(assumption)
    if known is None:
        known = Assumption(kind, lhs, rhs, _locate() if _locate is not None else None)
        scope.noted.add(known)
    if collector is not None:
        collector.add(known)


_ASKED = {"!=": "=="}  # "not equal" is assumed when `==` was asked
