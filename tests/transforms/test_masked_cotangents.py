"""`safe_where`: cotangents that a `where` masks stay zero, as in the form with a second `where` inside."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax, nn

where = snp.where
X = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0], np.float32)
Y = np.array([0.0, 1.0, 0.0, 0.0, -2.0, 0.5], np.float32)


def summed(f):
    return lambda *args: snp.sum(f(*args))


def plain(f, ok, other=0.0):
    """f(x) where it is defined, and `other` elsewhere."""
    return lambda x: snp.sum(where(ok(x), f(x), other))


def double(f, ok, inside, other=0.0):
    """The same, with a harmless operand where it is not defined."""
    return lambda x: snp.sum(where(ok(x), f(where(ok(x), x, inside)), other))


def positive(x):
    return x > 0


def scanned(step):
    return lambda x: lax.scan(lambda c, v: (c + step(v), None), 0.0, x)[0]


def inside_one(x):
    return snp.abs(x) < 1


# name: (function, its form with a double where), of a vector X
CASES = {
    "log": (plain(snp.log, positive), double(snp.log, positive, 1.0)),
    "sqrt": (plain(snp.sqrt, positive), double(snp.sqrt, positive, 1.0)),
    "rsqrt": (plain(lax.rsqrt, positive), double(lax.rsqrt, positive, 1.0)),
    "cbrt": (plain(snp.cbrt, lambda x: x != 0), double(snp.cbrt, lambda x: x != 0, 1.0)),
    "reciprocal": (plain(snp.reciprocal, lambda x: x != 0), double(snp.reciprocal, lambda x: x != 0, 1.0)),
    "division": (plain(lambda x: 3.0 / x, lambda x: x != 0), double(lambda x: 3.0 / x, lambda x: x != 0, 1.0)),
    "ratio": (plain(lambda x: snp.sin(x) / x, lambda x: x != 0, 1.0), double(lambda x: snp.sin(x) / x, lambda x: x != 0, 1.0, 1.0)),
    "power": (plain(lambda x: x**0.3, positive), double(lambda x: x**0.3, positive, 1.0)),
    "negative power": (plain(lambda x: x**-2, lambda x: x != 0), double(lambda x: x**-2, lambda x: x != 0, 1.0)),
    "x to the x": (plain(lambda x: x**x, positive), double(lambda x: x**x, positive, 1.0)),
    "arctan2": (plain(lambda x: snp.arctan2(x, Y), lambda x: (x != 0) | (Y != 0)), double(lambda x: snp.arctan2(x, Y), lambda x: (x != 0) | (Y != 0), 1.0)),
    "arcsin": (plain(snp.arcsin, inside_one), double(snp.arcsin, inside_one, 0.0)),
    "arccosh": (plain(snp.arccosh, lambda x: x > 1), double(snp.arccosh, lambda x: x > 1, 2.0)),
    "arctanh": (plain(snp.arctanh, inside_one), double(snp.arctanh, inside_one, 0.0)),
    "log1p": (plain(snp.log1p, lambda x: x > -1), double(snp.log1p, lambda x: x > -1, 0.0)),
    "x log x": (plain(lambda x: x * snp.log(x), positive), double(lambda x: x * snp.log(x), positive, 1.0)),
    "log of sqrt": (plain(lambda x: snp.log(snp.sqrt(x)), positive), double(lambda x: snp.log(snp.sqrt(x)), positive, 1.0)),
    "hypot": (plain(lambda x: snp.hypot(x, 0 * x), lambda x: x != 0), double(lambda x: snp.hypot(x, 0 * x), lambda x: x != 0, 1.0)),
    "nested": (
        lambda x: snp.sum(where(x > 0, where(x < 2, snp.log(2 - x), snp.log(x)), where(x < 0, snp.sqrt(-x), 0.0))),
        lambda x: snp.sum(
            where(
                x > 0,
                where(x < 2, snp.log(2 - where(x < 2, x, 0.0)), snp.log(where(x > 0, x, 1.0))),
                where(x < 0, snp.sqrt(where(x < 0, -x, 1.0)), 0.0),
            )
        ),
    ),
    "select": (
        lambda x: snp.sum(snp.select([x > 1, x > 0], [snp.log(x - 1), snp.sqrt(x)], 0.0)),
        lambda x: snp.sum(snp.select([x > 1, x > 0], [snp.log(where(x > 1, x - 1, 1.0)), snp.sqrt(where(x > 0, x, 1.0))], 0.0)),
    ),
    "norm": (
        lambda x: where(snp.sum(snp.abs(0 * x)) > 0, snp.sqrt(snp.sum((0 * x) ** 2)), 0.0),
        lambda x: where(snp.sum(snp.abs(0 * x)) > 0, snp.sqrt(where(snp.sum(snp.abs(0 * x)) > 0, snp.sum((0 * x) ** 2), 1.0)), 0.0),
    ),
    "rows": (
        lambda x: snp.sum(where(x.reshape(2, 3).sum(1) > 0, snp.log(x.reshape(2, 3).sum(1)), 0.0)),
        lambda x: snp.sum(where(x.reshape(2, 3).sum(1) > 0, snp.log(where(x.reshape(2, 3).sum(1) > 0, x.reshape(2, 3).sum(1), 1.0)), 0.0)),
    ),
    "moved": (
        lambda x: snp.sum(where(x > 0, snp.log(x), 0.0)[::-1][1:4] * 2.0),
        lambda x: snp.sum(where(x > 0, snp.log(where(x > 0, x, 1.0)), 0.0)[::-1][1:4] * 2.0),
    ),
    "stretched": (
        lambda x: snp.sum(where((x > 0)[:, None], snp.log(x)[:, None] * snp.ones((1, 3)), 0.0)),
        lambda x: snp.sum(where((x > 0)[:, None], snp.log(where(x > 0, x, 1.0))[:, None] * snp.ones((1, 3)), 0.0)),
    ),
    "two uses": (
        lambda x: snp.sum(where(x > 0, snp.log(x), 0.0) + where(x > 1, snp.log(x), 0.0)),
        lambda x: snp.sum(where(x > 0, snp.log(where(x > 0, x, 1.0)), 0.0) + where(x > 1, snp.log(where(x > 1, x, 1.0)), 0.0)),
    ),
    "in jit": (
        lambda x: snp.sum(where(x > 0, sagax.jit(lambda v: snp.log(snp.sqrt(v)))(x), 0.0)),
        lambda x: snp.sum(where(x > 0, snp.log(snp.sqrt(where(x > 0, x, 1.0))), 0.0)),
    ),
    "under vmap": (
        lambda x: snp.sum(sagax.vmap(lambda v: where(v > 0, snp.log(v), 0.0))(x)),
        lambda x: snp.sum(sagax.vmap(lambda v: where(v > 0, snp.log(where(v > 0, v, 1.0)), 0.0))(x)),
    ),
    "in scan": (
        scanned(lambda v: where(v > 0, snp.log(v), 0.0)),
        scanned(lambda v: where(v > 0, snp.log(where(v > 0, v, 1.0)), 0.0)),
    ),
    "in checkpoint": (
        lambda x: snp.sum(sagax.checkpoint(lambda v: where(v > 0, snp.log(v), 0.0))(x)),
        lambda x: snp.sum(where(x > 0, snp.log(where(x > 0, x, 1.0)), 0.0)),
    ),
    "in cond": (
        lambda x: lax.cond(True, lambda v: snp.sum(where(v > 0, snp.sqrt(v), 0.0)), lambda v: snp.sum(v), x),
        lambda x: snp.sum(where(x > 0, snp.sqrt(where(x > 0, x, 1.0)), 0.0)),
    ),
    "matrix product inside": (
        lambda x: snp.sum(where(x.reshape(2, 3) @ snp.ones((3, 2)) > 0, snp.log(x.reshape(2, 3) @ snp.ones((3, 2))), 0.0)),
        lambda x: snp.sum(
            where(x.reshape(2, 3) @ snp.ones((3, 2)) > 0, snp.log(where(x.reshape(2, 3) @ snp.ones((3, 2)) > 0, x.reshape(2, 3) @ snp.ones((3, 2)), 1.0)), 0.0)
        ),
    ),
    "softmax of masked": (
        lambda x: snp.sum(nn.softmax(where(x > 0, snp.log(x), -9.0)) ** 2),
        lambda x: snp.sum(nn.softmax(where(x > 0, snp.log(where(x > 0, x, 1.0)), -9.0)) ** 2),
    ),
}  # fmt: skip


def test_cases_cover_what_is_promised():
    assert len(CASES) >= 30


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_double_where_form(name, compiled):
    f, safe_form = CASES[name]
    maker = sagax.jit if compiled else lambda f: f
    got = maker(sagax.value_and_grad(f, safe_where=True))(X)
    value, gradient = maker(sagax.value_and_grad(safe_form))(X)
    assert np.isfinite(np.asarray(got[1])).all()
    np.testing.assert_allclose(np.asarray(got[1]), np.asarray(gradient), rtol=1e-6, atol=1e-6)
    # the value is the one that the function has without the option, to the last bit
    assert (
        np.asarray(got[0]).tobytes() == np.asarray(maker(sagax.value_and_grad(f))(X)[0]).tobytes()
    )


def my_log(x):
    return where(x > 0.0, snp.log(x), 0.0)


def test_default_is_as_ever():
    assert np.isnan(sagax.grad(my_log)(0.0))


def test_every_way_to_ask():
    assert float(sagax.grad(my_log, safe_where=True)(0.0)) == 0.0
    assert float(sagax.value_and_grad(my_log, safe_where=True)(0.0)[1]) == 0.0
    assert float(sagax.vjp(my_log, 0.0, safe_where=True)[1](1.0)[0]) == 0.0
    assert float(sagax.jit(sagax.grad(my_log), safe_where=True)(0.0)) == 0.0
    assert float(sagax.grad(sagax.jit(my_log, safe_where=True))(0.0)) == 0.0
    with sagax.config.context(safe_where=True):
        assert float(sagax.grad(my_log)(0.0)) == 0.0
        assert float(sagax.grad(sagax.jit(my_log))(0.0)) == 0.0
        assert np.isnan(sagax.grad(my_log, safe_where=False)(0.0))


def test_jitted_functions_do_not_mix():
    f = sagax.jit(my_log)
    assert np.isnan(sagax.grad(f)(0.0))
    assert float(sagax.grad(f, safe_where=True)(0.0)) == 0.0
    assert np.isnan(sagax.grad(f)(0.0))


@pytest.mark.parametrize("x", [0.0, 2.0])
def test_second_derivatives(x):
    with sagax.config.context(safe_where=True):
        expected = -1 / x**2 if x else 0.0
        assert float(sagax.grad(sagax.grad(my_log))(x)) == pytest.approx(expected)
        assert float(sagax.hessian(my_log)(x)) == pytest.approx(expected)


def test_a_nan_that_is_not_masked_stays():
    with sagax.config.context(safe_where=True):
        assert np.isnan(sagax.grad(lambda x: where(x >= 0, snp.sqrt(x) * 0.0, 0.0))(0.0))


def test_true_zeros_are_not_masks():
    """Only what a `where` leaves out is masked: 0 times an infinite derivative is still NaN."""
    assert np.isnan(sagax.grad(lambda x: 0.0 * snp.log(x), safe_where=True)(0.0))


def test_complex_numbers():
    def f(z):
        w = where(snp.abs(z) > 0, 1 / z, 0.0)
        return snp.sum(w.real)

    z = np.array([0.0, 1 + 1j], np.complex64)
    got = np.asarray(sagax.grad(f, safe_where=True)(z))
    assert got[0] == 0
    np.testing.assert_allclose(
        got[1], np.asarray(sagax.grad(lambda z: snp.sum((1 / z).real))(z[1:]))[0], rtol=1e-6
    )
