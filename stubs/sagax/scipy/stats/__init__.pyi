"""Evaluate probability distributions (a module each) and summary statistics."""

from sagax._src.core.value import Array
from sagax.scipy.stats import bernoulli as bernoulli
from sagax.scipy.stats import beta as beta
from sagax.scipy.stats import betabinom as betabinom
from sagax.scipy.stats import binom as binom
from sagax.scipy.stats import cauchy as cauchy
from sagax.scipy.stats import chi2 as chi2
from sagax.scipy.stats import dirichlet as dirichlet
from sagax.scipy.stats import expon as expon
from sagax.scipy.stats import gamma as gamma
from sagax.scipy.stats import gennorm as gennorm
from sagax.scipy.stats import geom as geom
from sagax.scipy.stats import gumbel_l as gumbel_l
from sagax.scipy.stats import gumbel_r as gumbel_r
from sagax.scipy.stats import laplace as laplace
from sagax.scipy.stats import logistic as logistic
from sagax.scipy.stats import multinomial as multinomial
from sagax.scipy.stats import multivariate_normal as multivariate_normal
from sagax.scipy.stats import nbinom as nbinom
from sagax.scipy.stats import norm as norm
from sagax.scipy.stats import pareto as pareto
from sagax.scipy.stats import poisson as poisson
from sagax.scipy.stats import t as t
from sagax.scipy.stats import truncnorm as truncnorm
from sagax.scipy.stats import uniform as uniform
from sagax.scipy.stats import vonmises as vonmises
from sagax.scipy.stats import wrapcauchy as wrapcauchy
from sagax.scipy.stats._kde import gaussian_kde as gaussian_kde
from sagax.scipy.stats._summaries import ModeResult
from sagax.typing import ArrayLike

def mode(
    a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult: ...
def rankdata(
    a: ArrayLike, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array: ...
def sem(
    a: ArrayLike,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array: ...
