"""Checks of single arguments: what they return, and that an error says what was got and what would do."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from sagax._src.argument_checks import checks

pytestmark = pytest.mark.smoke


def facts_of(error, call):
    with pytest.raises(error) as caught:
        call()
    assert caught.value.facts["function"] == "f" and caught.value.facts["argument"] == "x"
    return caught.value.facts


def test_instance():
    assert checks.instance("f", "x", "text", (str, bytes), "a text") == "text"
    facts = facts_of(TypeError, lambda: checks.instance("f", "x", 3, str, "a text", show=repr))
    assert facts == {"function": "f", "argument": "x", "got": "3", "expected": "a text"}
    fixed = facts_of(TypeError, lambda: checks.instance("f", "x", 3, str, "a text", fix="str(x)"))
    assert fixed["fix"] == "str(x)" and fixed["got"] == 3
    refused = sagax.errors.ArgumentValueError
    facts_of(ValueError, lambda: checks.instance("f", "x", 3, str, "a text", error=refused))


def test_what_a_caller_knows_can_be_attached():
    with pytest.raises(TypeError) as caught:
        checks.instance("f", "x", 3, str, "a text")
    assert "str(3)" in str(caught.value.attach(fix="write str(3)"))


def test_callable_and_one_of():
    assert checks.callable("f", "x", len) is len
    assert facts_of(TypeError, lambda: checks.callable("f", "x", 3))["expected"] == "a function"
    assert checks.one_of("f", "x", "a", ("a", "b"), "'a' or 'b'") == "a"
    facts = facts_of(
        ValueError, lambda: checks.one_of("f", "x", "c", "ab", "'a' or 'b'", show=repr)
    )
    assert facts["got"] == "'c'"


@pytest.mark.parametrize("value", [3, np.int64(3), np.array(3), True + 2])
def test_integer(value):
    assert checks.integer("f", "x", value, least=0, most=3) == 3


def test_integer_refused():
    facts = facts_of(TypeError, lambda: checks.integer("f", "x", 1.5))
    assert (facts["got"], facts["expected"]) == ("1.5", "an int")
    facts = facts_of(ValueError, lambda: checks.integer("f", "x", -1, least=0, in_range="0 to 3"))
    assert (facts["got"], facts["expected"]) == (-1, "0 to 3")
    facts_of(ValueError, lambda: checks.integer("f", "x", 4, most=3))
    with pytest.raises(ValueError, match="too many"):
        checks.integer("f", "x", 4, most=3, out_of_range="too many")


def test_positions():
    assert checks.positions("f", "x", 1) == (1,)
    assert checks.positions("f", "x", [0, np.int32(2)]) == (0, 2)


@pytest.mark.parametrize("value", ["ab", 1.5, [1.5], None])
def test_no_positions(value):
    facts = facts_of(TypeError, lambda: checks.positions("f", "x", value))
    assert facts["expected"] == "an int or a sequence of ints: positions of arguments"


def test_axes():
    assert [checks.canonical_axis(k, 3, "f", "x") for k in (0, 2, -1, np.int8(-3))] == [0, 2, 2, 0]
    facts = facts_of(ValueError, lambda: checks.canonical_axis(3, 3, "f", "x"))
    assert facts["expected"] == "an axis of an array with 3 dimensions (-3 to 2)"
    facts = facts_of(ValueError, lambda: checks.canonical_axis(0, 0, "f", "x"))
    assert facts["expected"].endswith("a scalar has none")
    facts_of(TypeError, lambda: checks.canonical_axis("a", 3, "f", "x"))


def test_one_for_each_dimension():
    x = np.ones((2, 3))
    checks.one_for_each_dimension("f", "x", (1, 2), x)
    facts = facts_of(TypeError, lambda: checks.one_for_each_dimension("f", "x", (1,), x))
    assert facts["expected"] == "one entry for each of the operand's 2 dimensions"
    assert facts["operand"] is x
