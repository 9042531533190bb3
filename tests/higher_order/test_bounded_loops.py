"""Loops of unknown length with a bound on it: `while_loop` and `fori_loop` with `max_steps`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from check_derivatives import check_derivatives
from sagax import lax
from sagax._src.core.jaxpr import subjaxprs


def unrolled(x, n):
    c = x
    for i in range(n):
        c = snp.sin(c) * x + 0.1 * i
    return c


def bounded(x, n, most=20):
    return lax.fori_loop(0, n, lambda i, c: snp.sin(c) * x + 0.1 * i, x, max_steps=most)


@pytest.mark.parametrize("n", [0, 1, 6, 16, 20])
@pytest.mark.parametrize("jit", [False, True])
def test_gradient_is_that_of_the_unrolled_loop(n, jit):
    def wrap(f):
        return sagax.jit(f) if jit else f

    x, rounds = np.float32(0.7), np.int32(n)
    np.testing.assert_allclose(wrap(bounded)(x, rounds), unrolled(x, n), rtol=1e-6)
    np.testing.assert_allclose(
        wrap(sagax.grad(bounded))(x, rounds), sagax.grad(unrolled)(x, n), rtol=1e-5
    )


@pytest.mark.parametrize("most", [1, 2, 5, 9, 10, 17])
def test_blocks_of_every_size_end_where_they_must(most):
    got = sagax.grad(
        lambda x: lax.while_loop(lambda c: c < 1e9, lambda c: c * x, x, max_steps=most)
    )(2.0)
    assert float(got) == (most + 1) * 2.0**most  # x ** (most + 1)


def test_no_round_at_all():
    f = lambda x: lax.while_loop(lambda c: c < 9, lambda c: c * x, x, max_steps=0)  # noqa: E731
    assert float(f(2.0)) == 2.0
    assert float(sagax.grad(f)(2.0)) == 1.0


def test_derivatives_to_second_order_in_both_modes():
    check_derivatives(lambda x: bounded(x, np.int32(7)), (0.7,))


def test_carry_of_several_leaves_and_captured_arrays():
    w = np.float64([0.3, -0.2, 0.5])

    def f(p, s):
        def body(state):
            k, a, b = state
            return k + 1, snp.sin(a * p) + w, {"s": b["s"] * s + a.sum()}

        state = (0, w, {"s": s})
        _, a, b = lax.while_loop(lambda st: st[0] < 4, body, state, max_steps=6)
        return a, b["s"]

    check_derivatives(f, (np.float64([0.1, 0.4, -0.3]), 0.6), order=1)


def test_vmap_and_grad_in_either_order():
    xs, ns = np.float32([0.2, 0.3, 0.4, 0.5]), np.int32([0, 3, 7, 20])
    want = [float(sagax.grad(unrolled)(x, int(n))) for x, n in zip(xs, ns, strict=True)]
    np.testing.assert_allclose(sagax.vmap(sagax.grad(bounded))(xs, ns), want, rtol=1e-5)
    total = sagax.grad(lambda xs: sagax.vmap(bounded)(xs, ns).sum())
    np.testing.assert_allclose(total(xs), want, rtol=1e-5)
    np.testing.assert_allclose(sagax.jit(total)(xs), want, rtol=1e-5)


def test_an_example_that_is_done_cannot_spoil_the_others_with_nan():
    def f(x):  # the body is NaN below 0.05, where the loop has ended
        step = lambda c: c - 0.5 * snp.log(c + 1) / snp.sqrt(c - 0.06)  # noqa: E731
        return lax.while_loop(lambda c: c > 0.3, step, x, max_steps=12)

    xs = np.float32([0.05, 0.5, 2.0])
    values = sagax.vmap(f)(xs)
    np.testing.assert_allclose(values, [float(f(x)) for x in xs], rtol=1e-6)
    each = [float(sagax.grad(f)(x)) for x in xs]
    assert np.isfinite(each).all()
    assert each[0] == 1.0
    np.testing.assert_allclose(sagax.vmap(sagax.grad(f))(xs), each, rtol=1e-5)
    np.testing.assert_allclose(sagax.grad(lambda x: sagax.vmap(f)(x).sum())(xs), each, rtol=1e-5)


def arrays_in(jaxpr, found):
    """The largest array of each shape that a program computes, programs inside of it included."""
    for eqn in jaxpr.eqns:
        found.extend(v.aval for v in eqn.outvars)
        for inner in subjaxprs(eqn.params):
            arrays_in(inner, found)
    return found


@pytest.mark.parametrize("most", [100, 2500])
def test_memory_grows_with_the_square_root(most):
    size = 7

    def f(x):
        return lax.while_loop(
            lambda c: c.sum() < 1e9, lambda c: snp.sin(c) * x, x, max_steps=most
        ).sum()

    jaxpr = sagax.make_jaxpr(sagax.grad(f))(np.ones(size, np.float32)).jaxpr
    largest = max(math.prod(a.shape) for a in arrays_in(jaxpr, []))
    assert size * math.isqrt(most) <= largest <= 2 * size * math.isqrt(most)


def test_forward_mode_of_a_loop_with_and_without_a_bound():
    for most in (None, 30):
        f = lambda x, most=most: lax.while_loop(  # noqa: E731
            lambda c: c < 10.0, lambda c: c * 2 * x, x, max_steps=most
        )
        value, slope = sagax.jvp(f, (1.1,), (1.0,))
        np.testing.assert_allclose([value, slope], [1.1 * 2.2**3, 4 * 8 * 1.1**3], rtol=1e-6)
        value, push = sagax.linearize(f, 1.1)
        np.testing.assert_allclose([value, push(1.0)], [1.1 * 2.2**3, 4 * 8 * 1.1**3], rtol=1e-6)


def test_reverse_mode_without_a_bound_offers_it():
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work") as error:
        sagax.grad(lambda x: lax.while_loop(lambda c: c > 0.1, lambda c: c / 2 * x, x))(1.0)
    assert "max_steps=N" in str(error.value)
    g = sagax.grad(lambda x, n: lax.fori_loop(0, n, lambda i, c: c * x, x))
    with pytest.raises(ValueError, match="max_steps=N"):
        sagax.jit(g)(1.0, 3)


def test_more_rounds_than_the_bound_allows():
    with pytest.raises(ValueError, match="at least 5, the number of rounds"):
        lax.fori_loop(0, 5, lambda i, c: c, 0.0, max_steps=4)
    n = snp.int32(9)
    jitted = sagax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + 1, 0, max_steps=4))
    assert int(jitted(n)) == 4  # where the bounds are traced the loop ends


@pytest.mark.parametrize("most", [2.5, "3", -1])
def test_bounds_that_are_none(most):
    with pytest.raises(
        (TypeError, ValueError), match="argument max_steps must be an int of at least 0"
    ):
        lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0, max_steps=most)


def test_a_traced_bound():
    with pytest.raises(sagax.errors.ConcretizationTypeError, match="max_steps"):
        sagax.jit(lambda n: lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0, max_steps=n))(3)


def test_without_jit():
    with sagax.disable_jit():
        assert int(lax.while_loop(lambda c: c < 9, lambda c: c + 1, 0, max_steps=4)) == 4


def test_jaxpr_shows_the_bound_only_where_there_is_one():
    loop = lambda **k: str(  # noqa: E731
        sagax.make_jaxpr(lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x, **k))(0)
    )
    assert "max_steps" not in loop()
    assert "max_steps=5" in loop(max_steps=5)
