"""Functions that get nothing mapped as an argument, but close over mapped values or ask for a named axis.

The expected values follow from the functions; jax 0.12 gives the same where it does not refuse.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import sagax
from sagax import lax

X = np.float32([1, 2, 3])


def by_jvp(x, y):
    """x * y by a function that closes over x, with a derivative five times too large."""
    f = sagax.custom_jvp(lambda y: y * x)
    f.defjvp(lambda primals, tangents: (primals[0] * x, tangents[0] * x * 5))
    return f(y)


def by_vjp(x, y):
    """The same; the residuals hold x."""
    f = sagax.custom_vjp(lambda y: y * x)
    f.defvjp(lambda y: (y * x, x), lambda r, ct: (ct * r * 5,))
    return f(y)


def by_vjp_closing(x, y):
    """The same; the backward rule closes over x."""
    f = sagax.custom_vjp(lambda y: y * x)
    f.defvjp(lambda y: (y * x, None), lambda r, ct: (ct * x * 5,))
    return f(y)


def by_argument(x, y):
    """The same; the function that closes over x is an argument that is not differentiated."""

    @functools.partial(sagax.custom_jvp, nondiff_argnums=(0,))
    def apply(f, y):
        return f(y)

    apply.defjvp(lambda f, primals, tangents: (f(primals[0]), 5 * f(tangents[0])))
    return apply(lambda y: y * x, y)


KINDS = [by_jvp, by_vjp, by_vjp_closing, by_argument]


@pytest.mark.parametrize("f", KINDS)
def test_rules_of_functions_that_close_over_mapped_values(f):
    np.testing.assert_array_equal(sagax.vmap(lambda x: f(x, 2.0))(X), 2 * X)
    np.testing.assert_array_equal(sagax.jit(sagax.vmap(lambda x: f(x, 2.0)))(X), 2 * X)
    np.testing.assert_array_equal(sagax.vmap(lambda x: f(x, x + 1))(X), X * (X + 1))
    table = sagax.vmap(lambda x: sagax.vmap(lambda y: f(x, y))(X))(X)
    np.testing.assert_array_equal(table, np.outer(X, X))


@pytest.mark.parametrize("f", KINDS)
def test_their_derivatives_are_those_of_the_rules(f):
    inside = sagax.vmap(lambda x: sagax.grad(lambda y: f(x, y))(2.0))(X)
    np.testing.assert_array_equal(inside, 5 * X)
    outside = sagax.grad(lambda y: sagax.vmap(lambda x: f(x, y))(X).sum())(2.0)
    assert float(outside) == 5 * X.sum()
    compiled = sagax.jit(sagax.grad(lambda y: sagax.vmap(lambda x: f(x, y))(X).sum()))(2.0)
    assert float(compiled) == 5 * X.sum()


@pytest.mark.parametrize("f", KINDS)
def test_a_derivative_by_what_is_closed_over_is_refused(f):
    """The rule does not say what it is: zero would be wrong."""
    for y in (lambda x: 2.0, lambda x: 2 * x):
        with pytest.raises(TypeError, match="with respect to a value that it closes over"):
            sagax.grad(lambda x, y=y: f(x, y(x)))(3.0)


def index():
    return lax.axis_index("i")


@sagax.custom_jvp
def summed(y):
    return lax.psum(y, "i") + index()


summed.defjvp(lambda primals, tangents: (summed(*primals), tangents[0]))


@sagax.custom_vjp
def summed_back(y):
    return lax.psum(y, "i") + index()


summed_back.defvjp(lambda y: (summed_back(y), None), lambda _, ct: (ct,))

# three examples each: functions of nothing mapped, and their values
PROGRAMS = {
    "jit": (lambda: sagax.jit(index)(), [0, 1, 2]),
    "cond": (lambda: lax.cond(True, index, lambda: 0), [0, 1, 2]),
    "scan": (lambda: lax.scan(lambda c, _: (c + index(), None), 0, None, 2)[0], [0, 2, 4]),
    "while_loop": (
        lambda: lax.while_loop(lambda c: c < 5, lambda c: c + index() + 1, 0),
        [5, 6, 6],
    ),
    "fori_loop": (lambda: lax.fori_loop(0, 3, lambda _, c: c + index(), 0), [0, 3, 6]),
    "checkpoint": (lambda: sagax.checkpoint(index)(), [0, 1, 2]),
    "psum in jit": (lambda: sagax.jit(lambda y: lax.psum(y, "i"))(2.0), [6, 6, 6]),
    "pmean in scan": (
        lambda: lax.scan(lambda c, _: (c + lax.pmean(c, "i"), None), 1.0, None, 2)[0],
        [4, 4, 4],
    ),
    "custom_jvp": (lambda: summed(2.0), [6, 7, 8]),
    "custom_jvp in jit": (lambda: sagax.jit(summed)(2.0), [6, 7, 8]),
    "custom_vjp": (lambda: summed_back(2.0), [6, 7, 8]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_unmapped_values_know_the_axis(name):
    f, expected = PROGRAMS[name]
    mapped = sagax.vmap(lambda x: 0 * x + f(), axis_name="i")
    np.testing.assert_array_equal(mapped(X), expected)
    np.testing.assert_array_equal(sagax.jit(mapped)(X), expected)


def test_an_inner_axis_of_two():
    def inner(x):
        place = sagax.jit(lambda: lax.axis_index("j") + 10 * lax.axis_index("i"))
        return sagax.vmap(lambda y: 0 * (x + y) + place(), axis_name="j")(X)

    found = sagax.vmap(inner, axis_name="i")(X)
    np.testing.assert_array_equal(found, [[0, 1, 2], [10, 11, 12], [20, 21, 22]])


def test_what_does_not_need_the_axis_is_not_mapped():
    f = sagax.custom_jvp(lambda y: y * 2)
    f.defjvp(lambda primals, tangents: (f(*primals), 7 * tangents[0]))
    one = sagax.vmap(lambda x: f(2.0), axis_name="i", out_axes=None)(X)
    assert float(one) == 4.0
    assert float(sagax.vmap(lambda x: sagax.jit(f)(2.0), axis_name="i", out_axes=None)(X)) == 4.0


def test_an_axis_that_nobody_binds_is_still_an_error():
    with pytest.raises(NameError, match="unbound axis name: k"):
        f = sagax.custom_jvp(lambda y: lax.psum(y, "k"))
        f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
        sagax.vmap(lambda x: f(2.0) + x, axis_name="i")(X)
