"""Evaluate probability distributions (a module each) and summary statistics.

The functions of a distribution broadcast and are differentiable. Outside of its support, densities
and probabilities are 0 and their logarithms minus infinity. Formulas: N. L. Johnson,
S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", and SciPy's documentation.

>>> from sagax.scipy import stats
>>> stats.norm.cdf(0.0)
Array(0.5, dtype=float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names

if TYPE_CHECKING:
    from sagax.scipy.stats._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
