"""Evaluate probability distributions (a module each) and summary statistics.

The functions of a distribution broadcast and are differentiable. Outside of its support, densities
and probabilities are 0 and their logarithms minus infinity. Formulas: N. L. Johnson,
S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", and SciPy's documentation.

>>> from sagax.scipy import stats
>>> stats.norm.cdf(0.0)
Array(0.5, dtype=float32, weak_type=True)
"""

from __future__ import annotations

import importlib
from typing import Any

_DISTRIBUTIONS = (
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "gennorm",
    "geom", "gumbel_l", "gumbel_r", "laplace", "logistic", "multinomial", "multivariate_normal", "nbinom",
    "norm", "pareto", "poisson", "t", "truncnorm", "uniform", "vonmises", "wrapcauchy",
)  # fmt: skip
_FUNCTIONS = {
    "gaussian_kde": "_kde",
    "mode": "_summaries",
    "rankdata": "_summaries",
    "sem": "_summaries",
}

__all__ = [*_DISTRIBUTIONS, *_FUNCTIONS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Import a distribution or function on first use."""
    if name in _DISTRIBUTIONS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
