"""Cholesky factors of many small matrices, computed together, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

RNG = np.random.default_rng(0)


def positive_definite(count, n, dtype=np.float32):
    a = RNG.standard_normal((count, n, n))
    return (a @ a.swapaxes(1, 2) + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values(n, dtype):
    x = positive_definite(100, n, dtype)
    with sagax.enable_x64(dtype == np.float64):
        f = sagax.jit(snp.linalg.cholesky)
        found = f(x.reshape(20, 5, n, n))
        assert "lapack" not in f.lower(x).as_text()
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    expected = np.linalg.cholesky(x.astype(np.float64)).reshape(20, 5, n, n)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_what_is_not_positive_definite_is_nan_and_the_upper_triangle_is_not_read():
    x = positive_definite(70, 4)
    x[3] = -x[3]
    x[5, 2, 2] = 0
    x[5, 2, :2] = x[5, :2, 2] = 0
    x[7, 3, 1] = np.nan
    upper = np.triu(np.full((4, 4), np.inf, np.float32), 1)
    found = sagax.jit(lambda x: lax.linalg.cholesky(x, symmetrize_input=False))(np.tril(x) + upper)
    for i in range(70):
        if i in (3, 5, 7):
            assert np.isnan(np.asarray(found[i])[np.tril_indices(4)]).all()
        else:
            np.testing.assert_allclose(found[i], np.linalg.cholesky(x[i]), rtol=1e-4, atol=1e-4)
    assert not np.triu(found, 1).any()


def test_derivative_and_vmap():
    x = positive_definite(64, 3, np.float64)
    t = RNG.standard_normal(x.shape)
    t = t + t.swapaxes(1, 2)
    with sagax.enable_x64(True):
        found = sagax.jit(lambda x: sagax.jvp(snp.linalg.cholesky, (x,), (t,))[1])(x)
        mapped = sagax.jit(sagax.vmap(snp.linalg.cholesky))(x)
    h = 1e-6
    expected = (np.linalg.cholesky(x + h * t) - np.linalg.cholesky(x - h * t)) / (2 * h)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mapped, np.linalg.cholesky(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(63, 4, 4), (100, 9, 9), (100, 1, 1), (0, 4, 4)])
def test_what_lapack_does(shape):
    x = np.broadcast_to(np.eye(shape[-1], dtype=np.float32), shape)
    f = sagax.jit(snp.linalg.cholesky)
    assert np.array_equal(f(x), x)
    assert "lapack" in f.lower(x).as_text() or 0 in shape
