"""Define side effects: part of a jaxpr's type, so that no pass drops or reorders them."""

from __future__ import annotations

from sagax._src.frozen_class import record


@record
class Effect:
    """A kind of side effect. `ordered` ones keep their order across executables."""

    name: str
    ordered: bool = False

    def __str__(self) -> str:
        return self.name


no_effects: frozenset[Effect] = frozenset()


def join(*sets: frozenset[Effect]) -> frozenset[Effect]:
    """Return the union of several effect sets."""
    some = [s for s in sets if s]
    return frozenset().union(*some) if some else no_effects
