"""Generated calls that deliberately give something else than on jax 0.12, as patterns with reasons.

A reason is text of docs/differences.md, unless no program depends on the values. A pattern holds for one kind of
difference: other values, another weak type only, a call that only jax refuses (wider), one that only sagax
refuses (refused). It fits the whole call.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import generated_calls

Kind = Literal["values", "weak type", "wider", "refused"]

# Reasons that need no row in the documentation.
ROUNDING = "rounding errors, of jax or of both"
EXTREME = "derivatives at NaN and infinities, where neither has a meaning"

_FLOAT = rf"\b({'|'.join(generated_calls.FLOATS)}|0\.\d+)\b"
_DERIVATIVE = r"(grad|jvp|vmap_grad) "

DIFFERENCES: list[tuple[Kind, str, str]] = [
    # values
    ("values", rf".* scipy\.stats\.(bernoulli|betabinom|binom|geom|nbinom)\.(log)?pmf\(.*{_FLOAT}.*", "Distributions of integers"),
    (
        "values",
        r".* scipy\.stats\.(bernoulli|beta|betabinom|binom|chi2|gamma|gennorm|geom|multinomial|nbinom|pareto|poisson|truncnorm|gumbel_r|vonmises|wrapcauchy|cauchy)\..*",
        "Distributions with parameters that are not valid",
    ),
    ("values", r".* (numpy\.(argwhere|heaviside|divmod|linalg\.outer)|scipy\.stats\.mode|lax\.lgamma)\(fx.*", "Subnormal numbers in small eager operations"),
    ("values", r".* numpy\.argwhere\(\w+, size=4, fill_value=-1\)", "Padding of sized results"),
    ("values", r".* numpy\.histogram\(v, bins=v.*", "unsorted edges of `histogram`"),
    ("values", r".* numpy\.isin\(fx, .*assume_unique=True.*", "repeated elements under `isin(assume_unique=True)`"),
    ("values", r".* scipy\.linalg\.expm\(sq, upper_triangular=True\)", "full matrices for `expm(upper_triangular=True)`"),
    ("values", r".* scipy\.linalg\.rsf2csf\(sq, sq.*", "`rsf2csf` give other meaningless numbers"),
    ("values", _DERIVATIVE + r"scipy\.linalg\.eigh_tridiagonal\(.*", "`eigh_tridiagonal` in its off-diagonal"),
    ("values", _DERIVATIVE + r"scipy\.linalg\.qr\(f, pivoting=True, mode=.economic.\)", "`qr(pivoting=True, mode='economic')` of wide matrices"),
    ("values", r".* scipy\.sparse\.linalg\.gmres\(.*incremental.*", "both values of `solve_method` compute the same way"),
    ("values", r".* nn\.squareplus\((u32|fx)\)", "`nn.squareplus` squares unsigned integers as floats"),
    ("values", r".* scipy\.special\.sici\(.*", "the cosine integral of `sici`"),
    ("values", r"grad scipy\.special\.spence\(.*", "the derivative of `spence` for negative numbers"),
    ("values", r".* scipy\.special\.loggamma\(z\)", "`loggamma(0)` is infinite"),
    ("values", rf".* scipy\.special\.expn\({_FLOAT}, .*", "`scipy.special.expn` takes any real order"),
    ("values", r".* nn\.log_softmax\(v, where=m > 0\)", "A mask wider than its array"),
    ("values", r".* numpy\.nan(percentile|quantile)\(fx, .*", "Quantiles beside infinite elements"),
    ("values", r".* numpy\.linalg\.tensorsolve\(.*axes=\(1, 0\).*", "`linalg.tensorsolve(axes=...)` moves several axes"),
    ("values", r".* lax\.zeta\(tri, tri\)", "`zeta(x, q)` for x < 1 is NaN at q = 0 too"),
    ("values", r".* nn\.relu\(fx\)", "Derivatives at NaN"),
    ("values", r".* (scipy\.special\.gammaincc|lax\.random_gamma_grad)\((u32|fx|sq), .*", "At huge arguments, where jax overflows"),
    ("values", _DERIVATIVE + r"(lax\.cummin|scipy\.special\.boxcox|scipy\.stats\.expon\.logpdf)\(fx.*", EXTREME),
    (
        "values",
        _DERIVATIVE + r"(numpy\.(corrcoef\(v, dtype|polydiv\(b|linalg\.eigvals\(tri)|scipy\.(special\.comb\(hm|linalg\.expm\(stack)).*",
        ROUNDING,
    ),
    ("weak type", _DERIVATIVE + r".*\bw[fi]\b.*", "Derivatives with respect to Python numbers"),
    # accepted here
    ("wider", r"vmap numpy\.asarray\(.*order=.*", "`order` of `asarray` under `vmap`"),
    ("wider", r".* numpy\.fft\.irfftn\(.*axes=1.*", "an int as `axes` of `irfftn`"),
    ("wider", r".* nn\.logmeanexp\(.*where=b\)", "a mask wider than the array in `logmeanexp`"),
    ("wider", _DERIVATIVE + r"numpy\.(partition\(fc.*axis=None.*|fft\.irfft\(ve\))", "Derivatives that jax lacks"),
    ("wider", r".* scipy\.special\.(log_ndtr|ndtr|spence)\((h|bf)\)", "16-bit floats in"),
    ("wider", r".* scipy\.stats\.(norm|truncnorm)\.\w+\(h.*", "16-bit floats in"),
    ("wider", r".* scipy\.signal\.(csd|welch|stft|detrend)\((h|hm|bf)\b.*", "16-bit floats in"),
    ("wider", r".* nn\.(sigmoid|silu)\((iv|0)\)", "integers in `sigmoid` and `silu`"),
    ("wider", r".* numpy\.round\(i, -1\)", "`round` of integers to tens"),
    ("wider", r".* numpy\.vander\(be, 3\)", "`vander` of booleans"),
    ("wider", r".* (numpy|scipy\.integrate)\.(trapezoid|polydiv)\(ve.*", "empty vectors in `trapezoid` and `polydiv`"),
    ("wider", r".* lax\.cummax\(bf, axis=-1\)", "negative axes in `cummax`"),
    ("wider", r".* scipy\.special\.sph_harm_y\(.*", "`sph_harm_y` without a static `n_max`"),
    ("wider", r".* numpy\.polyder\(.*", "`polyder` differentiates stacks"),
    ("wider", r".* numpy\.polymul\(wi, wi\)", "`polyadd` and its relatives on scalars"),
    (
        "wider",
        _DERIVATIVE
        + r"(lax\.(igamma_grad_a|random_gamma_grad|linalg\.symmetric_product|linalg\.qdwh)|random\.clone|scipy\.linalg\.(qr_multiply|polar|eigh_tridiagonal)"
        r"|jax\.grad\(lambda x: random\.gamma|scipy\.special\.(xlogy|comb)|scipy\.stats\.gumbel_[lr]\.(ppf|pdf))\(.*",
        "Derivatives that jax lacks",
    ),
    ("wider", r"vmap lax\.linalg\.cholesky_update\(.*", "`cholesky_update` under `vmap`"),
    # refused here
    ("refused", r".* numpy\.roll\((v, v|wf, wf).*", "shifts of `roll`"),
    ("refused", r".* numpy\.unravel_index\((v, v|s, s|wf, wf)\)", "indices of `unravel_index` that are floats"),
    ("refused", r".* numpy\.take\(f, ce, .*", "complex indices of `take` where there are none"),
    ("refused", r".* numpy\.fft\.r?fftfreq\(.*dtype='?(int|bool).*", "an integer dtype of `fftfreq`"),
    ("refused", r".* nn\.dot_product_attention\((v|z|2|fx\[None\]|bs\[None\]), .*", "queries of `dot_product_attention` with fewer than three dimensions"),
    ("refused", r".* scipy\.linalg\.eigh_tridiagonal\((f1|csq|fe|ve), .*", "diagonals of `eigh_tridiagonal` that are no vectors"),
    ("refused", r".* scipy\.linalg\.hessenberg\((ie|ve)\)", "`hessenberg` of a vector"),
    ("refused", r".* lax\.shape_as_value\(\w+\)", "arrays in place of shapes in `lax.shape_as_value`"),
    ("refused", r"vmap lax\.linalg\.lu\(ce\)", "vectors of a `vmap` in `lu` and `qr`"),
    ("refused", r".* random\.choice\(.*axis=\(\)\)", "an empty tuple as `axis` of `choice`"),
    ("refused", r".* scipy\.special\.boxcox\(csq, csq\)", "complex numbers in `boxcox`"),
    ("refused", _DERIVATIVE + r"scipy\.special\.expn\(.*", "has no derivative in it"),
]  # fmt: skip


def kind_of(found: Any, expected: Any) -> Kind:
    """The kind of a difference between two outcomes."""
    if isinstance(expected, str):
        return "wider"
    if isinstance(found, str):
        return "refused"
    strong = [[str(head).replace("*", ""), *rest] for head, *rest in found]
    others = [[str(head).replace("*", ""), *rest] for head, *rest in expected]
    return "weak type" if generated_calls.agree(strong, others) else "values"


def fitting(call: str, found: Any, expected: Any) -> list[int]:
    """The numbers of the patterns that a differing call fits."""
    kind = kind_of(found, expected)
    return [
        i
        for i, (of_kind, pattern, _) in enumerate(DIFFERENCES)
        if of_kind == kind and re.fullmatch(pattern, call, re.DOTALL)
    ]
