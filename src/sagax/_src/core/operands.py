"""Group the operands and results of loops by their roles.

A primitive takes flat operands. Its rules work on groups of them: values, avals, batch dimensions or marks,
one for each operand. `split` makes the groups, and `flat` concatenates them.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sagax._src.frozen_class import record

_Groups = TypeVar("_Groups", bound="Groups")


class Groups:
    """Base of classes whose fields are groups of a flat list. Iteration yields the groups."""

    __slots__ = ()

    @classmethod
    def split(cls: type[_Groups], flat: Iterable[Any], *sizes: int) -> _Groups:
        """Cut `flat` into groups of the given sizes; the last group has the rest."""
        values = list(flat)
        ends = [0, *itertools.accumulate(sizes)]
        construct: Any = cls
        return construct(*[values[i:j] for i, j in itertools.pairwise(ends)], values[ends[-1] :])

    def __iter__(self) -> Iterator[list]:
        return (getattr(self, name) for name in self._record_fields.names)  # type: ignore

    def flat(self) -> list:
        """Concatenate the groups."""
        return list(itertools.chain.from_iterable(self))

    def like(self: _Groups, flat: Iterable[Any]) -> _Groups:
        """Cut another flat list into groups of the same sizes."""
        *sizes, _ = map(len, self)
        return self.split(flat, *sizes)

    def like_marked(self: _Groups, flat: Iterable[Any]) -> _Groups:
        """Cut a flat list that has a value for each marked operand into groups."""
        *sizes, _ = map(sum, self)
        return self.split(flat, *sizes)

    def select(self: _Groups, marks: _Groups) -> _Groups:
        """Return the marked values."""
        return type(self)(*[list(itertools.compress(*pair)) for pair in zip(self, marks)])

    def map(self: _Groups, fun: Callable, *others: _Groups) -> _Groups:
        """Apply `fun` to each value, and to the values of `others` at its index."""
        return type(self)(*[list(map(fun, *groups)) for groups in zip(self, *others)])

    def __add__(self: _Groups, other: _Groups) -> _Groups:
        """Concatenate each group with the same group of `other`."""
        return type(self)(*[[*a, *b] for a, b in zip(self, other)])


@record
class LoopOperands(Groups):
    """Operands of a scan; also inputs of its body, which takes a slice of each sequence."""

    constants: list[Any]
    carry: list[Any] = dataclasses.field(default_factory=list)
    sequences: list[Any] = dataclasses.field(default_factory=list)

    @classmethod
    def of_scan(cls, flat: Iterable[Any], params: dict) -> LoopOperands:
        """Group values for the operands of a scan with these parameters."""
        return cls.split(flat, params["num_consts"], params["num_carry"])


@record
class LoopResults(Groups):
    """Results of a scan; also outputs of its body, which returns a slice of each sequence."""

    carry: list[Any]
    sequences: list[Any] = dataclasses.field(default_factory=list)


@record
class WhileOperands(Groups):
    """Operands of a while loop. Condition and body each take their constants and the carry."""

    condition_constants: list[Any]
    body_constants: list[Any]
    carry: list[Any]

    @classmethod
    def of_while(cls, flat: Iterable[Any], params: dict) -> WhileOperands:
        """Group values for the operands of a while loop with these parameters."""
        return cls.split(flat, params["cond_nconsts"], params["body_nconsts"])

    @property
    def condition(self) -> LoopOperands:
        return LoopOperands(self.condition_constants, self.carry)

    @property
    def body(self) -> LoopOperands:
        return LoopOperands(self.body_constants, self.carry)


@record
class CallOperands(Groups):
    """Operands of a call: captured values or residuals, and arguments."""

    captured: list[Any]
    arguments: list[Any]


def partition(values: Iterable[Any], marks: Sequence[bool]) -> tuple[list, list]:
    """Return the marked values, and the others."""
    pairs = list(zip(values, marks, strict=True))
    return [x for x, m in pairs if m], [x for x, m in pairs if not m]


_Loop = TypeVar("_Loop", LoopOperands, LoopResults)


def carry_fixpoint(groups: _Loop, step: Callable[[_Loop], Sequence[Any]]) -> _Loop:
    """Join to the carry's entries those after an iteration, until nothing changes.

    Entries are marks or sets, joined by `|`. `step` maps the entries of the carry to those after one iteration.
    """
    while True:
        carry = list(map(operator.or_, groups.carry, step(groups)))
        if carry == groups.carry:
            return groups
        groups = dataclasses.replace(groups, carry=carry)
