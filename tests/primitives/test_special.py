"""Special functions: digits, edges, derivatives, and the loops by which they are computed."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import sagax
from sagax import lax
from sagax._src import config
from sagax._src.core import dims
from sagax._src.core.avals import ShapedArray
from sagax._src.core.primitive import MissingRuleError
from sagax._src.core.staging import stage
from sagax._src.diagnostics import errors
from sagax._src.lowering.module import lower_jaxpr, verify
from sagax._src.primitives.special.beta import beta_density
from sagax._src.primitives.special.rests import gauss
from special_data import (
    EXACT,
    JAX,
    arguments_in,
    assert_same_as_jax,
    assert_within_ulps,
    derivative_at_each,
    everything,
    function,
    primitive,
    run_as_elsewhere,
    ulps,
)

UNARY = "erf erfc erf_inv exp_neg_square lgamma digamma bessel_i0e bessel_i1e".split()
GAMMA = "igamma igammac gamma_density igamma_grad_a random_gamma_grad".split()
OTHERS = "zeta zeta.negative polygamma betainc beta_density".split()

# In units of the last place; what is not named: 3 for float32 and 25 for float64.
LIMITS = {
    ("erfc", "f32"): 60,  # XLA's own; far out the argument's last place means as much
    ("zeta.negative", "f32"): 30,  # terms of either sign cancel
    ("digamma", "f64"): 100,  # XLA's own: absolutely exact about the zero at 1.46
}


@pytest.mark.parametrize("name", UNARY + GAMMA + OTHERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_values_are_exact_to_a_few_units(name, dtype):
    short = "f32" if dtype == np.float32 else "f64"
    with config.context(x64=True):
        have = function(name)(*[x.astype(dtype) for x in arguments_in(EXACT, name)])
        assert have.dtype == dtype
        assert_within_ulps(name, have, LIMITS.get((name, short), 3 if short == "f32" else 25))


@pytest.mark.parametrize("name", ["lgamma", *GAMMA, "beta_density", "regularized_incomplete_beta"])
def test_float32_is_exact_on_other_devices_too(name):
    """There everything is computed in float32; here in float64."""
    recorded = "betainc" if name == "regularized_incomplete_beta" else name
    arguments = [x.astype(np.float32) for x in arguments_in(EXACT, recorded)]
    error = ulps(run_as_elsewhere(primitive(name), *arguments), EXACT[f"{recorded}/value"])
    if name == "lgamma":  # on the left are zeros, about which it is absolutely exact only
        error = error[arguments[0] > 0]
    assert np.max(error) <= 50
    assert np.median(error) <= 2


# Edges -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in UNARY if n != "exp_neg_square"])
def test_values_at_the_edges_are_those_of_jax(name):
    assert_same_as_jax(name, "value", function(name)(*arguments_in(JAX, name)), 2e-5, 1e-37)


def test_values_of_several_arguments_at_the_edges_are_those_of_jax():
    def knows_the_limit(want, a, x):
        """Where jax has no limit at infinity: zeta and polygamma, and derivatives in `a`, vanish."""
        return np.isnan(want) & (np.isinf(a) ^ np.isinf(x)) & (a > 0)

    for name in ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "zeta", "polygamma"):
        have = function(name)(*arguments_in(JAX, name))
        assert_same_as_jax(name, "value", have, 2e-5, 1e-37, but=knows_the_limit)
    assert_same_as_jax("betainc", "value", lax.betainc(*arguments_in(JAX, "betainc")), 2e-5, 1e-37)


def test_limits_at_infinity():
    inf = np.float32(np.inf)
    assert lax.zeta(np.float32(2), inf) == 0
    assert lax.polygamma(np.float32(1), inf) == 0
    assert lax.igamma_grad_a(np.float32(1), inf) == 0
    assert lax.igamma_grad_a(inf, np.float32(1)) == 0


@pytest.mark.parametrize("name", ["erf", "erfc", "erf_inv"])
@pytest.mark.parametrize("key", ["d0", "d00"])
def test_derivatives_of_error_functions_at_the_edges_are_those_of_jax(name, key):
    have = derivative_at_each(function(name), [0] * (len(key) - 1))(*arguments_in(JAX, name))
    assert_same_as_jax(name, key, have, 5e-5, 1e-37)


@pytest.mark.parametrize(("name", "key"), [("lgamma", "d0"), ("lgamma", "d00"), ("digamma", "d0")])
def test_derivatives_of_lgamma_at_the_edges_are_those_of_jax(name, key):
    def better(want, x):
        """jax: NaN at infinity, and no correct digit below -9."""
        return (np.isinf(x) & np.isnan(want)) | (x == np.float32(-9.2))

    have = derivative_at_each(function(name), [0] * (len(key) - 1))(*arguments_in(JAX, name))
    assert_same_as_jax(name, key, have, 2e-5, 1e-37, but=better)


def test_trigamma_far_on_the_left():
    x = np.float32(-9.2)
    reflected = (np.pi / np.sin(np.pi * np.float64(x))) ** 2 - scipy.special.polygamma(
        1, 1 - np.float64(x)
    )
    np.testing.assert_allclose(sagax.grad(lax.digamma)(x), reflected, rtol=1e-6)


@pytest.mark.parametrize("name", ["bessel_i0e", "bessel_i1e"])
@pytest.mark.parametrize("key", ["d0", "d00"])
def test_derivatives_of_bessel_functions_at_the_edges_are_those_of_jax(name, key):
    def better(want, x):
        """jax: a number at NaN, and the rounding errors of two equal terms far out."""
        return np.isnan(x) | (np.abs(x) > 1e20)

    have = derivative_at_each(function(name), [0] * (len(key) - 1))(*arguments_in(JAX, name))
    # the second derivative is a small difference in jax and here
    assert_same_as_jax(name, key, have, 2e-5 if key == "d0" else 5e-3, 1e-7, but=better)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
@pytest.mark.parametrize("key", ["d0", "d1", "d11"])
def test_derivatives_of_incomplete_gamma_functions_at_the_edges_are_those_of_jax(name, key):
    def better(want, a, x):
        """jax: NaN where there is a limit, and 0 where the function itself is NaN."""
        return (np.isnan(want) & (a >= 0) & (x >= 0)) | (a < 0)

    orders = [int(i) for i in key[1:]]
    have = np.asarray(derivative_at_each(function(name), orders)(*arguments_in(JAX, name)))
    assert_same_as_jax(name, key, have, 5e-5, 1e-37, but=better)
    a, x = arguments_in(JAX, name)
    outside = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    assert np.all(np.isnan(have[outside]))


def test_density_at_the_ends_of_the_domain():
    a = np.float32([0.5, 1, 2])
    np.testing.assert_array_equal(
        sagax.vmap(sagax.grad(lax.igamma, 1))(a, np.zeros(3, np.float32)), [np.inf, 1, 0]
    )
    slope = sagax.vmap(sagax.grad(lax.betainc, 2))
    np.testing.assert_array_equal(
        slope(a, np.full(3, 3, np.float32), np.zeros(3, np.float32)), [np.inf, 3, 0]
    )
    np.testing.assert_array_equal(
        slope(np.full(3, 3, np.float32), a, np.ones(3, np.float32)), [np.inf, 3, 0]
    )


def test_polygamma_in_its_argument_at_the_edges_is_that_of_jax():
    def better(want, m, x):
        return np.isnan(want) & ((x == 0) | np.isinf(x))

    have = derivative_at_each(lax.polygamma, [1])(*arguments_in(JAX, "polygamma"))
    assert_same_as_jax("polygamma", "d1", have, 2e-5, 1e-37, but=better)


# Large and extreme arguments ------------------------------------------------------------------------------


def test_incomplete_gamma_of_huge_parameters():
    """Where the distribution is normal up to a correction: DLMF 8.11.12 at a = x."""
    with config.context(x64=True):
        a = np.array([1e6, 1e9, 1e12, 1e20, 1e30])
        np.testing.assert_allclose(
            lax.igammac(a, a), 0.5 - 1 / (3 * np.sqrt(2 * np.pi * a)), rtol=1e-9
        )
        np.testing.assert_allclose(lax.random_gamma_grad(a, a), 1 + 1 / (6 * a), rtol=1e-12)
        far = a - 1000 * np.sqrt(a)
        np.testing.assert_array_equal(lax.igamma(a[1:], far[1:]), np.zeros(4))


def test_incomplete_beta_of_huge_parameters_is_symmetric():
    with config.context(x64=True):
        a, b = np.array([1e4, 1e8, 1e12]), np.array([3e5, 1e8, 1e10])
        mean = a / (a + b)
        x = mean + 0.5 * np.sqrt(mean * (1 - mean) / (a + b))
        lower, upper = np.asarray(lax.betainc(a, b, x)), np.asarray(lax.betainc(b, a, 1 - x))
        # 1 - x is rounded; that moves the argument by this part of a standard deviation
        moved = np.finfo(np.float64).eps / np.sqrt(mean * (1 - mean) / (a + b))
        assert np.all(np.abs(lower + upper - 1) <= 1e-14 + moved)
        assert np.all(np.abs(lower - scipy.special.ndtr(0.5)) < 0.3 / np.sqrt(np.minimum(a, b)))


def test_small_parameters_keep_their_digits():
    with config.context(x64=True):
        a = np.array([1e-5, 1e-20, 1e-200])
        # gamma(a, x) / gamma(a) is a times the exponential integral
        np.testing.assert_allclose(
            lax.igammac(a[1:], 0.7), a[1:] * scipy.special.exp1(0.7), rtol=1e-14
        )
        np.testing.assert_allclose(
            lax.igamma_grad_a(a[1:], 0.7), -scipy.special.exp1(0.7), rtol=1e-13
        )
        # all mass at the two ends, in the proportion of the parameters
        np.testing.assert_allclose(lax.betainc(a[1:], 3 * a[1:], 0.4), 0.75, rtol=1e-13)


@pytest.mark.parametrize(
    "name", ["igamma", "igammac", "random_gamma_grad", "betainc", "zeta", "polygamma"]
)
def test_elements_do_not_depend_on_their_neighbours(name):
    """Loops go on for the slowest element, and leave the others as they are."""
    arguments = [x.astype(np.float32) for x in arguments_in(JAX, name)]
    f = sagax.jit(function(name))
    whole = np.asarray(f(*arguments))
    for part in (slice(None, None, 3), slice(2, 7)):
        alone = np.asarray(f(*[x[part] for x in arguments]))
        np.testing.assert_allclose(alone, whole[part], rtol=2e-7, equal_nan=True)


def test_empty_arrays():
    nothing = np.zeros((0, 3), np.float32)
    assert lax.igamma(nothing, nothing).shape == (0, 3)
    assert lax.betainc(nothing, nothing, nothing).shape == (0, 3)
    assert lax.zeta(nothing, nothing).shape == (0, 3)


# Derivatives -----------------------------------------------------------------------------------------------


def stencil(f, x, h):
    """The derivative of a smooth function, from five points."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


@pytest.mark.parametrize(
    ("a", "x"), [(0.4, 0.3), (0.4, 2.5), (3.0, 2.0), (12.0, 9.0), (40.0, 47.0)]
)
def test_second_derivatives_of_the_incomplete_gamma_function(a, x):
    first = sagax.grad(lax.igamma)
    with config.context(x64=True):
        in_a = lambda a: float(lax.igamma_grad_a(a, x))  # noqa: E731
        np.testing.assert_allclose(sagax.grad(first)(a, x), stencil(in_a, a, 1e-3 * a), rtol=1e-8)
        in_x = lambda x: float(lax.igamma_grad_a(a, x))  # noqa: E731
        np.testing.assert_allclose(
            sagax.grad(first, 1)(a, x), stencil(in_x, x, 1e-3 * x), rtol=1e-8
        )
        mixed = sagax.grad(sagax.grad(lax.igamma, 1), 0)(a, x)
        np.testing.assert_allclose(mixed, sagax.grad(first, 1)(a, x), rtol=1e-10)


@pytest.mark.parametrize(
    ("a", "x"), [(0.4, 0.3), (0.4, 2.5), (3.0, 2.0), (12.0, 9.0), (40.0, 47.0)]
)
def test_derivatives_of_gamma_samples(a, x):
    """The sample moves so that the distribution function stays; that once more."""
    with config.context(x64=True):
        f = lambda a, x: float(lax.random_gamma_grad(a, x))  # noqa: E731
        for i, at in ((0, a), (1, x)):
            move = lambda y, i=i: f(y, x) if i == 0 else f(a, y)  # noqa: E731
            have = sagax.grad(lax.random_gamma_grad, i)(a, x)
            np.testing.assert_allclose(have, stencil(move, at, 1e-3 * at), rtol=1e-7)
        assert abs(lax.igamma(a + 1e-4, x + 1e-4 * f(a, x)) - lax.igamma(a, x)) < 1e-8


def test_second_derivative_of_the_incomplete_beta_function():
    with config.context(x64=True):
        a, b, x = 2.5, 4.0, 0.3
        density = lambda x: scipy.special.betainc(a, b, x)  # noqa: E731
        np.testing.assert_allclose(
            sagax.grad(lax.betainc, 2)(a, b, x), stencil(density, x, 1e-3), rtol=1e-9
        )
        slope = sagax.grad(sagax.grad(lax.betainc, 2), 2)(a, b, x)
        first = float(sagax.grad(lax.betainc, 2)(a, b, x))
        np.testing.assert_allclose(slope, first * ((a - 1) / x - (b - 1) / (1 - x)), rtol=1e-12)
        # the density, in all its arguments
        for i in range(3):
            at = [a, b, x]

            def move(y, i=i, at=at):
                return float(beta_density(*[*at[:i], y, *at[i + 1 :]]))

            have = sagax.grad(beta_density, i)(a, b, x)
            np.testing.assert_allclose(have, stencil(move, at[i], 1e-3), rtol=1e-8)


def test_derivatives_of_lgamma_are_polygammas():
    x = np.float32([0.3, 2.5, 7.0, -1.3])
    f = lax.lgamma
    for order in (1, 2):
        f = sagax.grad(f)
        if order == 2:
            want = scipy.special.zeta(2, x[:3].astype(np.float64))
            np.testing.assert_allclose(sagax.vmap(f)(x[:3]), want, rtol=1e-6)
    np.testing.assert_allclose(
        sagax.grad(f)(np.float32(2.5)), -2 * scipy.special.zeta(3, 2.5), rtol=1e-5
    )


def test_zeta_is_differentiable_in_its_second_argument():
    have = sagax.grad(lax.zeta, 1)(3.0, 0.7)
    np.testing.assert_allclose(have, -3 * scipy.special.zeta(4, 0.7), rtol=1e-6)


def test_slope_of_erf_keeps_its_digits_far_out():
    x = np.float32([0.5, 3.0, 7.0, 9.0])
    slope = sagax.vmap(sagax.grad(lax.erf))(x)
    want = 2 / np.sqrt(np.pi) * np.exp(-(x.astype(np.float64) ** 2))
    np.testing.assert_allclose(slope, want, rtol=5e-7)


@pytest.mark.parametrize(
    ("f", "argument", "at"),
    [
        (lax.polygamma, 0, (1.0, 2.0)),
        (lax.zeta, 0, (2.0, 1.0)),
        (lax.betainc, 0, (1.0, 2.0, 0.5)),
        (lax.betainc, 1, (1.0, 2.0, 0.5)),
    ],
)
def test_missing_derivatives_are_refused(f, argument, at):
    with pytest.raises(errors.ArgumentValueError, match="there is no derivative with respect to"):
        sagax.grad(f, argument)(*at)


def test_third_derivatives_of_gamma_samples_are_refused_by_name():
    with pytest.raises(MissingRuleError, match="random_gamma_curvature"):
        sagax.grad(sagax.grad(lax.random_gamma_grad))(1.0, 2.0)


# Dtypes and shapes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", [*UNARY, *GAMMA, "polygamma", "zeta", "betainc"])
def test_narrow_floats_are_rounded_once(name, dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    count = {"polygamma": 2, "zeta": 2, "betainc": 3}.get(name, 1 if name in UNARY else 2)
    unit = name in ("erf_inv", "betainc")
    arguments = [np.linspace(1 + i, 3, 5).astype(dtype) for i in range(count)]
    if unit:
        arguments[-1] = np.linspace(0.1, 0.9, 5).astype(dtype)
    if name == "polygamma":
        arguments[0] = np.float32([1, 1, 2, 2, 3]).astype(dtype)
    have = np.asarray(function(name)(*arguments))
    wide = np.asarray(function(name)(*[x.astype(np.float32) for x in arguments]))
    assert have.dtype == dtype
    eps = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(
        have.astype(np.float64), wide, rtol=0.502 * eps, atol=float(ml_dtypes.finfo(dtype).tiny)
    )


@pytest.mark.parametrize("name", [*UNARY, *GAMMA, "polygamma", "zeta", "betainc"])
def test_other_dtypes_are_refused(name):
    count = 1 if name in UNARY else 3 if name == "betainc" else 2
    for x in (np.complex64(1), np.int32(1), np.bool_(True)):
        with pytest.raises(errors.DtypeError, match="floating point"):
            function(name)(*[x] * count)


def test_dtypes_must_agree():
    with pytest.raises(errors.DtypeError, match="igamma"):
        lax.igamma(np.float32(1), np.float16(1))
    assert lax.igamma(2.0, np.float16(1)).dtype == np.float16


def test_random_gamma_grad_takes_two_arguments():
    with pytest.raises(errors.ArgumentError, match="random_gamma_grad"):
        lax.random_gamma_grad(np.float32(1))


@pytest.mark.parametrize("accuracy", [None, lax.AccuracyMode.HIGHEST])
def test_erfc_accepts_an_accuracy(accuracy):
    np.testing.assert_allclose(lax.erfc(np.float32(1), accuracy=accuracy), math.erfc(1), rtol=1e-6)


@pytest.mark.parametrize("p", everything(), ids=lambda p: p.name)
def test_programs_with_symbolic_sizes_are_valid(p):
    (n,) = dims.symbolic_shape("n")
    operands = len(p.samples[0].operands)
    jaxpr, _ = stage(lambda *xs: [p.bind(*xs)], [ShapedArray((n, 3), np.float32)] * operands)
    text, _ = lower_jaxpr(jaxpr, platform="cpu", name="f")
    verify(text)


# Quadrature ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 14, 28])
def test_gauss_nodes_integrate_polynomials_exactly(count):
    nodes, weights = gauss(count)
    for power in (0, 1, count, 2 * count - 1):
        total = math.fsum(w * x**power for x, w in zip(nodes, weights, strict=True))
        assert math.isclose(total, 1 / (power + 1), rel_tol=1e-15 + power * 1e-16)
