"""Solutions of differential equations against closed forms and SciPy, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

import sagax
import sagax.numpy as snp
from sagax.errors import SagaxError
from sagax.experimental.ode import odeint


def pendulum(y, t, friction, length):
    return snp.array([y[1], -friction * y[1] - 9.81 / length * snp.sin(y[0])])


def test_solutions_are_those_of_scipy():
    ts = np.linspace(0, 4, 9)
    with sagax.enable_x64():
        have = sagax.jit(odeint, static_argnums=0)(pendulum, snp.array([2.0, 0.3]), ts, 0.3, 1.5)
    want = scipy.integrate.odeint(
        lambda y, t: [y[1], -0.3 * y[1] - 9.81 / 1.5 * np.sin(y[0])],
        [2.0, 0.3],
        ts,
        rtol=1e-11,
        atol=1e-11,
    )
    np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)


def test_trees_times_and_steps():
    with sagax.enable_x64():
        ts = snp.array([1.0, 1.5, 3.0])
        ys = odeint(
            lambda y, t: {"a": 2 * t * snp.ones(2), "b": -y["b"]}, {"a": snp.ones(2), "b": 1}, ts
        )
        np.testing.assert_allclose(ys["a"][:, 0], np.asarray(ts) ** 2, rtol=1e-7)
        np.testing.assert_allclose(ys["b"], np.exp(1 - np.asarray(ts)), rtol=1e-6)
        assert ys["a"].shape == (3, 2)
        one = odeint(lambda y, t: y, 2.0, ts[:1])
        assert one.tolist() == [2.0]
        many = sagax.vmap(lambda k: odeint(lambda y, t: k * y, 1.0, ts))(snp.array([0.1, -0.5]))
        np.testing.assert_allclose(many[1], np.exp(-0.5 * (np.asarray(ts) - 1)), rtol=1e-6)
    with pytest.raises(SagaxError, match="floating point time"):
        odeint(lambda y, t: y, 1.0, snp.arange(3))


def test_derivatives_are_those_of_the_closed_form():
    def solved(y0, k, ts):
        return odeint(lambda y, t, k: -k * y * t, y0, ts, k)

    def exact(y0, k, ts):
        return y0 * snp.exp(-k * (ts**2 - ts[0] ** 2) / 2)

    with sagax.enable_x64():
        weights = snp.array([0.3, 1.0, -2.0])
        args = (snp.float64(1.3), snp.float64(0.7), snp.array([0.2, 0.9, 1.6]))
        have, want = (
            sagax.jit(sagax.grad(lambda *a, f=f: f(*a) @ weights, argnums=(0, 1, 2)))(*args)
            for f in (solved, exact)
        )
        for a, b in zip(have, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
        captured = sagax.grad(lambda k: odeint(lambda y, t: -k * y, 1.0, args[2])[-1])(0.7)
        np.testing.assert_allclose(captured, -1.4 * np.exp(-0.7 * 1.4), rtol=1e-6)


@pytest.mark.parametrize("of_y, of_t", [("float32", "float64"), ("float64", "float32")])
def test_values_and_times_may_differ_in_width(of_y, of_t):
    def last(y, ts, k):
        return odeint(lambda y, t, k: -k * y * t, y, ts, k, rtol=1e-6, atol=1e-6)[-1]

    with sagax.enable_x64():
        args = snp.asarray(1.3, of_y), snp.array([0.2, 0.9, 1.6], of_t), snp.float64(0.7)
        value, slopes = sagax.value_and_grad(last, argnums=(0, 1, 2))(*args)
        exact = 1.3 * np.exp(-0.7 * (1.6**2 - 0.2**2) / 2)
        assert (value.dtype, [g.dtype for g in slopes]) == (of_y, [of_y, of_t, "float64"])
        np.testing.assert_allclose(value, exact, rtol=1e-5)
        np.testing.assert_allclose(slopes[0], exact / 1.3, rtol=1e-5)
        by_t = [0.7 * 0.2 * exact, 0, -0.7 * 1.6 * exact]
        np.testing.assert_allclose(slopes[1], by_t, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(slopes[2], -exact * (1.6**2 - 0.2**2) / 2, rtol=1e-5)


@pytest.mark.parametrize("y0", [1.0, np.array([1.0, 2.0], np.float32)])
def test_gradients_of_each_example(y0):
    # the rule of odeint solves an equation by odeint: batching it once went on without end
    ts = snp.array([0.0, 0.5, 1.0])

    def last(k):
        return snp.sum(odeint(lambda y, t, k: -k * y, y0, ts, k)[-1])

    rates = np.array([1.5, 0.3], np.float32)
    exact = -np.sum(y0) * np.exp(-rates)
    np.testing.assert_allclose(sagax.vmap(sagax.grad(last))(rates), exact, rtol=1e-5)
    twice = sagax.jit(sagax.vmap(sagax.vmap(sagax.grad(last))))(rates[None])
    np.testing.assert_allclose(twice[0], exact, rtol=1e-5)


def test_gradients_of_each_example_by_what_is_captured():
    ts = snp.array([0.0, 1.0])
    starts = snp.array([[1.0, 2.0], [0.5, 0.1]])

    def total(k):
        return sagax.vmap(lambda y: odeint(lambda y, t: -k * y, y, ts)[-1].sum())(starts).sum()

    np.testing.assert_allclose(sagax.grad(total)(0.3), -3.6 * np.exp(-0.3), rtol=1e-5)
