"""Check that fusions end within chains of one-byte floats, which take minutes to compile in one piece."""

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.scipy.stats import gamma, norm, poisson, t


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize(
    "density, count", [(norm.pdf, 1), (t.pdf, 2), (gamma.pdf, 2), (poisson.pmf, 2)]
)
def test_densities(density, count, dtype):
    x = snp.array([1.0, 2.0, 3.0, 4.0], dtype)
    lowered = sagax.jit(density).lower(*[x] * count)
    assert "optimization_barrier" in lowered.as_text()
    found = np.asarray(lowered.compile()(*[x] * count)).astype(np.float32)  # took 10 to 260 s
    exact = np.asarray(density(*[x.astype(np.float32)] * count))
    np.testing.assert_allclose(found, exact, rtol=0.6, atol=0.1)  # three bits of each step


def test_chains_of_wider_floats_stay_whole():
    def chain(x):
        for k in range(12):
            x = x * x if k % 2 else x + x
        return x

    assert "optimization_barrier" not in sagax.jit(chain).lower(snp.ones(4, "bfloat16")).as_text()
    text = sagax.jit(chain).lower(snp.ones(4, "float8_e5m2")).as_text()
    assert text.count("optimization_barrier") == 4  # after each third operation
