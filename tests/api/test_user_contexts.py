"""Values of users that jitted functions are traced again for."""

from __future__ import annotations

import pytest

import sagax
from sagax.errors import ArgumentError


def test_a_jitted_function_is_traced_for_each_value():
    first, second = sagax.make_user_context(), sagax.make_user_context(1)
    seen = []

    @sagax.jit
    def f(x):
        seen.append((first.value, second.value))
        return x

    f(1.0)
    for _ in range(2):
        with first("a"):
            f(1.0)
    with first("a"), second(2):
        f(1.0)
    with second(2), first("a"):
        f(1.0)
    f(1.0)
    assert seen == [(None, 1), ("a", 1), ("a", 2)]


def test_values_nest_and_must_be_hashable():
    unit = sagax.make_user_context("m")
    with unit("mm"):
        with unit("km"):
            assert unit.value == "km"
        assert unit.value == "mm"
    assert unit.value == "m"
    with pytest.raises(ArgumentError, match="hashable"):
        unit([1])
