"""`nonzero(size=...)` of many elements counts prefixes: the same as NumPy, whatever is found."""

import numpy as np
import pytest

import sagax
import sagax.numpy as snp

SIZES = (1024, 1500, 3000, 3700)


@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_first_indices_are_those_of_numpy(share):
    mask = np.random.default_rng(0).uniform(size=3000) < share
    for size in SIZES:
        found = np.nonzero(mask)[0][:size]
        want = np.concatenate([found, np.full(size - len(found), -1)])

        def first(m, size=size):
            return snp.nonzero(m, size=size, fill_value=-1)[0]

        np.testing.assert_array_equal(sagax.jit(first)(mask), want)
        np.testing.assert_array_equal(first(snp.asarray(mask)), want)
        both = sagax.vmap(first)(np.stack([mask, ~mask]))
        np.testing.assert_array_equal(both[0], want)
        assert both[1, 0] == (np.nonzero(~mask)[0][0] if share < 1 else -1)


def test_rows_of_several_dimensions_and_unique_values():
    rng = np.random.default_rng(1)
    mask = rng.uniform(size=(40, 50)) < 0.4
    want = np.argwhere(mask)
    got = sagax.jit(lambda m: snp.argwhere(m, size=1200))(mask)
    np.testing.assert_array_equal(got[: len(want)], want)
    x = rng.integers(0, 300, 5000)
    got = sagax.jit(lambda x: snp.unique(x, size=2000))(x)
    np.testing.assert_array_equal(got[: len(np.unique(x))], np.unique(x))
