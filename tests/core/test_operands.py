"""Groups of operands: cutting flat lists, putting them together, and the fixed point over a carry."""

from __future__ import annotations

import dataclasses

import pytest

from sagax._src.core.operands import (
    LoopOperands,
    LoopResults,
    WhileOperands,
    carry_fixpoint,
    partition,
)


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 0, 2), (0, 3, 0), (2, 1, 1)])
def test_groups_are_cut_and_put_together(sizes):
    flat = list(range(sum(sizes)))
    groups = LoopOperands.split(flat, *sizes[:2])
    assert tuple(map(len, groups)) == sizes
    assert groups.flat() == flat
    assert groups.like(reversed(flat)).flat() == flat[::-1]
    assert groups.map(lambda x: -x).flat() == [-x for x in flat]


def test_what_belongs_to_marked_operands_is_cut_by_their_number():
    marks = LoopOperands([True, False], [True], [False, True, True])
    assert marks.like_marked("abcd") == LoopOperands(["a"], ["b"], ["c", "d"])
    both = marks.like(range(6)) + marks.like_marked(range(6, 10))
    assert both == LoopOperands([0, 1, 6], [2, 7], [3, 4, 5, 8, 9])


def test_groups_may_be_left_out_at_the_end_and_cannot_be_set():
    assert LoopOperands.split([1, 2, 3], 1) == LoopOperands([1], [2, 3], [])
    with pytest.raises(dataclasses.FrozenInstanceError):
        LoopResults([1]).carry = []


def test_condition_and_body_share_the_carry():
    operands = WhileOperands.split("abcd", 1, 2)
    assert operands.condition.flat() == ["a", "d"]
    assert operands.body.flat() == ["b", "c", "d"]


def test_partition():
    assert partition("abc", [True, False, True]) == (["a", "c"], ["b"])
    with pytest.raises(ValueError, match="zip"):
        partition("abc", [True])


def test_the_carry_grows_until_an_iteration_adds_nothing():
    steps = []

    def rotate(marks):
        steps.append(marks)
        return [marks.carry[-1], *marks.carry[:-1], "a slice, which does not count"]

    found = carry_fixpoint(LoopOperands([], [True, False, False]), rotate)
    assert found.carry == [True, True, True]
    assert len(steps) == 3
