"""Reductions, running sums, and what is computed from sorted values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numpy_rest_cases as rest
import sagax
import sagax.numpy as snp
from sagax._src import config, trees
from sagax._src.core.value import Array

# few shapes, since each is compiled
SHAPES = st.sampled_from([(1,), (5,), (2, 3), (3, 1, 4)])


@pytest.mark.parametrize("section", ["reductions", "statistics", "sorting", "transformed"])
def test_as_recorded(section, oracle_data):
    lines = rest.sections()[section]
    recorded = oracle_data("numpy_rest")["values"]
    wrong = rest.differences(sagax, Array, trees.leaves, lines, recorded)
    assert not wrong, "\n".join(wrong)


@pytest.mark.own_promotion("dtype")
def test_as_recorded_with_64_bit_types(oracle_data):
    recorded = oracle_data("numpy_rest_x64")
    with config.context(x64=True):
        wrong = rest.differences(sagax, Array, trees.leaves, rest.calls_with_x64(), recorded)
    assert not wrong, "\n".join(wrong)


def equations(jaxpr) -> int:
    """How many operations there are, those of nested programs included; a `copy` compiles to nothing."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = eqn.params.get("jaxpr")
        total += equations(inner.jaxpr) if inner is not None else eqn.primitive.name != "copy"
    return total


def test_programs_are_no_longer_than_those_of_jax(oracle_data):
    recorded = oracle_data("numpy_rest")["equations"]
    scope = rest.names(sagax)
    longer = []
    skipped = rest.refused(sagax)
    for line in rest.sections()["small"]:
        if line in skipped:
            continue
        fun, args = rest.traced(line, scope)
        found = equations(sagax.make_jaxpr(fun)(*args).jaxpr)
        if found > recorded[line]:
            longer.append(f"{line}: {found} operations, jax {recorded[line]}")
    assert not longer, "\n".join(longer)


def test_flat_programs():
    """A function made of several operations leaves no nested program behind."""
    x = np.ones((3, 4), np.float32)
    assert str(sagax.make_jaxpr(snp.mean)(x)) == (
        "{ lambda ; a:f32[3,4]. let\n"
        "    b:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] a\n"
        "    c:f32[] = div b 12.0:f32[]\n"
        "  in (c,) }"
    )
    assert str(sagax.make_jaxpr(lambda x: snp.var(x, axis=1, ddof=1))(x)) == (
        "{ lambda ; a:f32[3,4]. let\n"
        "    b:f32[3] = reduce_sum[axes=(1,) out_sharding=None] a\n"
        "    c:f32[3] = div b 4.0:f32[]\n"
        "    d:f32[3,1] = broadcast_in_dim[broadcast_dimensions=(0,)] c\n"
        "    e:f32[3,4] = sub a d\n"
        "    f:f32[3,4] = square e\n"
        "    g:f32[3] = reduce_sum[axes=(1,) out_sharding=None] f\n"
        "    h:f32[3] = div g 3.0:f32[]\n"
        "  in (h,) }"
    )


# against NumPy ------------------------------------------------------------------------------------

REDUCTIONS = "sum prod max min mean var std any all ptp count_nonzero median".split()
NAN_REDUCTIONS = "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian".split()


def some_axes(data, ndim):
    return data.draw(
        st.none()
        | st.integers(-ndim, ndim - 1)
        | st.permutations(range(ndim)).map(lambda p: tuple(p[:2]))
    )


def floats(shape, nan=0.0):
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape).astype(np.float32)
    x[rng.random(shape) < nan] = np.nan
    return x


def close(found, expected, tolerance=3e-6):
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=10)
@given(shape=SHAPES, keepdims=st.booleans(), data=st.data())
def test_against_numpy(name, shape, keepdims, data):
    x = floats(shape)
    axis = some_axes(data, x.ndim)
    expected = getattr(np, name)(x.astype(np.float64), axis=axis, keepdims=keepdims)
    close(getattr(snp, name)(x, axis=axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("name", NAN_REDUCTIONS)
@settings(max_examples=10)
@given(shape=SHAPES, keepdims=st.booleans(), data=st.data())
def test_without_nan(name, shape, keepdims, data):
    x = floats(shape, nan=0.3)
    axis = some_axes(data, x.ndim)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, where nothing is left
        expected = getattr(np, name)(x.astype(np.float64), axis=axis, keepdims=keepdims)
    close(getattr(snp, name)(x, axis=axis, keepdims=keepdims), expected)


@settings(max_examples=15)
@given(shape=SHAPES, data=st.data())
def test_where_and_initial(shape, data):
    x = floats(shape)
    axis = some_axes(data, x.ndim)
    mask = np.random.default_rng(1).random(shape[-1:]) < 0.6
    wide = x.astype(np.float64)
    for name in ("sum", "prod", "max", "min"):
        expected = getattr(np, name)(wide, axis=axis, where=mask, initial=0.5)
        close(getattr(snp, name)(x, axis=axis, where=mask, initial=0.5), expected)
    for name in ("any", "all"):
        close(
            getattr(snp, name)(x > 0, axis=axis, where=mask),
            getattr(np, name)(x > 0, axis=axis, where=mask),
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("mean", "var", "std"):
            close(
                getattr(snp, name)(x, axis=axis, where=mask),
                getattr(np, name)(wide, axis=axis, where=mask),
            )


@settings(max_examples=15)
@given(shape=SHAPES, data=st.data())
def test_along_one_axis(shape, data):
    x = np.random.default_rng(0).integers(-3, 4, shape).astype(np.int32)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    for name in ("argmax", "argmin", "cumsum", "cumprod", "sort"):
        close(getattr(snp, name)(x, axis=axis), getattr(np, name)(x, axis=axis))
    close(snp.argsort(x, axis), np.argsort(x, axis, stable=True))
    downwards = np.flip(np.argsort(np.flip(x, axis), axis, stable=True), axis)
    close(snp.argsort(x, axis, descending=True), shape[axis] - 1 - downwards)
    close(snp.diff(x, axis=axis), np.diff(x, axis=axis))
    kth = data.draw(st.integers(0, shape[axis] - 1))
    parted = np.asarray(snp.partition(x, kth, axis))
    np.testing.assert_array_equal(np.take(parted, kth, axis), np.take(np.sort(x, axis), kth, axis))
    placed = np.take_along_axis(x, np.asarray(snp.argpartition(x, kth, axis)), axis)
    np.testing.assert_array_equal(np.sort(placed, axis), np.sort(x, axis))
    np.testing.assert_array_equal(np.take(placed, kth, axis), np.take(np.sort(x, axis), kth, axis))


METHODS = (
    "linear lower higher midpoint inverted_cdf averaged_inverted_cdf closest_observation"
    " interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased"
).split()


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8)
@given(shape=SHAPES, keepdims=st.booleans(), data=st.data())
def test_quantile(method, shape, keepdims, data):
    # eighths are exact, so that both libraries see the same ties
    q = np.array(data.draw(st.lists(st.integers(0, 8), max_size=3)), np.float32) / 8
    x = floats(shape)
    axis = some_axes(data, x.ndim)
    expected = np.quantile(x.astype(np.float64), q, axis=axis, method=method, keepdims=keepdims)
    close(snp.quantile(x, q, axis=axis, method=method, keepdims=keepdims), expected)
    close(snp.percentile(x, 100 * q, axis=axis, method=method, keepdims=keepdims), expected)
    close(snp.nanquantile(x, q, axis=axis, method=method, keepdims=keepdims), expected)
    if len(q):
        known = snp.quantile(x, float(q[0]), axis=axis, method=method, keepdims=keepdims)
        close(known, expected[0])


@settings(max_examples=10)
@given(size=st.sampled_from([1, 2, 7]), data=st.data())
def test_weighted_quantile(size, data):
    x = floats((size,))
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    q = np.array([0, 0.125, 0.5, 1], np.float32)
    if not weights.any():
        return
    expected = np.quantile(x, q, weights=weights, method="inverted_cdf")
    close(snp.quantile(x, q, weights=weights, method="inverted_cdf"), expected)


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("sizes", [(0, 3), (1, 3), (7, 5), (1000, 300)])
def test_searchsorted(dtype, side, sizes):
    rng = np.random.default_rng(0)
    a, v = (rng.integers(-20, 20, n).astype(dtype) for n in sizes)
    if dtype == "complex64":
        a, v = a + 1j * np.roll(a, 1), v + 1j * np.roll(v, 2)
    if dtype == "float32" and len(a) > 3:
        a[:2], v[:1] = np.nan, np.nan
    a = np.sort(a)
    expected = np.searchsorted(a, v, side)
    for method in ("scan", "compare_all"):
        close(snp.searchsorted(a, v, side, method=method), expected)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[0, 1, 2.5], [2.5, 1, 0], [1, 1, 2], [1]])
def test_digitize(bins, right):
    x = np.array([-1, 0, 0.5, 1, 2.5, 3], np.float32)
    close(snp.digitize(x, np.array(bins, np.float32), right), np.digitize(x, bins, right))


@settings(max_examples=10)
@given(shape=st.sampled_from([(1, 4), (3, 5)]), ddof=st.integers(0, 1), data=st.data())
def test_covariance(shape, ddof, data):
    x = floats(shape)
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=shape[1], max_size=shape[1])))
    importance = np.linspace(0.5, 2, shape[1]).astype(np.float32)
    for options in (
        {},
        {"fweights": times},
        {"aweights": importance},
        {"fweights": times, "aweights": importance},
    ):
        expected = np.cov(x.astype(np.float64), ddof=ddof, **options)
        close(snp.cov(x, ddof=ddof, **options), expected, 1e-5)
    close(snp.cov(x.T, rowvar=False), np.cov(x.T, rowvar=False), 1e-5)
    close(snp.corrcoef(x), np.corrcoef(x), 1e-5)


@settings(max_examples=10)
@given(size=st.sampled_from([2, 3, 7]), data=st.data())
def test_differences_and_integrals(size, data):
    y = floats((size, 3))
    x = np.cumsum(
        np.array(data.draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)))
    ).astype(np.float32)
    close(snp.gradient(y, x, axis=0), np.gradient(y, x, axis=0), 1e-5)
    for found, expected in zip(snp.gradient(y, 2, 0.5), np.gradient(y, 2, 0.5)):
        close(found, expected, 1e-5)
    close(snp.trapezoid(y, x, axis=0), np.trapezoid(y, x, axis=0), 1e-5)
    close(snp.trapezoid(y, dx=0.5, axis=0), np.trapezoid(y, dx=0.5, axis=0), 1e-5)
    n = data.draw(st.sampled_from([0, 1, 2, size]))
    close(snp.diff(y, n, axis=0, prepend=1.0), np.diff(y, n, axis=0, prepend=1.0), 1e-4)
    close(snp.unwrap(4 * y, axis=0), np.unwrap(4 * y, axis=0), 1e-5)
    close(
        snp.unwrap(np.rint(8 * y).astype(np.int32), period=5),
        np.unwrap(np.rint(8 * y).astype(np.int32), period=5),
    )
    at = np.linspace(x[0] - 1, x[-1] + 1, 7).astype(np.float32)
    close(snp.interp(at, x, y[:, 0], left=-9), np.interp(at, x, y[:, 0], left=-9), 1e-5)
    close(snp.interp(at, x, y[:, 0], period=40), np.interp(at, x, y[:, 0], period=40), 1e-4)
    # traced positions between points that are NumPy arrays
    traced = sagax.jit(lambda at: snp.interp(at, x, y[:, 0]))(at)
    close(traced, np.interp(at, x, y[:, 0]), 1e-4)


@settings(max_examples=10)
@given(size=st.sampled_from([1, 6, 20]), bins=st.sampled_from([1, 4]), density=st.booleans())
def test_histograms(size, bins, density):
    x = np.random.default_rng(size).integers(0, 9, (size, 2)).astype(np.float32)
    weights = np.arange(1, size + 1, dtype=np.float32)
    counts, edges = snp.histogram(x[:, 0], bins, (0, 8), weights, density)
    expected, expected_edges = np.histogram(x[:, 0], bins, (0, 8), density, weights)
    close(counts, expected, 1e-5)
    close(edges, expected_edges)
    counts, *edges = snp.histogram2d(x[:, 0], x[:, 1], [bins, [0.0, 2.0, 8.0]], density=density)
    expected, *expected_edges = np.histogram2d(
        x[:, 0], x[:, 1], [bins, [0.0, 2.0, 8.0]], density=density
    )
    close(counts, np.nan_to_num(expected) if density else expected, 1e-5)
    for a, b in zip(edges, expected_edges):
        close(a, b)
    close(snp.bincount(x[:, 0].astype(int), weights), np.bincount(x[:, 0].astype(int), weights))


# accuracy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_narrow_floats_are_added_in_float32(dtype):
    x = snp.full((4096,), 0.1, dtype)
    exact = float(np.asarray(x[0], np.float64)) * 4096
    assert abs(float(snp.sum(x)) - exact) < exact / 100
    assert abs(float(snp.mean(x)) - exact / 4096) < exact / 4096 / 100
    assert float(snp.var(x)) < 1e-6
    assert snp.sum(x).dtype == snp.mean(x).dtype == snp.std(x).dtype == dtype


def test_variance_far_from_zero():
    x = np.float32(10_000) + np.arange(5, dtype=np.float32)
    assert float(snp.var(x)) == 2.0
    assert float(snp.cov(x)) == 2.5


def test_masked_nan_has_no_derivative():
    x = np.array([1, np.nan, 4], np.float32)
    mask = ~np.isnan(x)
    for fun in (
        lambda x: snp.sum(x, where=mask),
        lambda x: snp.prod(x, where=mask),
        lambda x: snp.mean(x, where=mask),
        lambda x: snp.var(x, where=mask),
        snp.nanstd,
        snp.nanmean,
    ):
        gradient = np.asarray(sagax.grad(fun)(x))
        assert np.isfinite(gradient).all() and gradient[1] == 0


def test_large_arrays_sort_and_search_alike():
    x = np.random.default_rng(0).permutation(5000).astype(np.int32)
    ordered = np.asarray(snp.sort(x))
    np.testing.assert_array_equal(ordered, np.arange(5000))
    np.testing.assert_array_equal(np.asarray(snp.searchsorted(ordered, x)), x)
    np.testing.assert_array_equal(
        np.asarray(snp.isin(x, x[:2000] + 5000 - 1000)), np.isin(x, x[:2000] + 4000)
    )


@pytest.mark.parametrize("x64", [False, True])
def test_dtypes_with_and_without_64_bits(x64):
    with sagax.enable_x64(x64):
        integer = "int64" if x64 else "int32"
        x = snp.asarray(np.ones(3, np.int8))
        assert snp.sum(x).dtype == snp.cumulative_sum(x).dtype == integer
        assert snp.argmax(x).dtype == snp.count_nonzero(x).dtype == snp.argsort(x).dtype == integer
        assert snp.mean(x).dtype == "float32"
        assert (
            snp.nonzero(x, size=2)[0].dtype == snp.unique(x, return_counts=True)[1].dtype == integer
        )
        assert snp.bartlett(3).dtype == ("float64" if x64 else "float32")


def test_no_quantiles_are_an_array_of_none():
    none = snp.zeros(0)
    assert snp.percentile(none, none).shape == snp.quantile(snp.ones(3), none).shape == (0,)
    assert snp.quantile(snp.ones((0, 3)), none, axis=0).shape == (0, 3)
    assert snp.quantile(snp.ones((2, 3)), none, axis=0, keepdims=True).shape == (0, 1, 3)
    with pytest.raises(ValueError, match="must be non-empty"):
        snp.percentile(none, 3)


def test_covariances_are_not_computed_in_integers():
    for f in (snp.cov, snp.corrcoef):
        with pytest.raises(ValueError, match="must be a subclass of float or complex"):
            f(snp.eye(3), dtype="int32")


def test_a_row_without_rowvar_has_a_variable_for_each_column():
    row = np.array([[0.1, 0.2, 0.3]], np.float32)
    assert snp.cov(row, rowvar=False).shape == (3, 3) == snp.corrcoef(row, rowvar=False).shape
    assert np.isnan(snp.cov(row, rowvar=False)).all()


@pytest.mark.parametrize("q", [np.nan, np.inf, -np.inf])
def test_quantiles_that_are_no_numbers_are_nan(q):
    x = snp.arange(4.0)
    for f in (snp.quantile, snp.nanquantile, snp.percentile):
        assert np.isnan(f(x, q)), f
        assert np.isnan(sagax.jit(f)(x, q)), f
