"""Define side effects: part of a jaxpr's type, so that no pass drops or reorders them."""

from __future__ import annotations


class Effect:
    """A kind of side effect. `ordered` ones keep their order across executables.

    Not a dataclass, so that libraries may derive frozen and other dataclasses from it.
    """

    name: str
    ordered: bool = False

    def __init__(self, name: str, ordered: bool = False) -> None:
        self.name, self.ordered = name, ordered

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"Effect(name={self.name!r}, ordered={self.ordered})"

    def __str__(self) -> str:
        return getattr(self, "name", type(self).__name__)


no_effects: frozenset[Effect] = frozenset()


def join(*sets: frozenset[Effect]) -> frozenset[Effect]:
    """Return the union of several effect sets."""
    some = [s for s in sets if s]
    return frozenset().union(*some) if some else no_effects
