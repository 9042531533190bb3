"""Functions that have other formulas for large arrays, or for what is known of their arguments."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
@pytest.mark.parametrize("greatest", [3, 40, None])
@pytest.mark.parametrize("shape", [(0,), (5,), (40_000,)], ids=str)
def test_integer_powers(dtype, greatest, shape):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    x = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    y = rng.integers(0, info.max if greatest is None else greatest, shape, dtype, endpoint=True)
    expected = np.power(x, y)
    for f in (snp.power, sagax.jit(snp.power), sagax.jit(sagax.vmap(snp.power))):
        found = f(x, y)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [0, 1, 2, 33, 200])
def test_vander_of_integers_wraps(count):
    x = np.array([-3, 0, 1, 2, 7], np.int32)
    expected = x[:, None] ** np.arange(count, dtype=np.int32)
    np.testing.assert_array_equal(snp.vander(x, count, increasing=True), expected)
    np.testing.assert_array_equal(sagax.jit(lambda x: snp.vander(x, count))(x), expected[:, ::-1])


def test_extrema_of_integers_in_one_pass():
    x = np.random.default_rng(0).integers(-1000, 1000, (300, 200)).astype(np.int32)
    low, high = sagax.jit(snp.minmax)(x)
    assert (int(low), int(high)) == (x.min(), x.max())
    assert low.dtype == high.dtype == np.int32
    (low,) = sagax.jit(snp.minmax)(x.astype(np.uint32))[:1]
    assert int(low) == x.astype(np.uint32).min()


POSITIONS = [3, -1, 7, [3], [0, 7], [3, 3, 5], [5, 1], [-1, 2], [], slice(1, 6, 2), slice(6, 1, -2)]


@pytest.mark.parametrize("at", POSITIONS, ids=str)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_insertion_at_known_positions(at, axis):
    x = np.arange(56, dtype=np.float32).reshape((8, 7) if axis == 1 else (7, 8))
    at = np.array(at, int) if isinstance(at, list) else at
    expected = np.insert(x, at, -1, axis)
    found = sagax.jit(lambda x: snp.insert(x, at, -1, axis))(x)
    np.testing.assert_array_equal(found, expected)
    gradient = sagax.grad(lambda x: (snp.insert(x, at, -1, axis) ** 2).sum())(x)
    np.testing.assert_array_equal(gradient, 2 * x)


DELETED = [
    3,
    -1,
    [0, -1, 3, 3],
    [],
    list(range(0, 40, 2)),
    slice(1, 6, 2),
    slice(5, 1, -1),
    slice(None),
]


@pytest.mark.parametrize("at", DELETED, ids=str)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_deletion_at_known_positions(at, axis):
    x = np.arange(1, 2501, dtype=np.float32).reshape(50, 50)
    at = np.array(at, int) if isinstance(at, list) else at
    expected = np.delete(x, at, axis)
    np.testing.assert_array_equal(sagax.jit(lambda x: snp.delete(x, at, axis))(x), expected)
    gradient = sagax.grad(lambda x: snp.delete(x, at, axis).sum())(x)
    np.testing.assert_array_equal(gradient, np.isin(x, expected))


def test_infinite_ends_of_trapezia():
    f = sagax.jit(snp.trapezoid)
    assert f(np.array([np.inf, 1, 2], np.float32)) == np.inf
    assert f(np.array([1, 2, -np.inf], np.float32)) == -np.inf
    assert np.isnan(f(np.array([np.inf, 2, -np.inf], np.float32)))
    assert f(np.array([5], np.float32)) == 0 and f(np.array([5, 7], np.float32)) == 6


@pytest.mark.parametrize("m", [1, 2, 3])
def test_polynomials_of_many_coefficients(m):
    p = np.random.default_rng(0).normal(size=20_000).astype(np.float32)
    np.testing.assert_allclose(
        sagax.jit(lambda p: snp.polyder(p, m))(p), np.polyder(p, m), rtol=1e-6
    )
    found = sagax.jit(lambda p: snp.polyint(p, m, k=2))(p)
    np.testing.assert_allclose(found, np.polyint(p, m, k=[2] * m), rtol=1e-6)


def test_many_frequencies():
    for n, d in ((100_000, 1.0), (100_001, 0.1)):
        np.testing.assert_allclose(snp.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d), rtol=3e-7)
