"""Evaluate special functions, with SciPy's names and arguments.

Arguments are real numbers or arrays of them, which broadcast; integers become floating point.

>>> from sagax.scipy import special
>>> special.ndtr(0.0)
Array(0.5, dtype=float32)
"""

from sagax._src.api.stageable import stageable as _stageable
from sagax.scipy.special._bessel import bessel_jn
from sagax.scipy.special._gamma import (
    bernoulli,
    beta,
    betainc,
    betaln,
    comb,
    digamma,
    factorial,
    gamma,
    gammainc,
    gammaincc,
    gammaln,
    gammasgn,
    i0,
    i0e,
    i1,
    i1e,
    loggamma,
    multigammaln,
    poch,
    polygamma,
    zeta,
)
from sagax.scipy.special._harmonics import lpmn, lpmn_values, sph_harm_y
from sagax.scipy.special._hypergeometric import hyp1f1, hyp2f1
from sagax.scipy.special._integrals import exp1, expi, expn, fresnel, sici, spence
from sagax.scipy.special._logs import (
    boxcox,
    boxcox1p,
    entr,
    expit,
    kl_div,
    log_softmax,
    logit,
    logsumexp,
    rel_entr,
    softmax,
    xlog1py,
    xlogy,
)
from sagax.scipy.special._normal import (
    dawsn,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    log_ndtr,
    ndtr,
    ndtri,
    owens_t,
    wofz,
)

_stageable(list(globals().values()))
