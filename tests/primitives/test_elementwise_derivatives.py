"""Derivatives of elementwise operations follow jax's conventions where there is a choice.

That is at ties, at zero, at infinity, and for functions of complex numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from elementwise_data import JAX, array, combinations, operation, unique_names
from sagax import lax


def close(have: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_allclose(np.asarray(have), want, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("case", JAX["derivatives"], ids=unique_names(JAX["derivatives"]))
def test_tangents_and_cotangents_at_edges(case):
    axes = case["axes"]
    operands = combinations(axes[0], len(axes))
    fun = operation(case)
    for i, want in enumerate(case["tangents"]):

        def of_one(x, i=i):
            return fun(*operands[:i], x, *operands[i + 1 :])

        one = np.ones_like(operands[i])
        want = np.float32(want)
        forward = sagax.jvp(of_one, (operands[i],), (one,))[1]
        backward = sagax.vjp(of_one, operands[i])[1](one)[0]
        compiled = sagax.jit(lambda x, f=of_one, t=one: sagax.jvp(f, (x,), (t,))[1])(operands[i])
        for have in (forward, backward, compiled):
            close(have, want)


@pytest.mark.parametrize("case", JAX["complex"], ids=unique_names(JAX["complex"]))
def test_cotangents_of_complex_functions(case):
    operands = [array(x, d) for x, d in zip(case["operands"], case["dtypes"], strict=True)]
    out, pull = sagax.vjp(operation(case), *operands)
    out_dtype = np.asarray(out).dtype
    close(out, array(case["out"], out_dtype))
    pulled = pull(array(case["ct"], out_dtype))
    for have, want, x in zip(pulled, case["cts"], operands, strict=True):
        assert have.dtype == x.dtype
        close(have, array(want, x.dtype))


def test_gradient_of_a_square_at_zero_and_of_ties():
    assert float(sagax.grad(lambda x: lax.integer_pow(x, 2))(0.0)) == 0
    assert float(sagax.grad(lambda x: lax.pow(x, 2))(0.0)) == 0
    assert float(sagax.grad(lambda x: lax.pow(x, 0))(0.0)) == 0
    assert float(sagax.grad(lambda x: lax.max(x, x))(3.0)) == 1
    assert float(sagax.grad(lambda x: lax.max(x, 3.0))(3.0)) == 0.5


@pytest.mark.parametrize("n", [-5, -2, 4, 9])
def test_higher_derivatives_of_integer_powers(n):
    """The k-th derivative of x**n is n (n - 1) ... (n - k + 1) x**(n - k)."""
    x, factor = 1.25, 1.0

    def fun(x):
        return lax.integer_pow(x, n)

    for k in range(1, 4):
        factor *= n - k + 1
        fun = sagax.grad(fun)
        np.testing.assert_allclose(float(fun(x)), factor * x ** (n - k), rtol=1e-5)


def test_second_derivatives_mixed():
    """Of x**y: d2/dxdy = x**(y-1) (1 + y log x)."""
    x, y = 1.5, 2.25
    mixed = sagax.grad(sagax.grad(lax.pow, 0), 1)(x, y)
    np.testing.assert_allclose(float(mixed), x ** (y - 1) * (1 + y * np.log(x)), rtol=1e-5)


@pytest.mark.parametrize(
    "dtype, numerator, divisor",
    [
        ("float32", 1e-25, 1e-25),
        ("float32", 3e30, 1e30),
        ("float16", 2e-3, 1e-3),
        ("float16", 9e3, 3e3),
    ],
)
def test_gradient_of_a_quotient_whose_divisor_has_no_square(dtype, numerator, divisor):
    """-x / y**2 is a number of the dtype where y**2 is 0 or infinite in it."""
    x, y = np.array([numerator, divisor], dtype)
    want = -float(x) / float(y) ** 2
    for grad in (
        sagax.grad(lax.div, 1),
        sagax.jit(sagax.grad(lax.div, 1)),
        sagax.jacfwd(lax.div, 1),
    ):
        np.testing.assert_allclose(float(grad(x, y)), want, rtol=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("fun", [lax.mul, lax.div, lax.sub, lax.add, lax.max, lax.rem])
def test_cotangents_of_stretched_operands_have_their_shape(fun):
    x = np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3)
    for y in (np.float32(1.3), np.float32([[1.2], [1.7]]), np.float32([[1.1, 1.6, 2.1]])):
        pulled = sagax.vjp(fun, x, y)[1](np.ones_like(x))[1]
        assert pulled.shape == y.shape
        whole = sagax.vjp(fun, x, np.broadcast_to(y, x.shape).copy())[1](np.ones_like(x))[1]
        axes = tuple(i for i in range(2) if not y.ndim or y.shape[i] == 1)
        close(pulled, np.sum(np.asarray(whole), axes, keepdims=bool(y.ndim)))


def test_functions_with_steps_have_zero_gradients():
    for fun in (lax.floor, lax.ceil, lax.round, lax.sign):
        assert float(sagax.grad(fun)(1.3)) == 0
    assert float(sagax.grad(lambda x: lax.bitcast_convert_type(x, np.float32))(1.3)) == 0
