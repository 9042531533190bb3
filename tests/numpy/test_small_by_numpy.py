"""Small eager calls that NumPy computes give the bits of their executables."""

import itertools

import numpy as np
import pytest

import sagax
import sagax.numpy as snp

NAN, INF = float("nan"), float("inf")
VECTORS = [
    np.float32([1, 2, 2, 3, 7]),
    np.float32([-INF, -0.0, 0.0, 1, INF]),
    np.float32([-1, 0, 5, NAN, NAN]),
    np.float32([3, 1, NAN, 2, 1]),  # in no order: counting is what both do
    np.int32([-5, 0, 0, 9]),
    np.uint8([0, 3, 255]),
]


@pytest.mark.parametrize(("a", "v"), list(itertools.product(VECTORS, VECTORS)))
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_equals_its_executable(a, v, side):
    v = (
        v.astype(a.dtype)
        if a.dtype.kind == "f"
        else np.int32(np.nan_to_num(v, posinf=9, neginf=-9)).astype(a.dtype)
    )
    for queries in (v, v[:, None], v[0]):
        want = sagax.jit(lambda a, v: snp.searchsorted(a, v, side))(a, queries)
        got = snp.searchsorted(snp.asarray(a), snp.asarray(queries), side)
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("a", VECTORS)
def test_argsort_equals_its_executable(a):
    for x, axis in ((a, -1), (np.stack([a, a[::-1]]), 0), (np.stack([a, a[::-1]]), 1), (a, None)):
        want = sagax.jit(snp.argsort, static_argnums=1)(x, axis)
        got = snp.argsort(snp.asarray(x), axis)
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


def test_norms_and_medians_keep_their_options():
    x = snp.asarray(np.float32([[3, -4], [1, 2]]))
    for _ in range(3):
        assert float(snp.linalg.norm(x[0])) == 5
        assert float(snp.linalg.norm(x, ord=np.inf)) == 7
        assert snp.linalg.norm(x, axis=1, keepdims=True).shape == (2, 1)
        np.testing.assert_array_equal(snp.median(x, axis=0), [2, -1])
        assert float(snp.nanmedian(snp.asarray([1.0, NAN, 4.0]))) == 2.5
        with pytest.raises(ValueError, match="Improper number of axes"):
            snp.linalg.norm(snp.ones((2, 2, 2)), ord=1)
        with pytest.raises(ValueError, match="out"):
            snp.median(x, out=x)
