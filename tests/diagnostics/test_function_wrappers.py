"""Wrappers take names and attributes of what they wrap, also of callable objects."""

from __future__ import annotations

import inspect

import pytest

import sagax
import sagax.numpy as snp

WRAPPERS = [
    sagax.jit,
    sagax.grad,
    sagax.vmap,
    sagax.checkpoint,
    sagax.pmap,
    sagax.jacfwd,
    sagax.value_and_grad,
    sagax.custom_jvp,
]


class Model:
    def __init__(self):
        self.k = 3

    def __call__(self, x):
        return x * self.k


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda w: w.__name__)
def test_attributes_of_a_callable_object(wrapper):
    model = Model()
    wrapped = wrapper(model)
    assert wrapped.k == 3 and wrapped.__wrapped__ is model
    assert sagax.vmap(wrapped).k == 3  # through a wrapper of sagax


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda w: w.__name__)
def test_a_name_that_is_no_string(wrapper):
    class Odd:
        __name__ = property(lambda self: 5)

        def __call__(self, x):
            return x + 1

    assert wrapper(Odd()).__wrapped__ is not None
    assert float(sagax.jit(Odd())(1.0)) == 2.0


def test_wrappers_do_not_take_over_the_state_of_wrappers():
    def f(x):
        return x**2

    outer = sagax.checkpoint(sagax.grad(f))
    for _ in range(4):
        assert float(outer(3.0)) == 6.0
        assert float(sagax.vmap(sagax.checkpoint(sagax.grad(f)))(snp.full(2, 3.0))[0]) == 6.0
    assert not hasattr(outer, "_transformation")


def test_attributes_whose_access_raises():
    class Strict:
        def __getattr__(self, name):
            raise KeyError(name)

        def __call__(self, x):
            return x + 1

    strict = Strict()
    assert float(sagax.jit(lambda x: strict(x))(1.0)) == 2.0


def test_signatures_of_jitted_functions():
    jitted = sagax.jit(lambda x, *, y=2: x)
    assert str(inspect.signature(jitted, follow_wrapped=False)) == "(x, *, y=2)"
    assert str(jitted.__signature__) == "(x, *, y=2)"
