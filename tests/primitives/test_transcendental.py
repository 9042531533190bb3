"""Exponentials, logarithms, circular and hyperbolic functions: exact to a few units, jax's at the edges."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import sagax
from sagax import lax
from sagax._src import config, tuning, xla
from sagax._src.diagnostics import errors
from special_data import (
    EXACT,
    JAX,
    arguments_in,
    assert_same_as_jax,
    assert_within_ulps,
    derivative_at_each,
    function,
    names_in,
)

NAMES = """
    exp exp2 expm1 log log1p logistic sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
""".split()
WITH_ACCURACY = "exp exp2 expm1 log log1p logistic sin cos tan tanh".split()
# XLA's own operations, where they are off by more than three units in the last place
LOOSE = {("atan", "f32"): 6, ("tanh", "f64"): 5}
LOOSE["log1p", "f64"] = 40  # of XLA before jaxlib 0.11; later ones have half a unit


@pytest.mark.parametrize("name", [*NAMES, "atan2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_values_are_exact_to_a_few_units(name, dtype):
    with config.context(x64=True):
        have = function(name)(*[x.astype(dtype) for x in arguments_in(EXACT, name)])
        assert have.dtype == dtype
        short = "f32" if dtype == np.float32 else "f64"
        assert_within_ulps(name, have, LOOSE.get((name, short), 3))


@pytest.mark.parametrize("name", [*NAMES, "atan2"])
def test_values_at_the_edges_are_those_of_jax(name):
    arguments = arguments_in(JAX, name)
    rtol = 2e-6 if name != "exp2" else 5e-6  # jax's is 2e-6 from 2**100
    for how in (function(name), sagax.jit(function(name))):
        assert_same_as_jax(name, "value", how(*arguments), rtol=rtol, atol=1e-37)


DERIVATIVES = [(name, "d0") for name in NAMES] + [(name, "d00") for name in NAMES]
DERIVATIVES += [("atan2", key) for key in ("d0", "d1", "d00", "d11")]


@pytest.mark.parametrize(("name", "key"), DERIVATIVES, ids=lambda x: x)
def test_derivatives_at_the_edges_are_those_of_jax(name, key):
    orders = [int(i) for i in key[1:]]
    have = derivative_at_each(function(name), orders)(*arguments_in(JAX, name))
    assert_same_as_jax(name, key, have, rtol=2e-5, atol=1e-37)


@pytest.mark.parametrize("name", [n for n in names_in(JAX) if n.endswith(".c64")])
def test_complex_values_and_derivatives_are_those_of_jax(name):
    (z,) = arguments_in(JAX, name)
    f = function(name)
    assert_same_as_jax(name, "value", f(z), rtol=5e-6, atol=1e-6)
    slope = sagax.vmap(lambda z: sagax.jvp(f, (z,), (np.complex64(1),))[1])(z)
    assert_same_as_jax(name, "d0", slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_complex_values_are_those_of_numpy(name):
    z = np.array([0.5 + 0.5j, -0.5 + 2j, 2 - 0.5j, -2 - 2j, 3 + 0.1j], np.complex64)
    aliases = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    aliases |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    wide = z.astype(np.complex128)
    if name == "logistic":
        want = 1 / (1 + np.exp(-wide))
    else:
        want = getattr(np, aliases.get(name, name))(wide)
    np.testing.assert_allclose(function(name)(z), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("name", NAMES)
def test_narrow_floats_are_rounded_once(name, dtype):
    """Their values are those of float32, rounded: at most half a unit from the exact ones."""
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    low, high = {"acosh": (1, 4), "log": (0.1, 4), "log1p": (-0.8, 4)}.get(name, (-0.9, 0.9))
    x = np.linspace(low, high, 13).astype(dtype)
    have = np.asarray(function(name)(x))
    wide = np.asarray(function(name)(x.astype(np.float32)))
    assert have.dtype == dtype
    # not quite equal: the two programs may differ in the last place of float32, at a tie
    eps = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(
        have.astype(np.float64), wide, rtol=0.5001 * eps, atol=float(ml_dtypes.finfo(dtype).tiny)
    )


# Properties ------------------------------------------------------------------------------------------


def test_exp2_of_integers_is_exact_over_the_whole_range():
    n = np.arange(-126, 128, dtype=np.float32)
    np.testing.assert_array_equal(lax.exp2(n), np.ldexp(np.float32(1), n.astype(int)))
    with config.context(x64=True):
        n = np.arange(-1022, 1024, dtype=np.float64)
        np.testing.assert_array_equal(lax.exp2(n), np.ldexp(1.0, n.astype(int)))
    np.testing.assert_array_equal(lax.exp2(np.float32([128, 1e9, -1e9])), [np.inf, np.inf, 0])


def test_hyperbolic_functions_overflow_where_the_result_does():
    x = np.float32(89.0)  # exp(89) exceeds the range, half of it does not
    np.testing.assert_allclose(lax.cosh(x), np.cosh(np.float64(x)), rtol=1e-6)
    np.testing.assert_allclose(lax.sinh(-x), np.sinh(np.float64(-x)), rtol=1e-6)
    assert np.isinf(lax.cosh(np.float32(89.5)))


def test_odd_functions_keep_the_sign_of_zero():
    for name in "expm1 log1p sin tan asin atan sinh tanh asinh atanh".split():
        have = np.asarray(function(name)(np.float32([0.0, -0.0])))
        np.testing.assert_array_equal(np.signbit(have), [False, True], err_msg=name)


def test_slope_of_asinh_neither_overflows_nor_vanishes():
    x = np.float32([1e-30, 1.0, 1e20, 3e38])
    slope = sagax.vmap(sagax.grad(lax.asinh))(x)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(slope, 1 / np.sqrt(1 + wide**2), rtol=1e-6)
    half = sagax.grad(lax.asinh)(np.float16(60000))
    np.testing.assert_allclose(np.float64(half), 1 / 60000, rtol=2e-3)


def test_slope_of_tanh_keeps_its_digits_near_1():
    x = np.float32([3.0, 5.0, 7.0])
    slope = sagax.vmap(sagax.grad(lax.tanh))(x)
    # 1 - tanh**2 of the rounded tanh, which differs from 1 by a few units in the last place
    y = np.asarray(lax.tanh(x)).astype(np.float64)
    np.testing.assert_allclose(slope, (1 - y) * (1 + y), rtol=1e-6)


def test_reverse_mode_agrees_with_forward_mode():
    x = np.float32([0.3, 0.6, -0.4])
    for name in NAMES:
        at = x + 1.5 if name in ("acosh", "log") else x
        f = function(name)
        _, forward = sagax.jvp(f, (at,), (np.ones_like(at),))
        _, pull = sagax.vjp(f, at)
        np.testing.assert_allclose(pull(np.ones_like(at))[0], forward, rtol=1e-6, err_msg=name)


def test_third_derivatives():
    third = sagax.grad(sagax.grad(sagax.grad(lax.tanh)))(0.5)
    y = np.tanh(0.5)
    np.testing.assert_allclose(third, (1 - y**2) * (6 * y**2 - 2), rtol=1e-5)
    third = sagax.grad(sagax.grad(sagax.grad(lax.asinh)))(2.0)
    np.testing.assert_allclose(third, (2 * 2.0**2 - 1) / (1 + 2.0**2) ** 2.5, rtol=1e-5)


# Arguments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_ACCURACY)
def test_accuracy_is_accepted_and_kept(name):
    f = function(name)
    x = np.float32([0.25, 0.5])
    tolerance = lax.Tolerance(rtol=1e-5, ulps=2)
    for accuracy in (None, lax.AccuracyMode.HIGHEST, lax.AccuracyMode.DEFAULT, tolerance):
        np.testing.assert_allclose(
            sagax.jit(lambda x, a=accuracy: f(x, accuracy=a))(x), f(x), rtol=1e-6
        )
    printed = str(sagax.make_jaxpr(lambda x: f(x, accuracy=lax.AccuracyMode.HIGHEST))(x))
    assert f"{name}[accuracy=AccuracyMode.HIGHEST]" in printed
    assert "accuracy" not in str(sagax.make_jaxpr(f)(x))
    with pytest.raises(errors.ArgumentError, match=f"{name}.*accuracy.*got 3"):
        f(x, accuracy=3)


def test_accuracy_passes_to_the_derivative():
    def slope(x):
        f = lambda x: lax.sin(x, accuracy=lax.AccuracyMode.HIGHEST)  # noqa: E731
        return sagax.jvp(f, (x,), (x,))[1]

    assert "cos[accuracy=AccuracyMode.HIGHEST]" in str(sagax.make_jaxpr(slope)(1.0))


@pytest.mark.parametrize("name", [*NAMES, "atan2"])
def test_integers_and_booleans_are_refused(name):
    f = function(name)
    for x in (np.int32(1), np.bool_(True), 1):
        with pytest.raises(errors.DtypeError, match=name):
            f(*[x] * (2 if name == "atan2" else 1))


def test_python_floats_stay_weak():
    assert lax.exp(1.0).weak_type
    assert not lax.atan2(np.float32(1), 2.0).weak_type
    assert lax.atan2(np.float16(1), 2.0).dtype == np.float16


def test_shapes_must_fit():
    with pytest.raises(errors.ShapeError, match="atan2"):
        lax.atan2(np.ones(3, np.float32), np.ones((2, 3), np.float32))
    assert lax.atan2(np.ones((3, 1), np.float32), np.ones((1, 2), np.float32)).shape == (3, 2)


# the logarithm of many float64 numbers, by a formula


def test_logarithms_of_many_numbers():
    """Beside long double, whose logarithm has eleven more bits."""
    rng = np.random.default_rng(0)
    many = tuning.SINE_MIN_ELEMENTS
    operands = {
        "all exponents": rng.integers(1 << 52, 0x7FF << 52, many).view(np.float64),
        "about one": rng.uniform(0.5, 2, many),
        "next to one": 1 + rng.uniform(-1, 1, many) * 10.0 ** rng.uniform(-16, -1, many),
    }
    with config.context(x64=True):
        for x in operands.values():
            expected = np.log(x.astype(np.longdouble))
            found = np.asarray(sagax.jit(lax.log)(x))
            ulp = np.maximum(np.spacing(np.abs(expected).astype(np.float64)), 5e-324)
            assert (np.abs(found - expected) / ulp).max() < 0.9
            few = np.asarray(sagax.jit(lax.log)(x[:100]))
            np.testing.assert_allclose(found[:100], few, rtol=3e-16)


def test_logarithms_of_many_special_numbers():
    inf, nan = np.inf, np.nan
    smallest = np.finfo(np.float64).tiny
    special = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, smallest, -smallest, 1e-310, 2.0**1023]
    expected = [-inf, -inf, 0.0, nan, inf, nan, nan, np.log(smallest), nan, -inf, np.log(2.0**1023)]
    with config.context(x64=True):
        x = np.resize(special, tuning.SINE_MIN_ELEMENTS)
        for f in (lax.log, sagax.jit(lax.log)):
            np.testing.assert_array_equal(f(x)[: len(special)], expected)


def test_where_xla_computes_logarithms():
    def text(x, f=lax.log):
        return sagax.jit(f).lower(x).as_text()

    with config.context(x64=True):
        many = np.ones(tuning.SINE_MIN_ELEMENTS)
        assert "stablehlo.log" not in text(many)
        assert "stablehlo.log" in text(many[1:])
        assert "stablehlo.log" in text(many.astype(np.float32))
        reduced = text(many, lambda x: lax.reduce_sum(lax.log(x), (0,)))
        assert ("stablehlo.log" in reduced) == xla.reduces_sines
        with config.context(exact=True):
            assert "stablehlo.log" in text(many)
