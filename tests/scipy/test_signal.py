"""sagax.scipy.signal, fft, cluster and integrate against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.signal as theirs

import sagax
import sagax.numpy as snp
from sagax import errors
from sagax.scipy import cluster, fft, integrate
from sagax.scipy import signal as ours

RNG = np.random.RandomState(0)


@pytest.fixture(autouse=True)
def precise():
    with sagax.config.context(x64=True):
        yield


def close(got, expected):
    assert np.shape(got) == np.shape(expected)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)


def noise(*shape, complex=False):
    x = RNG.randn(*shape)
    return x + 1j * RNG.randn(*shape) if complex else x


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("method", ["direct", "fft"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("complex", [False, True])
def test_convolutions(mode, method, name, complex):
    for a, b in [
        ((9,), (4,)),
        ((4,), (9,)),
        ((6, 5), (3, 2)),
        ((4, 3, 5), (2, 3, 4)),
        ((7,), (7,)),
    ]:
        x, y = noise(*a, complex=complex), noise(*b, complex=complex)
        got = getattr(ours, name)(x, y, mode=mode, method=method)
        close(got, getattr(theirs, name)(x, y, mode=mode, method="direct"))
    if method == "direct":
        x, y = noise(6, 5, complex=complex), noise(3, 2, complex=complex)
        close(getattr(ours, f"{name}2d")(x, y, mode), getattr(theirs, f"{name}2d")(x, y, mode))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_fftconvolve_along_axes(mode):
    x, y = noise(3, 8), noise(3, 4)
    close(ours.fftconvolve(x, y, mode, axes=1), theirs.fftconvolve(x, y, mode, axes=1))
    close(ours.fftconvolve(x, y, mode, axes=[-1]), theirs.fftconvolve(x, y, mode, axes=[-1]))


def test_integers_become_floats():
    got = ours.convolve(np.array([1, 2]), np.array([3, 4]))
    assert got.dtype == np.float64 and got.tolist() == [3, 10, 8]


@pytest.mark.parametrize("kind", ["linear", "constant"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_detrend(kind, axis):
    x = noise(7, 9).cumsum(axis=1)
    close(ours.detrend(x, axis, kind), theirs.detrend(x, axis, kind))
    if kind == "linear":
        close(ours.detrend(x, axis, bp=[2, 5]), theirs.detrend(x, axis, bp=[2, 5]))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fs": 10.0, "window": "hamming", "noverlap": 3, "nfft": 20},
        {"boundary": None, "padded": False},
        {"boundary": "even", "window": ("kaiser", 4.0)},
        {"boundary": "odd", "detrend": "constant"},
        {"boundary": "constant", "detrend": "linear"},
        {"return_onesided": False},
        {"window": np.linspace(0.1, 1, 16)},
    ],
)
def test_stft(options):
    signals = [noise(101), noise(2, 90)]
    if options.get("return_onesided") is False:
        signals.append(noise(64, complex=True))
    for x in signals:
        for got, expected in zip(
            ours.stft(x, nperseg=16, **options), theirs.stft(x, nperseg=16, **options), strict=True
        ):
            close(got, expected)
    x = noise(50, 3)
    close(ours.stft(x, nperseg=16, axis=0)[2], theirs.stft(x, nperseg=16, axis=0)[2])


@pytest.mark.parametrize("options", [{}, {"noverlap": 12}, {"window": "hamming", "nfft": 20}])
def test_istft(options):
    x = noise(2, 80)
    z = theirs.stft(x, nperseg=16, **options)[2]
    z = z + 0.1 * noise(*z.shape, complex=True)  # the transform of no signal
    times, got = ours.istft(z, fs=4.0, nperseg=16, **options)
    expected_times, expected = theirs.istft(z, fs=4.0, nperseg=16, **options)
    close(got, expected)
    close(times, expected_times)
    both = theirs.stft(x, nperseg=16, return_onesided=False)[2]
    close(ours.istft(both, input_onesided=False)[1], theirs.istft(both, input_onesided=False)[1])
    turned = np.moveaxis(z, -1, 0)
    places = {"time_axis": 0, "freq_axis": 2}
    close(
        ours.istft(turned, nperseg=16, **places, **options)[1],
        theirs.istft(turned, nperseg=16, **places, **options)[1],
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scaling": "spectrum", "average": "median", "nfft": 17},
        {"detrend": False, "return_onesided": False, "fs": 4.0},
        {"noverlap": 3, "window": "boxcar", "axis": 0},
    ],
)
def test_power(options):
    x, y = noise(101, 2).T if "axis" not in options else noise(101, 2), None
    y = noise(*x.shape)
    for got, expected in zip(
        ours.welch(x, nperseg=16, **options), theirs.welch(x, nperseg=16, **options), strict=True
    ):
        close(got, expected)
    for got, expected in zip(
        ours.csd(x, y, nperseg=16, **options), theirs.csd(x, y, nperseg=16, **options), strict=True
    ):
        close(got, expected)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 1, 5, 12])
def test_cosine_transforms(norm, n):
    for size in (1, 7, 8):
        x = noise(3, size)
        for axis in (0, -1):
            for name in ("dct", "idct"):
                got = getattr(fft, name)(x, n=n, axis=axis, norm=norm)
                close(got, getattr(scipy.fft, name)(x, n=n, axis=axis, norm=norm))
    x = noise(3, 4, 5)
    for name in ("dctn", "idctn"):
        for options in ({}, {"axes": (0, 2)}, {"s": (4, 6)}, {"s": (2, 3), "axes": (1, 0)}):
            got = getattr(fft, name)(x, norm=norm, **options)
            close(got, getattr(scipy.fft, name)(x, norm=norm, **options))
    assert fft.dct(np.ones(3, np.float32)).dtype == np.float32


def test_nearest_codes():
    obs, codes = noise(20, 3), noise(4, 3)
    for got, expected in zip(
        cluster.vq.vq(obs, codes), scipy.cluster.vq.vq(obs, codes), strict=True
    ):
        close(got, expected)
    assert cluster.vq.vq(np.array([0.0, 5.0]), np.array([4.0, 1.0]))[0].tolist() == [1, 0]


def test_trapezoid():
    y, x = noise(4, 9), np.sort(noise(9))
    close(integrate.trapezoid(y, x), scipy.integrate.trapezoid(y, x))


def test_transformations():
    x, w = noise(64), noise(9, 9, complex=True)

    def total(x):
        return snp.sum(snp.real(ours.stft(x, nperseg=16)[2] * w)) + snp.sum(fft.dct(x) ** 2)

    gradient, e, h = sagax.jit(sagax.grad(total))(x), noise(64), 1e-5
    np.testing.assert_allclose(
        gradient @ e, (total(x + h * e) - total(x - h * e)) / (2 * h), rtol=1e-6
    )
    many = noise(3, 64)
    batched = sagax.vmap(lambda x: ours.fftconvolve(x, x[:5], "same"))(many)
    for got, row in zip(batched, many, strict=True):
        close(got, theirs.fftconvolve(row, row[:5], "same"))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ours.convolve(np.ones(2), np.ones((2, 2))), "same number of dimensions"),
        (lambda: ours.convolve(np.ones(2), np.ones(2), mode="half"), "mode must be one of"),
        (lambda: ours.convolve(np.ones((2, 3)), np.ones((3, 2)), "valid"), "at least as large"),
        (lambda: ours.convolve(np.ones(0), np.ones(2)), "zero-size arrays not supported"),
        (lambda: ours.convolve2d(np.ones(2), np.ones(2)), "2-dimensional"),
        (lambda: ours.stft(np.ones(64), nperseg=16, noverlap=16), "noverlap must be less"),
        (lambda: ours.stft(np.ones(64), nperseg=16, nfft=8), "nfft must be greater"),
        (lambda: ours.welch(np.ones(8), window=np.ones(9)), "at most 8 numbers"),
        (lambda: ours.detrend(np.ones(8), bp=9), "Breakpoints"),
        (lambda: cluster.vq.vq(np.ones((2, 3)), np.ones((2, 4))), "do not fit"),
        (lambda: fft.dctn(np.ones((2, 2)), s=(2,), axes=(0, 1)), "a size for each"),
    ],
)
def test_refused(call, text):
    with pytest.raises(errors.ArgumentValueError, match=text):
        call()


def test_what_is_not_there():
    with pytest.raises(NotImplementedError, match="type 2"):
        fft.dct(np.ones(4), type=3)
    with pytest.raises(NotImplementedError, match="boundary='fill'"):
        ours.convolve2d(np.ones((2, 2)), np.ones((2, 2)), boundary="wrap")


def test_cosine_transforms_of_complex_numbers_transform_their_parts():
    x = np.arange(12.0).reshape(3, 4) + 1j * np.arange(12.0)[::-1].reshape(3, 4)
    for name in ("dct", "idct", "dctn", "idctn"):
        found = getattr(fft, name)(x.astype(np.complex64))
        np.testing.assert_allclose(found, getattr(scipy.fft, name)(x), rtol=1e-4, atol=1e-4)


def test_spectra_of_no_samples_are_empty():
    for shape in [(0,), (0, 4), (3, 0)]:
        x = np.zeros(shape)
        for f in (ours.stft, ours.welch):
            found, expected = f(x), getattr(theirs, f.__name__)(x)
            assert [y.shape for y in found] == [y.shape for y in expected]


def test_distances_of_complex_observations_are_real():
    obs = np.array([[3j, 4.0], [0.0, 1.0]], np.complex64)
    found = cluster.vq.vq(obs, np.zeros((1, 2), np.float32))[1]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [5.0, 1.0])


def test_cosine_transforms_of_16_bit_numbers_are_float32():
    for dtype in ("float16", "bfloat16"):
        for f in (fft.dct, fft.idct, fft.dctn, fft.idctn):
            assert f(snp.ones(4, dtype)).dtype == np.float32
