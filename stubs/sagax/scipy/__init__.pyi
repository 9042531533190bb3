"""Evaluate SciPy's functions of arrays under tracing, jit and differentiation."""

from sagax.scipy import cluster as cluster
from sagax.scipy import fft as fft
from sagax.scipy import integrate as integrate
from sagax.scipy import interpolate as interpolate
from sagax.scipy import linalg as linalg
from sagax.scipy import ndimage as ndimage
from sagax.scipy import optimize as optimize
from sagax.scipy import signal as signal
from sagax.scipy import sparse as sparse
from sagax.scipy import spatial as spatial
from sagax.scipy import special as special
from sagax.scipy import stats as stats
