"""A Python number that a transformation only passes on comes back as that number.

What is expected was looked up in jax 0.12.
"""

from __future__ import annotations

import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

PASSED = {
    "jvp": (lambda: sagax.jvp(lambda x: x, (1.0,), (2.0,)), (1.0, 2.0)),
    "vjp": (lambda: sagax.vjp(lambda x: x, 3.0)[0], 3.0),
    "pullback": (lambda: sagax.vjp(lambda x: x, 3.0)[1](2.0), (2.0,)),
    "linearize": (lambda: sagax.linearize(lambda x: x, 2.0)[0], 2.0),
    "linearized": (lambda: sagax.linearize(lambda x: x, 2.0)[1](5.0), 5.0),
    "value": (lambda: sagax.value_and_grad(lambda x: x)(2.0)[0], 2.0),
    "aux of grad": (lambda: sagax.grad(lambda x: (x * x, x), has_aux=True)(2.0)[1], 2.0),
    "aux of jacfwd": (lambda: sagax.jacfwd(lambda x: (x * x, x), has_aux=True)(2.0)[1], 2.0),
    "aux of jacrev": (lambda: sagax.jacrev(lambda x: (x * x, x), has_aux=True)(2.0)[1], 2.0),
    "vmap": (
        lambda: sagax.vmap(lambda x, y: y, in_axes=(0, None), out_axes=None)(snp.ones(2), 3.0),
        3.0,
    ),
    "scan": (lambda: lax.scan(lambda c, _: (c, None), 1.0, None, length=2)[0], 1.0),
    "while_loop": (
        lambda: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0], c[1] + 1), (1.0, 2))[0],
        1.0,
    ),
    "fori_loop": (lambda: lax.fori_loop(0, 2, lambda i, c: c, 3), 3),
    "stop_gradient": (lambda: lax.stop_gradient(5.0), 5.0),
    "checkpoint": (lambda: sagax.checkpoint(lambda x: x)(2.0), 2.0),
}


@pytest.mark.parametrize("name", PASSED)
def test_numbers_that_are_passed_on(name):
    compute, expected = PASSED[name]
    for _ in range(4):  # frequent eager transformations are compiled
        found = compute()
        assert type(found) is type(expected)
        assert found == expected
        if isinstance(found, tuple):
            assert list(map(type, found)) == list(map(type, expected))


def test_numbers_that_are_computed_become_arrays():
    for found in (
        sagax.grad(lambda x: x)(1.0),
        sagax.jvp(lambda x: x + 0, (1.0,), (1.0,))[0],
        sagax.jvp(sagax.jit(lambda x: x), (1.0,), (1.0,))[0],
        sagax.jit(lambda x: x)(1.0),
        lax.cond(True, lambda c: c, lambda c: c, 3.0),
        # the condition depends on it
        lax.while_loop(lambda c: c < 0, lambda c: c, 1.0),
    ):
        assert isinstance(found, sagax.Array)
        assert found.weak_type


def test_numbers_become_arrays_in_loops_without_jit():
    with sagax.disable_jit():
        found = lax.while_loop(lambda v: v < 5, lambda v: v + 2, 0)
    assert isinstance(found, sagax.Array)
    assert (int(found), found.weak_type) == (6, True)


def test_bounds_of_a_loop_have_one_dtype():
    with pytest.raises(TypeError, match="must have equal types"):
        lax.fori_loop(0, snp.uint8(3), lambda i, v: v + i, 0)
    assert int(lax.fori_loop(0, snp.int8(3), lambda i, v: v + i, snp.int8(0))) == 3


def test_gradients_of_numbers_that_are_strongly_typed():
    for f in (
        lambda x: x**0.5,
        lambda x: snp.maximum(x, 1.0),
    ):
        assert not sagax.grad(f)(1.0).weak_type
    for f in (lambda x: x**2, lambda x: x * snp.float32(2), lambda x: snp.float32(2) ** x):
        assert sagax.grad(f)(1.0).weak_type
