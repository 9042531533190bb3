"""Draw random numbers from explicit PRNG keys; a key gives the same numbers on every device.

Make a key from a seed with `key`, and more keys from one with `split` or `fold_in`. Use each once.
Samplers take a key first, and return arrays of the given shape and dtype.

>>> from sagax import random
>>> key, part = random.split(random.key(42))
>>> random.uniform(part, (2,)).shape
(2,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import late_names as _late_names
from sagax.random._basic import bernoulli, bits, normal, rademacher, randint, uniform
from sagax.random._keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)

if TYPE_CHECKING:
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

# Lazy imports: modules that are loaded when one of their functions is first used.
_LAZY_FUNCTIONS = {
    "_continuous": "cauchy double_sided_maxwell exponential gumbel laplace logistic lognormal maxwell pareto rayleigh triangular truncated_normal wald weibull_min",
    "_counts": "binomial geometric multinomial poisson",
    "_gamma": "ball beta chisquare dirichlet f gamma generalized_normal loggamma t",
    "_selection": "categorical choice permutation",
    "_vectors": "multivariate_normal orthogonal",
}
__getattr__, __dir__ = _late_names(globals(), _LAZY_FUNCTIONS)

__all__ = [
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
