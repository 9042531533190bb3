"""Remove trends, and estimate spectra from overlapping windows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy as snp
import sagax.scipy.linalg._common as _common
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax.numpy._arguments import check_choice, one_axis, static_int
from sagax.numpy._base import convert, promotes_freely

if TYPE_CHECKING or lazy_imports():
    import scipy.signal as _scipy  # it loads slowly, and few functions need it


def detrend(
    data: Any,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] = 0,
    overwrite_data: None = None,
) -> Array:
    """Remove the trend along an axis: the straight line ("linear") or the mean ("constant").

    `bp` are indices at which a line ends and another begins.

    >>> bool((abs(signal.detrend(snp.array([1.0, 2.0, 3.0]))) < 1e-5).all())
    True
    """
    function = "scipy.signal.detrend"
    if overwrite_data is not None:
        raise worded(NotImplementedError("overwrite_data argument not implemented."))
    check_choice(function, "type", type, ("linear", "constant"))
    data = data if isinstance(data, Array) else snp.asarray(data)
    (data,) = _common.arrays(function, data)
    if type == "constant":  # along several axes, too
        return data - snp.mean(data, axis, keepdims=True)
    axis = one_axis(function, axis, data.ndim)
    n = operator.index(data.shape[axis])  # lines are fitted while tracing
    edges = sorted({0, n, *np.ravel(np.asarray(bp)).tolist()})
    if edges[0] < 0 or edges[-1] > n:
        raise ArgumentValueError(
            "Breakpoints must be non-negative and less than length of data along given axis.",
            function=function,
            got=bp,
        )
    weak = data.weak_type
    data = snp.moveaxis(data, axis, 0)
    pieces = []
    for start, stop in zip(edges, edges[1:]):
        line = np.stack([np.arange(1, stop - start + 1) / (stop - start), np.ones(stop - start)], 1)
        # the residual of y after the best line: y - Q Q^T y
        q = np.linalg.qr(line)[0].astype(data.dtype)
        part = data[start:stop]
        fitted = snp.tensordot(q, snp.tensordot(q.T, part, 1), 1)
        pieces.append(part - fitted)
    found = snp.moveaxis(snp.concatenate(pieces), 0, axis)
    return convert(found, found.dtype, weak)


def _window(function: str, window: Any, nperseg: int | None, length: int) -> tuple[np.ndarray, int]:
    """Return the values of the window, and how many there are."""
    if isinstance(window, str | tuple):
        size = min(256 if nperseg is None else static_int(function, "nperseg", nperseg), length)
        if size < 1:
            raise ArgumentValueError.about(function, "nperseg", nperseg, "a positive integer")
        return np.asarray(_scipy.get_window(window, size)), size
    values = np.asarray(window)
    if values.ndim != 1 or values.shape[0] > length:
        raise ArgumentValueError.about(
            function, "window", f"shape {values.shape}", f"a vector of at most {length} numbers"
        )
    if nperseg is not None and nperseg != values.shape[0]:
        raise ArgumentValueError(
            "value specified for nperseg is different from length of window",
            function=function,
            got=f"{nperseg} and {values.shape[0]}",
        )
    return values, values.shape[0]


def _overlap(function: str, noverlap: int | None, nperseg: int) -> int:
    overlap: int = nperseg // 2 if noverlap is None else static_int(function, "noverlap", noverlap)
    if overlap >= nperseg:
        raise ArgumentValueError(
            "noverlap must be less than nperseg.", function=function, got=f"{overlap}, {nperseg}"
        )
    return overlap


def _without_trend(kind: Any) -> Callable[[Any], Any]:
    if callable(kind):
        return kind
    return (lambda x: detrend(x, type=kind)) if kind else (lambda x: x)


def _transformed(
    x: Any, window: np.ndarray, hop: int, nfft: int, trend: Callable[[Any], Any], one_sided: bool
) -> Any:
    """Compute the spectra of all windows: (..., windows, frequencies)."""
    size = window.shape[0]
    starts = np.arange((x.shape[-1] - size) // hop + 1) * hop
    pieces = trend(x[..., starts[:, None] + np.arange(size)]) * window.astype(_real(x))
    return snp.fft.rfft(pieces, nfft) if one_sided else snp.fft.fft(pieces, nfft)


def _sizes(function: str, nfft: int | None, nperseg: int) -> int:
    size: int = nperseg if nfft is None else static_int(function, "nfft", nfft)
    if size < nperseg:
        raise ArgumentValueError(
            "nfft must be greater than or equal to nperseg.",
            function=function,
            got=f"{size}, {nperseg}",
        )
    return size


def _real(x: Any) -> Any:
    """Return the dtype of windows, frequencies and times of a signal: wide ones do not widen what is computed of it."""
    return np.float64 if x.dtype in (np.float64, np.complex128) else np.float32


def _frequencies(x: Any, nfft: int, fs: float, one_sided: bool) -> Any:
    found = np.fft.rfftfreq(nfft, 1 / fs) if one_sided else np.fft.fftfreq(nfft, 1 / fs)
    return snp.asarray(found, _real(x))


_EXTENSIONS = {"even": "reflect", "odd": "reflect", "constant": "edge", "zeros": "constant"}


@promotes_freely
def stft(
    x: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Compute the short-time Fourier transform: frequencies, times, and spectra of windows.

    Args:
      x: a signal.
      fs: how many samples there are in a unit of time.
      window: the name of a window (as in scipy.signal.get_window), or its numbers.
      nperseg: the length of a window; noverlap: by how much neighbors overlap (default: half of it).
      nfft: the length of the transforms, if they are to be filled with zeros.
      detrend: "constant", "linear", a function of windows, or False.
      return_onesided: leave out negative frequencies; never for complex signals.
      boundary: how the signal is extended by half a window: "zeros", "even", "odd", "constant", None.
      padded: fill up with zeros so that the last samples are in a window too.
      axis: that of time in x; of frequencies in the result, whose last axis is time.

    Of no samples there are no windows: three empty arrays of the shape of `x`, as in SciPy.

    >>> f, t, z = signal.stft(snp.ones(64), nperseg=16)
    >>> f.shape, t.shape, z.shape
    ((9,), (9,), (9, 9))
    """
    function = "scipy.signal.stft"
    check_choice(function, "boundary", boundary, (None, *_EXTENSIONS))
    (x,) = _common.arrays(function, x)
    if not x.size:
        empty = snp.zeros(x.shape, snp.result_type(float))
        return empty, empty, empty.astype(snp.promote_types(x.dtype, snp.complex64))
    x = snp.moveaxis(x, axis, -1)
    values, nperseg = _window(function, window, nperseg, x.shape[-1])
    nfft, noverlap = _sizes(function, nfft, nperseg), _overlap(function, noverlap, nperseg)
    hop = nperseg - noverlap
    ends = [(0, 0)] * (x.ndim - 1)
    if boundary is not None:
        half = nperseg // 2
        options = {"reflect_type": "odd"} if boundary == "odd" else {}
        x = snp.pad(x, [*ends, (half, half)], mode=_EXTENSIONS[boundary], **options)
    if padded:
        x = snp.pad(x, [*ends, (0, -(x.shape[-1] - nperseg) % hop % nperseg)])
    one_sided = return_onesided and not snp.iscomplexobj(x)
    spectra = _transformed(x, values, hop, nfft, _without_trend(detrend), one_sided)
    spectra = spectra / float(abs(values.sum()))
    count = spectra.shape[-2]
    times = (np.arange(count) * hop + (0 if boundary is not None else nperseg / 2)) / fs
    spectra = snp.moveaxis(spectra, -1, axis - 1 if axis < 0 else axis)
    return _frequencies(x, nfft, fs, one_sided), snp.asarray(times, _real(x)), spectra


@promotes_freely
def istft(
    Zxx: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Find the signal whose short-time Fourier transform is nearest to `Zxx`: times and samples.

    The arguments are those that `stft` was called with. For a stack of signals there are as many times as
    the first dimension of the result has elements, as in SciPy. Source: Griffin and Lim, IEEE Trans. ASSP 32, 1984.

    >>> x = snp.arange(64.0)
    >>> back = signal.istft(signal.stft(x, nperseg=16)[2], nperseg=16)[1]
    >>> bool(snp.allclose(back, x, atol=1e-4))
    True
    """
    function = "scipy.signal.istft"
    Zxx = snp.asarray(Zxx)
    if Zxx.ndim < 2 or time_axis % Zxx.ndim == freq_axis % Zxx.ndim:
        raise ArgumentValueError(
            "Input stft must be at least 2d, with different axes of time and frequency",
            function=function,
            got=Zxx,
        )
    spectra = snp.moveaxis(Zxx, (time_axis, freq_axis), (-2, -1))
    count, bins = spectra.shape[-2:]
    default = 2 * (bins - 1) if input_onesided else bins
    per_piece: int = default if nperseg is None else static_int(function, "nperseg", nperseg)
    if nfft is None:
        nfft = per_piece if input_onesided and per_piece == default + 1 else default
    nfft, noverlap = _sizes(function, nfft, per_piece), _overlap(function, noverlap, per_piece)
    values, _ = _window(function, window, per_piece, per_piece)
    hop = per_piece - noverlap
    inverse = snp.fft.irfft if input_onesided else snp.fft.ifft
    pieces = inverse(spectra, nfft)[..., :per_piece]
    real = _real(pieces)
    pieces = pieces * (values * values.sum()).astype(real)
    length = per_piece + (count - 1) * hop
    sample_indices = (np.arange(count) * hop)[:, None] + np.arange(per_piece)
    total = (
        snp.zeros((*pieces.shape[:-2], length), pieces.dtype).at[..., sample_indices].add(pieces)
    )
    norm = np.zeros(length)
    np.add.at(norm, sample_indices, np.broadcast_to(values**2, sample_indices.shape))
    if boundary:
        half = per_piece // 2
        total, norm = total[..., half : length - half], norm[half : length - half]
    x = total / np.where(norm > 1e-10, norm, 1.0).astype(real)
    if x.ndim > 1 and time_axis % Zxx.ndim != Zxx.ndim - 1:
        first = freq_axis % Zxx.ndim < time_axis % Zxx.ndim
        x = snp.moveaxis(x, -1, time_axis % Zxx.ndim - (1 if first else 0))
    times = np.arange(x.shape[0]) / fs
    return snp.asarray(times, real), x


@promotes_freely
def csd(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Estimate the cross power spectrum of two signals by Welch's method: frequencies and spectrum.

    Args:
      x, y: signals; y of None means x. The shorter one is filled with zeros.
      fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis: as in `stft`.
      scaling: "density" (power per frequency) or "spectrum" (power).
      average: "mean" or "median" of the windows.

    >>> f, p = signal.csd(snp.ones(64), snp.arange(64.0), nperseg=16)
    >>> f.shape, p.shape
    ((9,), (9,))
    """
    function = "scipy.signal.csd"
    check_choice(function, "scaling", scaling, ("density", "spectrum"))
    check_choice(function, "average", average, ("mean", "median"))
    same = y is None
    x, y = _common.arrays(function, x, x if same else y)
    if not x.size and same:
        empty = snp.zeros(x.shape, snp.result_type(float))
        return empty, empty.astype(snp.promote_types(snp.float32, snp.finfo(x.dtype).dtype))
    x, y = snp.moveaxis(x, axis, -1), snp.moveaxis(y, axis, -1)
    length = max(x.shape[-1], y.shape[-1])
    x, y = [
        snp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, length - v.shape[-1])])
        if v.shape[-1] < length
        else v
        for v in (x, y)
    ]
    values, nperseg = _window(function, window, nperseg, length)
    nfft, noverlap = _sizes(function, nfft, nperseg), _overlap(function, noverlap, nperseg)
    one_sided = return_onesided and not snp.iscomplexobj(x)
    options = (nperseg - noverlap, nfft, _without_trend(detrend), one_sided)
    first = _transformed(x, values, *options)
    second = first if same else _transformed(y, values, *options)
    power = snp.conj(first) * second
    if same:
        power = snp.real(power)
    power = power * float(
        1 / (fs * (values * values).sum()) if scaling == "density" else 1 / values.sum() ** 2
    )
    if one_sided:  # each frequency stands for its negative too, where that is another one
        twice = np.full(power.shape[-1], 2.0, np.float32)
        twice[0] = 1.0
        if nfft % 2 == 0:
            twice[-1] = 1.0
        power = power * twice
    if average == "median":
        bias = _median_bias(power.shape[-2])
        middle = snp.median(snp.real(power), axis=-2)
        if not same:
            middle = middle + 1j * snp.median(snp.imag(power), axis=-2)
        power = middle / bias
    else:
        power = snp.mean(power, axis=-2)
    return _frequencies(x, nfft, fs, one_sided), snp.moveaxis(power, -1, axis)


def _median_bias(n: int) -> float:
    """Compute the mean of the median of n exponential variables of mean 1."""
    k = 2 * np.arange(1, (n - 1) // 2 + 1)
    return float(1 + np.sum(1.0 / (k + 1) - 1.0 / k))


@promotes_freely
def welch(
    x: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Estimate the power spectrum of a signal by Welch's method: frequencies and spectrum.

    The arguments are those of `csd`.

    >>> f, p = signal.welch(snp.sin(snp.arange(256.0) * 2 * snp.pi / 8), nperseg=64)
    >>> float(f[p.argmax()])
    0.125
    """
    return csd(
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )
