"""Taylor series against repeated forward derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.errors import SagaxError
from sagax.experimental.jet import jet
from sagax.scipy import special

M = np.array([[0.3, -0.2], [0.5, 0.7]])


@sagax.custom_jvp
def cubed(x):
    return x**3


cubed.defjvp(lambda p, t: (p[0] ** 3, 3 * p[0] ** 2 * t[0]))

FUNCTIONS = {
    **{n: getattr(snp, n) for n in "exp exp2 log sin cos tan sinh cosh tanh sqrt abs".split()},
    **{n: getattr(snp, n) for n in "arcsin arctan arcsinh expm1 log1p log2 cbrt square".split()},
    **{n: getattr(special, n) for n in ("erf", "erfc", "expit", "gammaln", "i0")},
    "rsqrt": lax.rsqrt,
    "powers": lambda x: x**3 - 2 / x**2 + x**2.5 + 2**x,
    "quotient": lambda x: (x[::-1] + 1) / (snp.cos(x) + 2) - x / 3,
    "broadcast": lambda x: x[0] * x + (x[1] - x),
    "dot": lambda x: (M @ x) @ x + snp.einsum("i,j->ij", x, snp.sin(x)).sum(0),
    "shapes": lambda x: snp.concatenate([x, x[:1]]).reshape(1, 3).T.sum(1) * 2,
    "maximum": lambda x: snp.maximum(x, 0.6) * snp.where(x > 0.5, x, -x),
    "sort": lambda x: snp.sort(-x * x) + snp.cumsum(x) * snp.max(x),
    "atan2": lambda x: snp.arctan2(x, x[::-1] ** 2),
    "jit": lambda x: sagax.jit(lambda y: snp.sin(y) * y)(x),
    "scan": lambda x: lax.scan(lambda c, a: (snp.sin(c) * a, c), x[0], x)[1],
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c * snp.cos(c), x),
    "cond": lambda x: lax.cond(x[0] > 0, snp.sin, snp.cos, x),
    "custom": lambda x: cubed(x) * x,
    "norm": lambda x: snp.linalg.norm(x) * snp.linalg.inv(M + snp.outer(x, x))[0],
}


def slope_of(f):
    return lambda t: sagax.jvp(f, (t,), (1.0,))[1]


def along(f, primal, terms):
    """The derivatives at 0 of f on the path with these derivatives, by nesting jvp."""

    def path(t):
        return f(primal + sum(c * t**k / math.factorial(k) for k, c in enumerate(terms, 1)))

    out, g = [path(0.0)], path
    for _ in terms:
        g = slope_of(g)
        out.append(g(0.0))
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_along_a_path(name):
    f = FUNCTIONS[name]
    with sagax.enable_x64():
        x = snp.array([0.4, 0.7])
        terms = [snp.array(t) for t in ([0.5, -0.3], [0.2, 0.8], [-0.6, 0.4])]
        value, found = jet(f, (x,), (terms,))
        expected = along(f, x, terms)
        np.testing.assert_allclose(value, expected[0], rtol=1e-12)
        for have, want in zip(found, expected[1:], strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-7, atol=1e-9)
        _, again = sagax.jit(lambda x, t: jet(f, (x,), (t,)))(x, terms)
        np.testing.assert_allclose(again[2], found[2], rtol=1e-9, atol=1e-12)


def product(x, y):
    return {"a": x * y["b"], "n": 3}


def test_scaling_structures_and_arguments():
    with sagax.enable_x64():
        value, terms = jet(product, (2.0, {"b": 3.0}), ((1.0, 0.0), {"b": [1.0, 0.0]}))
        assert float(value["a"]) == 6.0 and int(value["n"]) == 3
        assert [float(t) for t in terms["a"]] == [5.0, 2.0]
        assert [float(t) for t in terms["n"]] == [0.0, 0.0]
        _, coefficients = jet(lambda x: x**2, (1.0,), ((1.0, 0.0, 0.0),), factorial_scaled=False)
        assert [float(t) for t in coefficients] == [2.0, 1.0, 0.0]
        high = [1.0] + [0.0] * 9  # the tenth derivative of exp(2x)
        _, terms = jet(lambda x: snp.exp(2 * x), (0.0,), (high,))
        assert float(terms[9]) == pytest.approx(1024.0)
        slope = sagax.grad(lambda x: jet(snp.sin, (x,), ((1.0, 0.0),))[1][1])(0.3)
        assert float(slope) == pytest.approx(-np.cos(0.3))
        each = sagax.vmap(lambda x: jet(snp.exp, (x,), ((1.0, 0.0),))[1][0])(snp.arange(3.0))
        np.testing.assert_allclose(each, np.exp(np.arange(3.0)))
    for wrong in (
        lambda: jet(snp.sin, (1.0,), ()),
        lambda: jet(snp.sin, (1.0,), ((),)),
        lambda: jet(snp.add, (1.0, 1.0), ((1.0,), (1.0, 2.0))),
        lambda: jet(snp.sin, (1.0,), (1.0,)),
    ):
        with pytest.raises(SagaxError, match="series"):
            wrong()


def test_terms_of_python_numbers_are_weakly_typed():
    one = snp.float32(1)
    for given, expected in [
        ((1.0, 0.0, 0.0), [True, True, True]),
        ((one, 0.0, 0.0), [False, False, False]),
        ((1.0, one, 0.0), [True, False, False]),
    ]:
        for f in (snp.sin, snp.exp, snp.tanh, lambda x: x * x, lambda x: 1 / x):
            value, terms = jet(f, (0.5,), (given,))
            assert value.weak_type
            assert [t.weak_type for t in terms] == expected
    assert not any(t.weak_type for t in jet(snp.sin, (snp.float32(0.5),), ((1.0, 0.0),))[1])
    assert not any(t.weak_type for t in jet(lambda x: x * one, (0.5,), ((1.0, 0.0),))[1])


def _binomial_series(start: float, slope: float, exponent: float, order: int) -> list[float]:
    """Return the derivatives of (start + slope t)**exponent at 0, by the closed formula."""
    return [
        math.prod([exponent - j for j in range(k)]) * slope**k * start ** (exponent - k)
        for k in range(1, order + 1)
    ]


@pytest.mark.parametrize("exponent", [2.5, 0.5, -0.3, -1.5, 3.25])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_powers_with_broken_exponents(exponent, shape):
    x, slope = np.full(shape, 1.7, np.float32), np.full(shape, 0.8, np.float32)
    nothing = np.zeros(shape, np.float32)
    value, terms = sagax.jit(
        lambda x: jet(lambda x: x**exponent, (x,), ((slope, nothing, nothing, nothing),))
    )(x)
    np.testing.assert_allclose(value, np.full(shape, 1.7**exponent), rtol=1e-6)
    for found, wanted in zip(terms, _binomial_series(1.7, 0.8, exponent, 4), strict=True):
        np.testing.assert_allclose(found, np.full(shape, wanted), rtol=2e-5)


def test_powers_of_a_curved_path():
    # of (1 + t + 3 t**2)**2.5, whose derivatives are 2.5, 2.5 (1.5 + 6) and 2.5 (1.5 (0.5 + 18))
    _, terms = jet(lambda x: x**2.5, (1.0,), ((1.0, 6.0, 0.0),))
    np.testing.assert_allclose(terms, [2.5, 2.5 * 7.5, 2.5 * 1.5 * (0.5 + 18)], rtol=1e-6)


def test_powers_of_a_path_through_zero():
    """The derivatives of x**2.5 at 0 are 0, 0, and infinite."""
    _, terms = jet(lambda x: x**2.5, (0.0,), ((2.0, 0.0, 0.0),))
    assert [float(t) for t in terms] == [0, 0, math.inf]
    _, terms = jet(lambda x: x**0.5, (snp.zeros(2),), ((snp.ones(2), snp.zeros(2)),))
    np.testing.assert_array_equal(terms, [[math.inf] * 2, [-math.inf] * 2])
    _, terms = jet(lambda x, r: x**r, (2.0, 1.5), ((1.0, 0.0), (1.0, 0.0)))  # by its derivative
    f = lambda t: (2 + t) ** (1.5 + t)  # noqa: E731
    np.testing.assert_allclose(float(terms[0]), sagax.grad(f)(0.0), rtol=1e-6)
    np.testing.assert_allclose(float(terms[1]), sagax.grad(sagax.grad(f))(0.0), rtol=1e-6)


def test_powers_compute_no_masked_nan():
    """Of x**0.5 at 0, 1 and 4, where the path through 1 stands still: coefficients by the closed formula."""
    x, slope = snp.array([0.0, 1.0, 4.0]), snp.array([1.0, 0.0, 2.0])
    with sagax.debug_nans(True):
        _, terms = jet(lambda x: x**0.5, (x,), ((slope, *[snp.zeros(3)] * 2),))
    powers = [_binomial_series(*at, 0.5, 3) for at in ((1.0, 0.0), (4.0, 2.0))]
    for term, at_one, at_four in zip(terms, *powers, strict=True):
        np.testing.assert_allclose(term[1:], [at_one, at_four], rtol=1e-6)
    assert [float(t[0]) for t in terms] == [math.inf, -math.inf, math.inf]
