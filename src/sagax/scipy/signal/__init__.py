"""Process signals: convolution, detrending, spectral estimation.

>>> import sagax.numpy as snp
>>> from sagax.scipy import signal
>>> signal.convolve(snp.array([1.0, 2.0]), snp.array([1.0, 1.0]))
Array([1., 3., 2.], dtype=float32)
"""

from sagax.scipy.signal._convolution import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
)
from sagax.scipy.signal._spectra import csd, detrend, istft, stft, welch
