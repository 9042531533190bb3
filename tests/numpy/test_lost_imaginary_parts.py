"""Conversions that a user asks for warn of lost imaginary parts, as in jax and NumPy; derivatives are silent."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.scipy import signal, stats

V = np.array([1 + 1j, 2j], np.complex64)
FLOATS = np.ones(2, np.float32)

WARN = {
    "sum": lambda v: snp.sum(v, dtype=np.float32),
    "prod": lambda v: snp.prod(v, dtype=np.int32),
    "mean": lambda v: snp.mean(v, dtype=np.float32),
    "cumsum": lambda v: snp.cumsum(v, dtype=np.float32),
    "cumulative_prod": lambda v: snp.cumulative_prod(v, dtype=np.float32),
    "concatenate": lambda v: snp.concatenate([v, v], dtype=np.float32),
    "stack": lambda v: snp.stack([v, v], dtype=np.float32),
    "full": lambda v: snp.full((2,), v, np.float32),
    "lax.full": lambda v: lax.full((2,), v[0], np.float32),
    "asarray": lambda v: snp.asarray(v, np.float32),
    "convert_element_type": lambda v: lax.convert_element_type(v, np.float32),
    "set": lambda v: snp.zeros(2).at[0].set(v[0]),
    "add": lambda v: snp.zeros(2).at[0].add(v[0]),
    "put_along_axis": lambda v: snp.put_along_axis(
        snp.zeros(2), np.array([0]), v[:1], 0, inplace=False
    ),
    "insert": lambda v: snp.insert(snp.zeros(2), 0, v[0]),
    "pad": lambda v: snp.pad(snp.zeros(2), 1, constant_values=v[0]),
    "piecewise": lambda v: snp.piecewise(snp.zeros(2), [np.array([True, False])], [v[0], v[1]]),
}

SILENT = {
    "sum": lambda x: snp.abs(snp.sum(x.astype(np.complex64))),
    "product": lambda x: snp.abs(snp.dot(x, x + 1j)),
    "where": lambda x: snp.abs(snp.where(x > 0, x, 1j * x)).sum(),
    "fft": lambda x: snp.abs(snp.fft.fft(x)).sum(),
    "stft": lambda x: snp.abs(signal.stft(x, nperseg=2)[2]).sum(),
    "concatenate": lambda x: snp.abs(snp.concatenate([x, 1j * x])).sum(),
    "update": lambda x: snp.abs(snp.zeros(2, np.complex64).at[0].set(x[0])).sum(),
    "einsum": lambda x: snp.einsum("i,i", x * 1j, x * 1j, preferred_element_type=np.float32),
}


# updates warn of the cast, too: of what the array cannot hold
@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types:FutureWarning")
@pytest.mark.parametrize("call", WARN)
@pytest.mark.parametrize("transform", [lambda f: f, sagax.jit], ids=["eager", "jit"])
def test_warns(call, transform):
    sagax.clear_caches()  # a traced call warns as it is traced
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part") as seen:
        found = transform(WARN[call])(snp.asarray(V))
    assert found.dtype in (np.float32, np.int32)
    assert seen[0].filename == __file__


@pytest.mark.parametrize("call", WARN)
def test_real_numbers_are_silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        WARN[call](snp.asarray(FLOATS))


@pytest.mark.parametrize("call", SILENT)
@pytest.mark.parametrize("transform", [lambda f: f, sagax.jit], ids=["eager", "jit"])
def test_derivatives_are_silent(call, transform):
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        gradient = transform(sagax.grad(SILENT[call]))(FLOATS)
    assert gradient.dtype == np.float32


def test_a_filling_that_is_complex_is_refused():
    with pytest.raises(TypeError, match="fill_value must be a real number, to be a float32"):
        snp.take(FLOATS, np.array([5]), mode="fill", fill_value=1j)
    filled = snp.asarray(V).at[5].get(mode="fill", fill_value=1j)
    assert filled == 1j


@pytest.mark.parametrize("name", ["expon", "gumbel_l", "gumbel_r", "laplace"])
def test_distributions_have_real_arguments(name):
    for arguments in ((V, FLOATS), (FLOATS, V)):
        with pytest.raises(TypeError, match="must be real numbers, as all arguments of a distr"):
            getattr(stats, name).logpdf(*arguments)
    # an analytic formula has values there: the logarithm of the normal density is a polynomial
    expected = -(V**2) / 2 - np.log(2 * np.pi) / 2
    np.testing.assert_allclose(stats.norm.logpdf(V), expected, rtol=1e-6)
