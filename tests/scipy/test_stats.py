"""`sagax.scipy.stats` beside SciPy."""

from __future__ import annotations

import importlib
import inspect
import zlib

import numpy as np
import pytest
import scipy.stats

import sagax
import sagax.numpy as snp
from sagax.scipy import stats

# of each distribution: where x is drawn from (an interval, or integers), then its parameters
CASES = {
    "bernoulli": ([-1, 3], [(0.05, 0.95)]),
    "beta": ((-0.2, 1.2), [(0.5, 4), (0.5, 4)]),
    "betabinom": ([-2, 14], [[1, 12], (0.5, 4), (0.5, 4)]),
    "binom": ([-2, 14], [[1, 12], (0.05, 0.95)]),
    "cauchy": ((-30, 30), []),
    "chi2": ((-1, 12), [(0.5, 8)]),
    "expon": ((-1, 9), []),
    "gamma": ((-1, 12), [(0.5, 8)]),
    "gennorm": ((-4, 4), [(0.5, 4)]),
    "geom": ([-1, 14], [(0.05, 0.95)]),
    "gumbel_l": ((-7, 3), []),
    "gumbel_r": ((-3, 7), []),
    "laplace": ((-8, 8), []),
    "logistic": ((-20, 20), []),
    "nbinom": ([-2, 14], [[1, 12], (0.05, 0.95)]),
    "norm": ((-6, 6), []),
    "pareto": ((0.2, 12), [(0.5, 5)]),
    "poisson": ([-2, 14], [(0.3, 9)]),
    "t": ((-12, 12), [(0.5, 9)]),
    "truncnorm": ((-3, 3), [(-3, -0.5), (0.5, 3)]),
    "uniform": ((-0.5, 1.5), []),
    "vonmises": ((-3, 3), [(0.1, 20)]),
    "wrapcauchy": ((0.1, 6), [(0.05, 0.95)]),
}
WITHOUT_SCALE = {"vonmises", "wrapcauchy"}
FUNCTIONS = [
    (name, function)
    for name in CASES
    for function in importlib.import_module(f"sagax.scipy.stats.{name}").__all__
]


def drawn(rng, where, n=200):
    if isinstance(where, list):
        return rng.integers(where[0], where[1], n).astype(float)
    return rng.uniform(where[0], where[1], n)


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_as_scipy(name, function):
    rng = np.random.default_rng(zlib.crc32(f"{name}.{function}".encode()))
    where, parameters = CASES[name]
    x = rng.uniform(0.001, 0.999, 200) if function in ("ppf", "isf") else drawn(rng, where)
    args = [x, *[drawn(rng, p) for p in parameters]]
    ours = getattr(getattr(stats, name), function)
    theirs = getattr(getattr(scipy.stats, name), function)
    several = [args]
    if not isinstance(where, list) and name not in WITHOUT_SCALE:
        moved = x if function in ("ppf", "isf") else 1.5 * x - 0.5
        several.append([moved, *args[1:], np.float64(-0.5), np.float64(1.5)])
    for given in several:
        expected = theirs(*given)
        with sagax.enable_x64(True):
            found = np.asarray(ours(*given))
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=2e-8, atol=1e-13)
        single = np.asarray(ours(*[np.float32(a) for a in given]))
        assert single.dtype == np.float32
        again = theirs(*[np.float32(a).astype(float) for a in given])
        scale = 1e-4 * np.maximum(1, np.abs(np.where(np.isfinite(again), again, 0)))
        near = np.isclose(single, again, rtol=1e-4, atol=scale, equal_nan=True)
        assert near.mean() > 0.985, (
            single[~near],
            again[~near],
        )  # next to an edge either may be right


def test_dirichlet():
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0.5, 4, 3)
    x = rng.dirichlet(alpha, 20).T
    expected = scipy.stats.dirichlet.logpdf(x, alpha)
    np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), expected, rtol=1e-4)
    np.testing.assert_allclose(stats.dirichlet.logpdf(x[:-1], alpha), expected, rtol=1e-4)
    np.testing.assert_allclose(stats.dirichlet.pdf(x, alpha), np.exp(expected), rtol=1e-3)
    assert stats.dirichlet.pdf(np.array([0.5, 0.9, -0.4]), alpha) == 0


def test_multinomial():
    p = np.array([0.2, 0.3, 0.5])
    x = np.array([[1, 2, 3], [0, 6, 0], [3, 3, 3]])
    expected = scipy.stats.multinomial.logpmf(x, 6, p)
    np.testing.assert_allclose(stats.multinomial.logpmf(x, 6, p), expected, rtol=1e-5)
    np.testing.assert_allclose(stats.multinomial.pmf(x, 6, p), np.exp(expected), rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (3,), (5, 3), (2, 5, 3)])
def test_multivariate_normal(shape):
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape)
    if not shape:
        found = stats.multivariate_normal.logpdf(x, 0.5, 2.0)
        np.testing.assert_allclose(found, scipy.stats.norm.logpdf(x, 0.5, 2**0.5), rtol=1e-5)
        return
    mean, root = rng.normal(size=3), rng.normal(size=(3, 3))
    cov = root @ root.T + np.eye(3)
    expected = scipy.stats.multivariate_normal.logpdf(x, mean, cov)
    np.testing.assert_allclose(stats.multivariate_normal.logpdf(x, mean, cov), expected, rtol=1e-5)
    found = stats.multivariate_normal.pdf(x, mean, cov)
    np.testing.assert_allclose(found, np.exp(expected), rtol=1e-4)


@pytest.mark.parametrize("function", ["cdf", "logpdf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", ["norm", "gumbel_r", "logistic", "truncnorm", "expon", "gamma"])
def test_derivatives(name, function):
    f = getattr(getattr(stats, name), function, None)
    if f is None:
        assert name == "logistic"
        return
    more = {"truncnorm": (-1.0, 2.0), "gamma": (2.5,)}.get(name, ())
    with sagax.enable_x64(True):
        x, h = np.float64(0.7), 1e-6
        found = sagax.grad(lambda v: f(v, *more))(x)
        expected = (f(x + h, *more) - f(x - h, *more)) / (2 * h)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_mode_and_sem(axis, keepdims):
    x = np.random.default_rng(2).integers(0, 4, (6, 5))
    expected = scipy.stats.mode(x, axis, keepdims=keepdims)
    found = stats.mode(snp.asarray(x), axis, keepdims=keepdims)
    np.testing.assert_array_equal(found.mode, expected.mode)
    np.testing.assert_array_equal(found.count, expected.count)
    error = scipy.stats.sem(x, axis)
    np.testing.assert_allclose(np.squeeze(stats.sem(x, axis, keepdims=keepdims)), error, rtol=1e-5)
    gaps = np.where(np.arange(x.size).reshape(x.shape) % 3 == 1, np.nan, x)
    error = scipy.stats.sem(gaps, axis, nan_policy="omit")
    found = stats.sem(gaps, axis, nan_policy="omit", keepdims=keepdims)
    np.testing.assert_allclose(np.squeeze(found), error, rtol=1e-5)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_sem_keeps_the_dtype_of_floats(dtype, policy, x64):
    with sagax.enable_x64(x64):
        assert stats.sem(snp.arange(4.0).astype(dtype), nan_policy=policy).dtype == dtype


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_ranks(method, axis):
    x = np.random.default_rng(3).integers(0, 5, (4, 6))
    found = stats.rankdata(x, method, axis=axis)
    np.testing.assert_allclose(found, scipy.stats.rankdata(x, method, axis=axis))


@pytest.mark.parametrize("method", [None, "silverman", 0.4])
@pytest.mark.parametrize("d", [1, 2])
def test_density_from_samples(d, method):
    rng = np.random.default_rng(4)
    data, weights = rng.normal(size=(d, 30)), rng.uniform(0.5, 2, 30)
    theirs = scipy.stats.gaussian_kde(data, method, weights)
    ours = stats.gaussian_kde(data, method, weights)
    points = rng.normal(size=(d, 7))
    np.testing.assert_allclose(ours(points), theirs(points), rtol=1e-4)
    np.testing.assert_allclose(ours.logpdf(points), theirs.logpdf(points), rtol=1e-4)
    np.testing.assert_allclose(
        sagax.jit(lambda k, p: k.pdf(p))(ours, points), theirs(points), rtol=1e-4
    )
    other = rng.normal(size=(d, 20))
    expected = theirs.integrate_kde(scipy.stats.gaussian_kde(other))
    np.testing.assert_allclose(ours.integrate_kde(stats.gaussian_kde(other)), expected, rtol=1e-4)
    mean, cov = np.full(d, 0.3), np.eye(d) * 0.7
    expected = theirs.integrate_gaussian(mean, cov)
    np.testing.assert_allclose(ours.integrate_gaussian(mean, cov), expected, rtol=1e-4)
    if d == 1:
        expected = theirs.integrate_box_1d(-0.5, 1.0)
        np.testing.assert_allclose(ours.integrate_box_1d(-0.5, 1.0), expected, rtol=1e-4)
    samples = ours.resample(sagax.random.key(0), (4000,))
    assert samples.shape == (d, 4000)
    spread = np.cov(np.asarray(samples))
    np.testing.assert_allclose(
        spread, np.cov(data, aweights=weights) + theirs.covariance.squeeze(), atol=0.2
    )


def test_refusals():
    with pytest.raises(NotImplementedError, match="nan_policy"):
        stats.mode(np.ones(3), nan_policy="omit")
    with pytest.raises(ValueError, match="method"):
        stats.rankdata(np.ones(3), "best")
    with pytest.raises(ValueError, match="dimension 3"):
        stats.gaussian_kde(np.ones((2, 5)) + np.eye(2, 5))(np.ones((3, 2)))
    with pytest.raises(AttributeError, match="no attribute 'weibull'"):
        _ = stats.weibull


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_nan_stands_where_scipy_has_it(name, function):
    formula = getattr(getattr(stats, name), function)
    parameters = list(inspect.signature(formula).parameters)
    values = [-1.0, 0.0, 0.3, 1.0, 2.0, np.nan]
    grid = np.stack([g.ravel() for g in np.meshgrid(*[values] * len(parameters), indexing="ij")])
    grid = grid[:, :: max(1, grid.shape[1] // 700) | 1]  # an odd step meets all values
    with np.errstate(all="ignore"):
        expected = np.isnan(getattr(getattr(scipy.stats, name), function)(*grid))
    found = np.isnan(np.asarray(formula(*grid.astype(np.float32))))
    assert 0 < expected.sum() < expected.size
    wrong = np.nonzero(found != expected)[0]
    assert not wrong.size, [dict(zip(parameters, grid[:, i], strict=True)) for i in wrong[:3]]


def test_quantiles_of_the_cauchy_distribution_at_the_ends_are_infinite():
    np.testing.assert_array_equal(stats.cauchy.ppf(np.float32([0, 1])), [-np.inf, np.inf])
    np.testing.assert_array_equal(stats.cauchy.isf(np.float32([0, 1])), [np.inf, -np.inf])


def test_logarithms_of_probabilities_have_derivatives_where_there_are_none():
    x = snp.array([-50.0, 0.0, 0.5])
    for f, arguments in [
        (stats.beta.logcdf, (2.0, 3.0)), (stats.gamma.logcdf, (2.0,)), (stats.chi2.logcdf, (3.0,)),
        (stats.pareto.logcdf, (2.0,)), (stats.expon.sf, ()), (stats.expon.logcdf, ()),
    ]:  # fmt: skip
        for i in range(1 if f in (stats.beta.logcdf, stats.gamma.logcdf) else 1 + len(arguments)):
            g = sagax.vmap(sagax.grad(f, i), (0, *[None] * len(arguments)))(x, *arguments)
            assert np.isfinite(g).all(), (f, i)
            assert g[0] == 0, (f, i)
    # log(1 - exp(-exp(x))) is x - exp(x) / 2 + ...
    assert sagax.grad(stats.gumbel_l.logcdf)(-50.0) == pytest.approx(1.0)


@pytest.mark.own_promotion("dtype")
def test_weak_types_of_results():
    weak = lambda x: (x.weak_type, x.shape)  # noqa: E731
    row = snp.array([1, 2])
    assert weak(stats.norm.logpdf(0.5)) == (True, ())
    assert weak(stats.norm.cdf(0.5)) == weak(stats.norm.ppf(0.5)) == (False, ())
    assert weak(stats.truncnorm.pdf(0.5, 0.0, 1.0)) == (False, ())
    assert weak(stats.t.logpdf(row, 3, loc=0.5)) == (False, (2,))
    assert weak(stats.expon.logpdf(row, 0.5)) == (True, (2,))
    assert weak(stats.bernoulli.ppf(row / 3, 0.5)) == (False, (2,))


def test_ranks_are_floats_and_a_number_has_a_mode():
    for method in ("average", "min", "max", "dense", "ordinal"):
        assert stats.rankdata(snp.array([2, 1, 2]), method).dtype == np.float32
    assert stats.mode(0.5).mode == 0.5
    assert stats.mode(0.5).count == 1


@pytest.mark.parametrize("function", ["cdf", "sf", "logsf"])
@pytest.mark.parametrize(
    "name, shapes", [("gamma", (0.3,)), ("chi2", (0.6,)), ("beta", (0.3, 0.4))]
)
def test_derivatives_are_zero_where_there_is_no_mass(name, shapes, function):
    """The density is infinite at the bounds; beyond them nothing changes."""
    f = getattr(getattr(stats, name), function)
    by = 0 if name == "beta" else (0, 1)  # betainc has no derivative in its parameters
    for x in [-1.0, 2.0] if name == "beta" and function != "logsf" else [-1.0]:
        assert not np.any(sagax.grad(f, by)(x, *shapes))
    inner = sagax.grad(f)(0.5, *shapes)
    step = 1e-4
    difference = getattr(getattr(scipy.stats, name), function)
    expected = (difference(0.5 + step, *shapes) - difference(0.5 - step, *shapes)) / (2 * step)
    np.testing.assert_allclose(inner, expected, rtol=1e-4)


def test_a_keyword_after_one_that_is_left_out_counts():
    """`scale` without `loc`: a call by position must not lose it."""
    x = snp.array([0.5, 1.5])
    for call in (stats.norm.logpdf, sagax.jit(stats.norm.logpdf)):
        np.testing.assert_allclose(call(x, scale=2.0), call(x, 0.0, 2.0), rtol=1e-6)
        np.testing.assert_allclose(call(x, scale=2.0), [-1.643335713, -1.893335713], rtol=1e-6)
