"""Define registries with jax's interface: mappings from primitives to their rule slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from sagax._src.core.primitive import Primitive

Rule = Callable[..., Any]


class Rules(MutableMapping[Primitive, Rule]):
    """The rules in one slot of all primitives.

    `adapt` converts a rule of jax's form to sagax's, `present` does the inverse. Iteration yields only
    the primitives whose rules were set here.
    """

    def __init__(
        self, slot: str, adapt: Callable[[Primitive, Rule], Rule], present: Callable[[Rule], Rule]
    ) -> None:
        self._slot, self._adapt, self._present = slot, adapt, present
        self._given: dict[Primitive, Rule] = {}

    def __setitem__(self, primitive: Primitive, rule: Rule) -> None:
        setattr(primitive, self._slot, self._adapt(primitive, rule))
        self._given[primitive] = rule

    def __getitem__(self, primitive: Primitive) -> Rule:
        if primitive in self._given:
            return self._given[primitive]
        rule = getattr(primitive, self._slot, None)
        if rule is None:
            raise KeyError(primitive)
        return self._present(rule)

    def __delitem__(self, primitive: Primitive) -> None:
        del self._given[primitive]
        setattr(primitive, self._slot, None)

    def __contains__(self, primitive: object) -> bool:
        return getattr(primitive, self._slot, None) is not None

    def __iter__(self) -> Iterator[Primitive]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)
