"""Name what `sagax.random` imports on first use."""

from sagax.random._continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    wald,
    weibull_min,
)
from sagax.random._counts import binomial, geometric, multinomial, poisson
from sagax.random._gamma import (
    ball,
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    t,
)
from sagax.random._selection import categorical, choice, permutation
from sagax.random._vectors import multivariate_normal, orthogonal
