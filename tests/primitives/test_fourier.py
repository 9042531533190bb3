"""Fourier transforms: values, derivatives and batching as the oracle recorded them; errors."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from convolution_cases import FOURIER, numbers
from convolution_oracle import check_derivatives, check_maps, check_values
from sagax import lax
from sagax._src.core import dims
from sagax.errors import SagaxError

ROUNDING = 2e-6  # of the largest result: transforms of up to 105 elements in single precision


@pytest.fixture(scope="module")
def data(oracle_data):
    return oracle_data("convolution")


@pytest.mark.parametrize("name", FOURIER)
def test_values(name, data):
    check_values(name, FOURIER[name], data, ROUNDING)


@pytest.mark.parametrize("name", [n for n, c in FOURIER.items() if c.maps])
def test_maps(name, data):
    check_maps(name, FOURIER[name], data, ROUNDING)


@pytest.mark.parametrize("name", [n for n, c in FOURIER.items() if c.derivative])
def test_derivatives(name, data):
    check_derivatives(name, FOURIER[name], data, ROUNDING)


@pytest.mark.parametrize("lengths", [(5,), (6,), (4, 3), (2, 3, 4)])
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_double_precision(kind, lengths):
    """64-bit operands are transformed in 64 bits: as exactly as NumPy."""
    axes = tuple(range(1, len(lengths) + 1))
    half = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == "IRFFT" else lengths
    x = numbers(2, *half, dtype=np.float64)
    if kind != "RFFT":
        x = x + 1j * numbers(2, *half, salt="imag")
    numpy = {
        "FFT": np.fft.fftn,
        "IFFT": np.fft.ifftn,
        "RFFT": np.fft.rfftn,
        "IRFFT": np.fft.irfftn,
    }[kind]
    want = numpy(x, lengths, axes)
    with sagax.enable_x64(True):
        have = np.asarray(lax.fft(x, kind, lengths))
    assert have.dtype == want.dtype
    np.testing.assert_allclose(have, want, rtol=1e-13, atol=1e-13)


def test_a_circular_convolution_is_a_product_of_transforms():
    """And so is its gradient: through transforms it is the sum over products by hand."""
    x, y = numbers(7), numbers(7, salt="y")

    def circular(x, y):
        product = lax.fft(x, "RFFT", (7,)) * lax.fft(y, "RFFT", (7,))
        return lax.fft(product, "IRFFT", (7,))

    shifted = np.stack([np.roll(y, k) for k in range(7)], 1)  # column k: y moved by k
    np.testing.assert_allclose(circular(x, y), shifted @ x, atol=1e-4)
    ct = numbers(7, salt="ct")
    _, pull = sagax.vjp(circular, x, y)
    np.testing.assert_allclose(pull(ct)[0], shifted.T @ ct, atol=1e-4)


@pytest.mark.parametrize(("kind", "lengths"), [("RFFT", (5,)), ("RFFT", (2, 4)), ("IRFFT", (6,))])
def test_second_derivatives(kind, lengths):
    """A sum of squares of a linear map has the Hessian 2 A^T A: here by columns from NumPy."""
    shape = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == "IRFFT" else lengths
    x = numbers(*shape)

    def loss(x):
        out = lax.fft(x, kind, lengths)
        return (out * out.conj()).real.sum() if kind == "RFFT" else (out * out).sum()

    numpy = np.fft.rfftn if kind == "RFFT" else np.fft.irfftn
    axes = tuple(range(len(lengths)))
    columns = [numpy(u.reshape(shape), lengths, axes).ravel() for u in np.eye(x.size)]
    matrix = np.stack(columns, 1)
    want = 2 * (matrix.conj().T @ matrix).real
    have = np.asarray(sagax.jit(sagax.hessian(loss))(x)).reshape(x.size, x.size)
    np.testing.assert_allclose(have, want, atol=1e-4 * np.abs(want).max())


def test_types_by_name():
    kinds = lax.FftType
    assert [k.name for k in kinds] == ["FFT", "IFFT", "RFFT", "IRFFT"] and kinds.IRFFT == 3
    x = numbers(4)
    np.testing.assert_array_equal(lax.fft(x, "rfft", [4]), lax.fft(x, kinds.RFFT, (4,)))


def test_symbolic_batches():
    (b,) = dims.symbolic_shape("b")
    aval = sagax.ShapeDtypeStruct((b, 6), np.float32)
    assert sagax.eval_shape(lambda x: lax.fft(x, "RFFT", (6,)), aval).shape == (b, 4)
    assert sagax.eval_shape(lambda x: lax.fft(x, "FFT", (b, 6)), aval).shape == (b, 6)


R, C = np.zeros((2, 8), np.float32), np.zeros((2, 8), np.complex64)
ERRORS = {
    "lengths": (C, "FFT", (3, 8), ValueError, "the last dimensions of x have the sizes (2, 8)"),
    "real lengths": (R, "RFFT", (7,), ValueError, "expected: sizes (7,)"),
    "inverse lengths": (C, "IRFFT", (10,), ValueError, "sizes (6,), the last one n // 2 + 1"),
    "complex numbers": (C, "RFFT", (8,), ValueError, "must be real numbers"),
    "half precision": (R.astype(np.float16), "RFFT", (8,), ValueError, "of 32 or 64 bits"),
    "rank": (C[0], "FFT", (2, 8), ValueError, "no more lengths than the 1 dimensions"),
    "four": (C[None, None], "FFT", (1, 1, 2, 8), ValueError, "one to three lengths"),
    "nothing real": (R[:, :0], "RFFT", (0,), ValueError, "lengths of at least 1"),
    "name": (C, "foo", (8,), ValueError, "'FFT', 'IFFT', 'RFFT', 'IRFFT'"),
    "number": (C, 1, (8,), TypeError, "an FftType"),
    "one length": (C, "FFT", 8, TypeError, "a sequence of ints"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    x, kind, lengths, builtin, text = ERRORS[name]
    with pytest.raises(builtin) as caught:
        lax.fft(x, kind, lengths)
    assert isinstance(caught.value, SagaxError)
    assert text in str(caught.value) and str(caught.value).startswith("fft: ")
