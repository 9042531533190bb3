"""Generated calls that deliberately give something else than on jax 0.12, as patterns with reasons.

A reason is text of docs/differences.md, unless no program depends on the values. A pattern holds for one kind of
difference: other values, values with more or fewer NaNs than jax's, another weak type only, a call that only jax refuses (wider), one that only sagax
refuses (refused), one that both refuse with errors of unlike classes (class). It fits the whole call, behind which
stands, for classes, what jax gives.
"""

from __future__ import annotations

import functools
import re
import warnings
from typing import Any, Literal

import numpy as np
import scipy.stats

import generated_calls
import sagax
import strict_calls

Kind = Literal["values", "more nans", "fewer nans", "weak type", "wider", "refused", "class"]

# Reasons that need no row in the documentation.
ROUNDING = "rounding errors, of jax or of both"
EXTREME = "derivatives at NaN and infinities, where neither has a meaning"
OVERFLOW = "coordinates and counts beyond the range of their dtype, where neither has a meaning"
ORDER = "an order that the function does not promise"
BASIS = "a basis that is not unique: LAPACK's choice depends on the processor, and jax makes the same on each"
TOLERANCE = "solutions within the tolerance that was asked for"
UNDOCUMENTED = (ROUNDING, EXTREME, OVERFLOW, ORDER, BASIS, TOLERANCE)

_FLOAT = rf"\b({'|'.join(generated_calls.FLOATS)}|0\.\d+)\b"
_INTEGER = rf"({'|'.join(generated_calls.INTEGERS)}|-?\d|np\.int8\(3\)|\[1, 2, 3, 4\])"
_HALF = "(h|hm|bf)"
_NUMBER = r"(s0?|n|w[fi]|bs|-?\d(\.\d)?|True|1j|np\.(float32|int8)\(\S+\))"
_DERIVATIVE = r"(grad|jvp|vmap_grad) "

DIFFERENCES: list[tuple[Kind, str, str]] = [
    # values
    ("values", rf".* scipy\.stats\.(bernoulli|betabinom|binom|geom|nbinom)\.(log)?pmf\(.*{_FLOAT}.*", "Distributions of integers"),
    (
        "more nans",
        r".* scipy\.stats\.(bernoulli|beta|betabinom|binom|chi2|gamma|gennorm|geom|multinomial|nbinom|pareto|poisson|truncnorm|gumbel_r|vonmises|wrapcauchy|cauchy|dirichlet)\..*",
        "Distributions with parameters that are not valid",
    ),
    (
        "values",
        r".* scipy\.stats\.(bernoulli|beta|betabinom|binom|chi2|gamma|gennorm|geom|multinomial|nbinom|pareto|poisson|truncnorm|gumbel_r|vonmises|wrapcauchy|cauchy)\..*\b(fx|big|ix|u32)\b.*",
        "At huge arguments, where jax overflows",
    ),
    ("fewer nans", _DERIVATIVE + r"scipy\.stats\.(beta|binom|chi2|gamma|gennorm|pareto|poisson|truncnorm|nbinom|geom|bernoulli|betabinom)\..*", "Derivatives of distributions where there is no mass"),
    ("values", r".* (numpy\.(argwhere|heaviside|divmod|logical_not|nonzero|compress|extract|linalg\.outer)|scipy\.stats\.mode|lax\.lgamma)\(fx.*", "Subnormal numbers in small eager operations"),
    ("values", r".* numpy\.argwhere\(\w+, size=4, fill_value=-1\)", "Padding of sized results"),
    ("values", r".* numpy\.histogram\(v, bins=v.*", "unsorted edges of `histogram`"),
    ("values", r".* numpy\.isin\(fx, .*assume_unique=True.*", "repeated elements under `isin(assume_unique=True)`"),
    ("values", r".* scipy\.linalg\.expm\((sq|spd), upper_triangular=True\)", "full matrices for `expm(upper_triangular=True)`"),
    ("values", r".* scipy\.linalg\.rsf2csf\(sq, sq.*", "`rsf2csf` give other meaningless numbers"),
    ("values", _DERIVATIVE + r"scipy\.linalg\.eigh_tridiagonal\(.*", "`eigh_tridiagonal` in its off-diagonal"),
    ("values", _DERIVATIVE + r"scipy\.linalg\.qr\(f, pivoting=True, mode=.economic.\)", "`qr(pivoting=True, mode='economic')` of wide matrices"),
    ("values", r".* scipy\.sparse\.linalg\.gmres\(.*incremental.*", "both values of `solve_method` compute the same way"),
    ("values", r".* nn\.squareplus\((u32|fx|big|u8)\b.*", "`nn.squareplus` squares unsigned integers as floats"),
    ("values", _DERIVATIVE + r"scipy\.special\.spence\(.*", "the derivative of `spence` for negative numbers"),
    ("values", r".* scipy\.special\.loggamma\(z\)", "`loggamma(0)` is infinite"),
    ("values", rf".* scipy\.special\.expn\({_FLOAT}, .*", "`scipy.special.expn` takes any real order"),
    ("values", r".* nn\.log_softmax\(v, where=m > 0\)", "A mask wider than its array"),
    ("values", r".* numpy\.nan(percentile|quantile)\(fx, .*", "Quantiles beside infinite elements"),
    ("values", r".* numpy\.linalg\.tensorsolve\(.*axes=\(1, 0\).*", "`linalg.tensorsolve(axes=...)` moves several axes"),
    ("values", r".* (lax|scipy\.special)\.zeta\((tri|fx|ix), .*", "`zeta(x, q)` for x < 1 is NaN at q = 0 too"),
    ("values", r".* nn\.(silu|swish|soft_sign|hard_silu|mish|gelu)\(fx.*", "the activations at infinite arguments"),
    ("values", _DERIVATIVE + r"scipy\.special\.poch\(big.*", EXTREME),
    ("values", r"((grad|jvp|vmap_grad) .*|.* jax\.grad\(lambda x: .*)softmax\(.*\b(bf|h|hm)\b.*", ROUNDING),
    ("values", r".* numpy\.polydiv\((h|bf|hm).*", ROUNDING),
    ("values", r".* numpy\.cov\(be, .*dtype='complex64'.*", "the covariance of nothing"),
    ("values", r".* nn\.relu\(fx\)", "Derivatives at NaN"),
    ("values", r".* (scipy\.special\.(gammaincc?|comb)|lax\.(igammac?|igamma_grad_a|random_gamma_grad))\((u32|fx|sq|big|ix), .*", "At huge arguments, where jax overflows"),
    ("values", _DERIVATIVE + r"(lax\.cummin|scipy\.special\.boxcox|scipy\.stats\.expon\.logpdf)\(fx.*", EXTREME),
    (
        "values",
        _DERIVATIVE + r"(numpy\.(corrcoef\(v, dtype|polydiv\(b|linalg\.eigvals\(tri)|scipy\.(special\.comb\(hm|linalg\.expm\(stack)).*",
        ROUNDING,
    ),
    ("values", r".* numpy\.(nonzero|unique)\((\w*e), .*size=.*", "Padding of sized results"),
    ("values", r".* numpy\.histogram(2d|dd)?\(.*bins=[vw].*", "unsorted edges of `histogram`"),
    ("values", r".* scipy\.linalg\.rsf2csf\(.*", "`rsf2csf` give other meaningless numbers"),
    ("values", r".* (jax\.grad\(lambda x: )?scipy\.linalg\.expm\(.*stack.*", ROUNDING),
    ("values", r".* scipy\.ndimage\.map_coordinates\(.*(u32|ix|fx|big).*", OVERFLOW),
    ("values", _DERIVATIVE + r"scipy\.special\.(xlogy|xlog1py)\(.*", "`xlogy` and `xlog1py` where both are zero"),
    ("values", _DERIVATIVE + r"scipy\.special\.hyp2f1\(.*", "derivatives of `hyp2f1` beyond 1"),
    ("values", _DERIVATIVE + r"scipy\.stats\.dirichlet\.\w+\(.*big.*", EXTREME),
    ("weak type", _DERIVATIVE + r"(nn\.dot_product_attention|numpy\.(float_power|intersect1d|log10|roll|unravel_index)|lax\.max|scipy\.stats\.(gennorm|mode|truncnorm|wrapcauchy)[.\w]*)\(wf\b.*", "Derivatives with respect to Python numbers"),
    ("values", r".* scipy\.special\.poch\(i8, 2\)", "`poch` of negative integers"),
    ("values", r".* scipy\.special\.lpmn_values\(.*", "`lpmn_values` outside of (-1, 1)"),
    ("values", r".* scipy\.special\.sph_harm_y\(.*n_max=.*", OVERFLOW),
    ("values", _DERIVATIVE + r"scipy\.stats\.expon\.logcdf\(.*loc=v.*", EXTREME),
    ("values", _DERIVATIVE + r"lax\.bessel_i[01]e?\(fx\)", EXTREME),
    ("values", r".* numpy\.poly\(big\)", OVERFLOW),
    ("values", r".* scipy\.special\.(polygamma|digamma|zeta)\(.*fx.*", "the polygamma functions at infinity"),
    ("values", r".* numpy\.argpartition\(.*fx.*", ORDER),
    ("values", r".* (scipy|lax)\.linalg\.(schur|eig)\(stack\)|vmap scipy\.linalg\.svd\(i\)|jit scipy\.linalg\.svd\(\[v, v\]\)|jit numpy\.linalg\.cond\(i\)", BASIS),
    ("values", r".* numpy\.nanquantile\((be, be|ve, ve|\we, \we).*", "Quantiles of nothing"),
    ("values", r".* scipy\.stats\.gaussian_kde\((big|spd|tri|sq).*", "covariances that are singular"),
    ("values", _DERIVATIVE + r"scipy\.stats\.norm\.log(sf|cdf|pdf)\(fx.*", EXTREME),
    ("values", _DERIVATIVE + r"scipy\.special\.wofz\(big.*", "the derivative of `wofz` far from 0"),
    ("values", r".* numpy\.polyfit\((ix|u32|big|fx|i16), .*", OVERFLOW),
    ("values", r".* scipy\.linalg\.lu_solve\(\(\w+, (perm|ix|im) - 1\).*", OVERFLOW),
    ("values", _DERIVATIVE + r"numpy\.unique\w*\(fx.*", EXTREME),
    ("values", r".* scipy\.special\.hyp1f1\((big|fx|ix), .*", "At huge arguments, where jax overflows"),
    ("values", r".* numpy\.linalg\.cholesky\(.*upper=True, symmetrize_input=False.*", "reads the upper triangle"),
    ("values", r".* numpy\.linalg\.cholesky\(.*symmetrize_input=False, upper=True.*", "reads the upper triangle"),
    ("values", r".* numpy\.(nan)?(median|quantile|percentile)\((wf|s0?|n|wi|bs|-?\d|True).*keepdims=True.*", "`median` of a number"),
    ("values", r".* numpy\.gradient\((bf|h|hm).*", ROUNDING),
    ("values", r".* numpy\.\w+\(fc, .*weights=fc.*", "weights that are negative"),
    ("values", _DERIVATIVE + r"numpy\.(var|std)\((f1|v1), .*ddof=1.*", EXTREME),
    ("values", r".* numpy\.(nan)?(var|std|mean)\(.*dtype=(int|'int32'|bool).*", "an integer dtype of `std`"),
    ("values", _DERIVATIVE + r"random\.(gamma|loggamma|beta|dirichlet|t|f|chisquare)\(key, (fx|big|u32).*", EXTREME),
    ("values", r".* scipy\.special\.(beta|betaln|poch|comb)\(big, big.*", "At huge arguments, where jax overflows"),
    ("values", r".* numpy\.polyfit\(.*cov=.*", ROUNDING),
    ("values", r".* scipy\.fft\.i?dctn?\((bf|h|hm).*", ROUNDING),
    ("values", _DERIVATIVE + r"scipy\.special\.(exp1|expi)\(fx.*", EXTREME),
    ("values", r".* scipy\.special\.spence\((fx|big).*", "At huge arguments, where jax overflows"),
    ("values", _DERIVATIVE + r"numpy\.linalg\.lstsq\(.*", "the derivative of `lstsq` of wide matrices"),
    ("values", _DERIVATIVE + r"scipy\.stats\.expon\.logcdf\((tri|z|w|fx|big).*", EXTREME),
    ("values", r".* (lax\.rem|numpy\.(fmod|remainder|mod|divmod|floor_divide))\(fx, .*", "Subnormal numbers in small eager operations"),
    ("values", _DERIVATIVE + r"numpy\.vander\(.*", "of `vander` at 0"),
    ("values", r".* (scipy\.special|nn)\.(log_)?softmax\((ix|u32|i8|i16|u8|im).*", "`softmax` of integers"),
    ("weak type", r".* lax\.custom_root\(lambda x: x - 2\.0, 1\.0, .*", "`custom_root` whose solver returns the guess itself"),
    ("weak type", r".* jax\.grad\(.*\)\((3\.0|0\.5|2\.0|1\.0)\)", "Derivatives with respect to Python numbers"),
    ("weak type", r".* scipy\.stats\.\w+\.\w+\((True, True|be, be).*", "`bernoulli.ppf` of integer scalars"),
    ("weak type", r".* scipy\.sparse\.linalg\.\w+\(lambda x: x, .*", "`cg`, `gmres` and `bicgstab` give"),
    ("weak type", r".* scipy\.stats\.bernoulli\.ppf\(.*", "`bernoulli.ppf` of integer scalars"),
    ("values", r".* jax\.(jacrev|jacfwd)\(lambda x: x \*\* 2\)\(big\)", EXTREME),
    # accepted here
    ("wider", _DERIVATIVE + r"lax\.custom_root\(.*", "`custom_root` whose solver returns the guess itself"),
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
    ("wider", r".* nn\.(sigmoid|silu)\((.*\W)?([iu]\w*|n|b\w?|perm|wi|True|-?\d|np\.(int8|arange).*)\)", "integers in `sigmoid` and `silu`"),
    ("wider", r".* numpy\.round\(.*-1\)", "`round` of integers to tens"),
    ("wider", rf".* scipy\.special\.(log_ndtr|ndtr)\(({_HALF}|{_INTEGER}|b\w?|True)\)", "integers in `ndtr`"),
    ("wider", r".* scipy\.stats\.norm\.(ppf|isf)\(.*", "integers in `ndtr`"),
    ("wider", r".* scipy\.stats\.norm\.\w+\(.*\b(bf|h|hm)\b.*", "16-bit floats in"),
    ("wider", r".* nn\.log_softmax\((s0|wf|s), axis=0, where=b.*", "A mask wider than its array"),
    ("wider", r".* numpy\.(extract|compress)\(.*size=.*", "`extract`, `compress`, `trim_zeros` and `delete` whose sizes are known"),
    ("wider", rf".* numpy\.(delete\({_NUMBER}, .*|trim_zeros\(({_NUMBER}|np\.arange).*)", "`extract`, `compress`, `trim_zeros` and `delete` whose sizes are known"),
    ("wider", r".* numpy\.unique\w*\((3\.0|2|np\.int8\(3\)|-1|0|0\.5|True|1j).*", "`unique` of numbers under `jit`"),
    ("wider", r".* random\.lognormal\(.*dtype=.*", "16-bit floats in `lognormal`"),
    ("wider", r".* scipy\.linalg\.(dft|hadamard)\(.*dtype=.*", "every dtype in `dft` and `hadamard`"),
    ("wider", r".* scipy\.linalg\.(hankel|toeplitz|fiedler)\((\[|\d|s|n|w|-|T|np).*", "numbers and lists in `hankel`"),
    ("wider", r".* jax\.grad\(lambda x: numpy\.linalg\.svd\(x\)\[1\]\.sum\(\)\)\(.*", "Derivatives that jax lacks"),
    ("wider", r".* nn\.dot_product_attention\(.*bias=True.*", "numbers as flags"),
    ("wider", r".* nn\.(log1mexp|log_sigmoid|softplus|celu|elu|selu|gelu|mish)\((b\w?|True).*", "booleans in activations"),
    ("wider", r".* numpy\.(arg)?partition\(.*axis=None.*", "`argpartition(axis=None)`"),
    ("wider", r"(jit|vmap|grad|jvp|vmap_grad) numpy\.(array|asarray|copy)\(.*order=.*", "`order` of `asarray` under `vmap`"),
    ("wider", r".* numpy\.choose\(be, .*", "empty choices in `choose`"),
    ("wider", r".* numpy\.poly(div|mul|sub|add|der)\((n|s0?|-?\d|bs|w[fi]|np\.\S+|\d\.\d|True), .*", "`polyadd` and its relatives on scalars"),
    ("wider", r".* numpy\.vander\(b[ve]?, .*", "`vander` of booleans"),
    ("wider", r".* scipy\.linalg\.sqrtm\((stack|t).*", "`sqrtm` takes stacks"),
    ("wider", r".* scipy\.signal\.\w+\(ve.*", "empty signals"),
    ("wider", rf".* scipy\.special\.spence\(({_HALF}|{_INTEGER}|b\w?|True)\)", "integers in `ndtr`"),
    ("wider", rf".* scipy\.special\.ndtri\(({_HALF}|{_INTEGER}|b\w?|True)\)", "integers in `ndtr`"),
    ("wider", rf".* jax\.grad\(lambda x: numpy\.interp\(.*\)\)\({_HALF}\)", "16-bit floats in `lognormal`"),
    ("wider", r".* numpy\.histogram2d\(v1, v1.*", "one point in `histogram2d`"),
    ("wider", r".* numpy\.linalg\.tensorsolve\(.*axes=1\)", "an int as `axes` of `irfftn`"),
    ("wider", r".* numpy\.ravel_multi_index\(\(b\w?, b\w?\).*", "booleans in `ravel_multi_index`"),
    ("wider", r".* (numpy|scipy\.integrate)\.trapezoid\([bvf]e.*", "empty vectors in `trapezoid` and `polydiv`"),
    ("wider", r".* scipy\.linalg\.convolution_matrix\(.*", "numbers in `convolution_matrix`"),
    ("wider", r".* scipy\.linalg\.(funm|sqrtm)\(stack.*", "`funm` and `sqrtm` of stacks"),
    ("wider", r".* scipy\.sparse\.linalg\.\w+\(.*\((h|bf|hm), .*", "trees of several dtypes in `cg`"),
    ("wider", rf".* scipy\.stats\.multinomial\.(log)?pmf\({_FLOAT}, .*", "numbers that are not whole in `multinomial`"),
    ("wider", r".* scipy\.stats\.truncnorm\.\w+\((bf|h|hm).*", "16-bit floats in"),
    ("wider", rf".* nn\.(swish|glu)\(({_INTEGER}|b\w?|True)\)", "integers in `sigmoid` and `silu`"),
    ("wider", r".* numpy\.(arg(max|min)|nanarg(max|min))\((c|cv|1j|csq|ce)\b.*", "complex numbers in `argmax`"),
    ("wider", r".* numpy\.fft\.\w+\((h|bf|hm)\b.*", "16-bit floats in"),
    ("wider", r".* numpy\.kron\(b\w?, .*", "booleans in `kron`"),
    ("wider", r".* nn\.log_softmax\(True, .*", "booleans in activations"),
    ("wider", r"plain numpy\.copy\(.*order=.*", "`order` of `asarray` under `vmap`"),
    ("wider", r".* numpy\.linalg\.(matrix_rank|cond|norm)\((fe|te).*", "empty matrices in `pinv`"),
    ("wider", r".* numpy\.(matmul|vecdot|dot|inner|vdot|tensordot)\(.*preferred_element_type=.*", "every `preferred_element_type`"),
    ("wider", rf".* numpy\.nan(argmax|argmin)\(({_NUMBER}|c|cv|csq)\b.*", "`nanargmax` of numbers"),
    ("wider", r".* numpy\.nan(mean|std|var)\(.*dtype=(int|'int32'|bool).*", "an integer dtype of `std`"),
    ("wider", rf".* numpy\.nan(quantile|percentile)\({_INTEGER}, .*", "of integer `q`"),
    ("wider", r".* numpy\.(std|var|mean)\(.*dtype=(int|'int32'|bool).*", "an integer dtype of `std`"),
    ("wider", r".* scipy\.linalg\.polar\((sq|stack|spd|csq).*side='left'.*", "`polar` on the left side"),
    ("wider", r".* scipy\.special\.polygamma\(.*", "orders of `polygamma` that are not integers"),
    ("wider", r".* scipy\.stats\.dirichlet\.(log)?pdf\((f1|fc|spd|sq|tri)\b.*", "several distributions in `dirichlet`"),
    ("wider", r".* scipy\.stats\.gaussian_kde\(fe\).*", "`gaussian_kde` of nothing"),
    ("wider", rf".* numpy\.polyfit\({_INTEGER}, .*", "integers in `polyfit`"),
    ("wider", r".* numpy\.poly(div|der)\((1j|\we), .*", "`polyadd` and its relatives on scalars"),
    ("wider", rf".* numpy\.quantile\((f, {_HALF}|{_HALF}, v)\b.*weights=.*", "weights of `quantile` of other dtypes"),
    ("wider", r".* scipy\.signal\.\w+\([tf]e.*", "empty signals"),
    ("wider", r".* scipy\.signal\.\w+\((h|bf|hm), .*method=.fft.*", "16-bit floats in"),
    ("wider", rf".* scipy\.special\.lpmn_values\(\d, \d, ({_HALF}|{_INTEGER}), .*", "16-bit floats in `lognormal`"),
    ("wider", r".* numpy\.interp\((bf|h|hm).*", "16-bit floats in `lognormal`"),
    ("wider", r".* numpy\.histogramdd\(.*bins=v.*", "one array of edges in `histogramdd`"),
    ("wider", r".* numpy\.insert\((bv, bv, bv|wi, wi, wi), .*", "every `insert` whose size is known"),
    ("wider", r".* lax\.linalg\.ormqr\((sq|spd|stack|tri), .*left=0\.0.*", "numbers as flags"),
    ("wider", r".* numpy\.fft\.i?r?fft[2n]?\(hm.*", "16-bit floats in"),
    ("wider", r".* numpy\.linalg\.pinv\(te.*", "empty matrices in `pinv`"),
    ("wider", r".* numpy\.polydiv\(ce, .*", "empty vectors in `trapezoid` and `polydiv`"),
    ("wider", rf".* numpy\.polyint\({_NUMBER}.*", "`polyadd` and its relatives on scalars"),
    ("wider", _DERIVATIVE + r"scipy\.stats\.multinomial\.l?o?g?pmf\(.*", "Derivatives that jax lacks"),
    # refused here
    ("refused", r".* numpy\.(any|all|nansum|nanprod|nanstd)\((v|v1|f1), .*where=(m > 0|b|bv)(?!\w).*", "a mask wider than the array in `any` and `all`"),
    ("refused", r".* numpy\.isin\(.*method='(?!sort|auto|compare_all|binary_search).*", "a `method` of `isin` that does not exist"),
    ("refused", r".* numpy\.repeat\((\w+), (f\w?|v\w?|t|s0?|h|hm|bf|wf|z|w|m|big|te|c\w*|tri|spd|sq|stack)\b.*", "repeats that are floats"),
    ("refused", r".* numpy\.trapezoid\(.*axis=\(-1,\).*", "a tuple as `axis` of `trapezoid`"),
    ("refused", r".* numpy\.unique\(te, .*axis=-1.*", "`unique` along an axis of an empty array"),
    ("refused", r".* random\.fold_in\(key, .*", "floats in `random.fold_in`"),
    ("refused", r".* random\.rademacher\(.*dtype=bool.*", "a dtype of `rademacher` without -1"),
    ("refused", r"vmap scipy\.linalg\.hessenberg\(\we.*", "vectors of a `vmap` in `lu` and `qr`"),
    ("refused", r".* numpy\.piecewise\(\w+, \[b, ~b\].*", "conditions of `piecewise` with more dimensions than the array"),
    ("refused", r".* numpy\.kaiser\(\d, (?!t\b)\w+.*\)", "a `beta` of `kaiser` that is no number"),
    ("refused", r".* numpy\.pad\((fe|te|ve|ce|ie|be), .*mode=.(mean|maximum|minimum|median|edge|reflect|symmetric|wrap|linear_ramp).*", "`pad` of empty arrays with what they lack"),
    ("refused", r".* numpy\.(cross|unpackbits|packbits)\(.*axis=\(-1,\).*", "a tuple as `axis` of `trapezoid`"),
    ("refused", rf".* numpy\.(cumsum|cumprod|cumulative_sum|nancumsum|nancumprod|sort|argsort|flip)\({_NUMBER}, .*axis=(0|-1).*", "an `axis` of a number"),
    ("refused", r".* numpy\.fft\.\w+\(.*axis=None.*", "None as `axis` of Fourier transforms"),
    ("refused", r"vmap numpy\.(setxor1d|intersect1d|union1d|setdiff1d)\((fe|ve|\we), .*", "set operations without `size` under `vmap`"),
    ("refused", r".* random\.multivariate_normal\(.*dtype='float16'.*", "a narrow dtype of `multivariate_normal` beside wider parameters"),
    ("refused", r".* scipy\.linalg\.fiedler_companion\((\S+)\)", "numbers in `fiedler_companion`"),
    ("refused", r".* numpy\.nan(median|percentile|quantile)\((\we).*", "medians of nothing beside NaN"),
    ("refused", r".* numpy\.trapezoid\(\w+, f1.*", "points of `trapezoid` with more dimensions than the values"),
    ("refused", r"vmap scipy\.signal\.(csd|welch|stft)\(ve.*", "empty rows of a `vmap` in `csd`"),
    ("refused", r".* numpy\.repeat\((\w+, \w+, .*axis=5.*|(s|s0|n|wf|wi|bs|-?\d), .*axis=1.*)", "an `axis` of a number"),
    ("refused", r".* numpy\.cov\(\we, .*", "the covariance of no observations with weights"),
    ("refused", r".* numpy\.poly(mul|div|add|sub)\((fe|te|f|m|t), .*", "matrices as polynomials"),
    ("refused", r".* lax\.polynomial\((fc|\we|m|f|t), .*", "coefficients of `lax.polynomial` that are no vector or none"),
    # other classes
    ("class", rf".* numpy\.polyfit\({_HALF}\b.*", "jax fails inside with another class"),
    ("class", r".* scipy\.linalg\.(funm|sqrtm)\(stack.*", "`funm` and `sqrtm` of stacks"),
    ("class", r".* raises (AssertionError|AttributeError|IndexError|KeyError|NotImplementedError|RuntimeError|ZeroDivisionError|NameError)( .*)?", "jax fails inside with another class"),
    ("refused", r".* numpy\.roll\((\S+), (?!(i|n|iv|u8|u32|i8|i16|ix|ie|im|b|bv|be|bs|perm|wi|\d|-\d|\(\d, \d\))[,)]).*", "shifts of `roll`"),
    ("refused", r".* numpy\.unravel_index\((?!(i|n|iv|u8|u32|i8|i16|ix|ie|im|perm|wi)\b).*\)", "indices of `unravel_index` that are floats or booleans"),
    ("refused", r".* numpy\.take\(f, (ce|ve|fe), .*", "complex or floating indices of `take` where there are none"),
    ("refused", r".* numpy\.fft\.r?fftfreq\(.*dtype='?(int|bool).*", "an integer dtype of `fftfreq`"),
    ("refused", r".* nn\.dot_product_attention\((?!(t|te|stack)\b|jnp|f\[|m\[|z\[)\S+, .*", "queries of `dot_product_attention` with fewer than three dimensions"),
    ("refused", r".* scipy\.linalg\.eigh_tridiagonal\((f1|csq|fe|ve|v1), .*", "diagonals of `eigh_tridiagonal` that are no vectors"),
    ("refused", r".* scipy\.linalg\.hessenberg\((ie|ve)\b.*", "`hessenberg` of a vector"),
    ("refused", r".* lax\.shape_as_value\(\w+\)", "arrays in place of shapes in `lax.shape_as_value`"),
    ("refused", r"vmap lax\.linalg\.(lu|qr|geqrf|geqp3|schur|eigh?|svd|qdwh)\((ce|\w+).*", "vectors of a `vmap` in `lu` and `qr`"),
    ("refused", r".* random\.choice\(.*axis=(\(.*\)|None).*", "a tuple or None as `axis` of `choice`"),
    ("refused", r".* scipy\.(special\.boxcox|stats\.(logistic\.\w+|(expon|pareto)\.ppf))\((csq|1j|c|cv)\b.*", "complex numbers in `boxcox`, `logistic` and quantiles"),
    ("refused", _DERIVATIVE + r"scipy\.special\.expn\(.*", "has no derivative in it"),
    # of a second recording
    ("values", r".* scipy\.special\.expi\((fx|h|hm)\b.*", "`expi` at infinity and of 16-bit floats"),
    ("values", r".* scipy\.special\.loggamma\((0|b|bv|bs)\)", "`loggamma(0)` is infinite"),
    ("values", r".* lax\.zeta\((w, w|big, big)\)", "`zeta(x, q)` for x < 1 is NaN at q = 0 too"),
    ("values", r".* numpy\.linalg\.(vector_)?norm\((i8|i16|u8)\b.*", "norms of narrow integers"),
    ("values", _DERIVATIVE + r"numpy\.(dot|matmul|inner|vdot|vecdot|tensordot)\(.*preferred_element_type=jnp\.bfloat16.*", ROUNDING),
    ("values", r"grad jax\.grad\(lambda x: numpy\.linalg\.qr\(x\)\[0\]\.sum\(\)\)\(m\)", ROUNDING),
    ("values", _DERIVATIVE + r"scipy\.linalg\.qr\(f, pivoting=True, mode=.economic.,.*", "`qr(pivoting=True, mode='economic')` of wide matrices"),
    ("values", _DERIVATIVE + r"scipy\.special\.comb\(h, h\)", ROUNDING),
    ("weak type", r".* jax\.grad\(lambda x: numpy\.quantile\(x, 0\.3\)\)\(wf\)", "Derivatives with respect to Python numbers"),
    ("wider", r".* numpy\.quantile\(n, n, method=.*", "of integer `q`"),
    ("wider", r".* scipy\.linalg\.eigh_tridiagonal\((bv, bv|perm, perm|iv, iv)\[.*", "integers in `eigh_tridiagonal`"),
    ("wider", r".* scipy\.signal\.welch\(.*axis=\(-1,\).*", "a tuple of one as `axis` of `welch`"),
    ("wider", r"vmap scipy\.sparse\.linalg\.gmres\(.*incremental.*", "both values of `solve_method` compute the same way"),
    ("refused", r".* numpy\.repeat\(np\.float32\(0\.3\), np\.float32\(0\.3\), .*", "repeats that are floats"),
    ("refused", r".* scipy\.integrate\.trapezoid\(f, t\)", "points of `trapezoid` with more dimensions than the values"),
    ("refused", r".* scipy\.linalg\.eigh_tridiagonal\(sq, sq\[:3\].*", "diagonals of `eigh_tridiagonal` that are no vectors"),
    ("refused", r".* scipy\.stats\.gaussian_kde\(fc\)\..*", "`gaussian_kde` of one observation"),
    ("refused", r".* random\.multivariate_normal\(.*dtype=jnp\.bfloat16.*", "a narrow dtype of `multivariate_normal` beside wider parameters"),
    ("refused", r".* random\.(loggamma|gamma|poisson)\(key, 1j.*", "complex parameters of `gamma`"),
    ("values", r".* nn\.standardize\(ix\)", "`nn.standardize` of great integers"),
    ("wider", r".* nn\.standardize\((c|cv|csq|ce)\)", "complex numbers in `nn.standardize`"),
    ("class", r".* lax\.cumlogsumexp\(.* raises OverflowError ArithmeticError", "`lax.cumlogsumexp` refuses integers"),
    ("class", r".* numpy\.delete\(bs, bs, axis=-1\) .*", "an `axis` of a number"),
    # of a third recording
    ("values", _DERIVATIVE + r"scipy\.stats\.wrapcauchy\..*", "Distributions with parameters that are not valid"),
    ("values", r".* numpy\.polydiv\(big, .*", ROUNDING),
    ("wider", r".* nn\.log_softmax\((bf|h|hm|v), axis=\(0, 1\), where=m > 0\)", "A mask wider than its array"),
    ("values", r".* nn\.softmax\(v, where=b\)", "A mask wider than its array"),
    ("values", r".* scipy\.stats\.gumbel_[lr]\.ppf\((perm|iv|bv|im|z|w)\)", "`gumbel_l.ppf` of 0 and 1"),
    # of a fourth recording
    ("refused", r".* numpy\.interp\(ve, ve, ve, .*period=.*", "no points in `interp` with a period"),
    ("values", r".* numpy\.cov\(f, (fweights=i8|aweights=i16).*", "weights that are negative"),
    ("wider", _DERIVATIVE + r"scipy\.stats\.gumbel_[lr]\.logpdf\(b\w?, .*", "Derivatives that jax lacks"),
    ("wider", r".* numpy\.quantile\(f, 0, .*method=.*", "of integer `q`"),
    ("wider", r".* scipy\.stats\.multinomial\.(log)?pmf\(np\.arange\(4\.0\), .*", "numbers that are not whole in `multinomial`"),
    ("refused", r".* numpy\.unravel_index\((i16|i|iv|u8|u32|i8|ix|perm), \1\)", "traced shapes in `unravel_index`"),
    ("wider", r".* scipy\.signal\.csd\(.*axis=\(-1,\).*", "a tuple of one as `axis` of `welch`"),
    ("wider", r".* \w+\.(std|var|mean)\(.*dtype=(int|'int32'|bool).*", "an integer dtype of `std`"),
    ("values", r".* random\.choice\(key, .*p=big / big\.sum\(\)\)", "weights that are negative"),
    ("refused", r".* ops\.segment_\w+\(te\.T, iv, 5\)", "segments of another number than the rows"),
    ("wider", r".* numpy\.choose\(True, \[True.*", "numbers as choices of `choose`"),
    ("weak type", r".* scipy\.special\.rel_entr\(np\.int8\(3\), 0\.5\)", "`rel_entr` of an integer and a Python number"),
    ("wider", r".* nn\.dot_product_attention\(.*seq_lengths=(u8|u32|i8|i16)\[.*", "other integers than int32 as lengths of sequences"),
    ("values", r".* numpy\.histogram\((bf|big), bins=(bf|big)\b.*", "unsorted edges of `histogram`"),
    ("more nans", r".* jax\.grad\(lambda x: random\.gamma\(key, x\)\.sum\(\)\)\(.*", "Distributions with parameters that are not valid"),
    ("refused", r".* jax\.grad\(lambda x: random\.gamma\(key, x\)\.sum\(\)\)\(1j\)", "complex parameters of `gamma`"),
    ("values", _DERIVATIVE + r"numpy\.sqrt\(fx\)", "Subnormal numbers in small eager operations"),
    ("values", r".* lax\.betainc\(fx, fx, fx\)", "`betainc` of a subnormal"),
    ("wider", r".* numpy\.repeat\(.*axis=\(-1,\), total_repeat_length=.*", "and of `repeat` where `total_repeat_length` is given"),
    ("values", r".* numpy\.correlate\(big, big, mode=.full.*", ROUNDING),  # a product that overflows, or is added before it is rounded
    ("wider", r".* nn\.one_hot\((b\w?|True), .*", "booleans in `kron` and `one_hot`"),
    ("refused", r".* scipy\.stats\.multivariate_normal\.(log)?pdf\(s0?, s0?, (sq|spd|tri)\)", "a number as the mean of `multivariate_normal`"),
    # of a fifth recording
    ("values", r".*\bscipy\.special\.bessel_jn\(.*", "`bessel_jn` is accurate at all real numbers"),
    ("values", _DERIVATIVE + r"jax\.hessian\(lambda x: numpy\.linalg\.det\(x\)\)\((sq|stack)\)", ROUNDING),
    ("values", r".* jax\.(jvp|grad)\(.*scipy\.linalg\.expm.*\(stack.*", ROUNDING),  # those of jax are 0.1 % off
    ("values", r".* jax\.jvp\(numpy\.linalg\.qr, \(z,\), \(z,\)\)", EXTREME),
    ("values", r".* random\.choice\(k, fx, \(2,\), p=fx\).*", "weights that are negative"),
    ("values", r".* numpy\.histogram\(x\)\[0\]\)\(u32\)", OVERFLOW),
    ("values", r".* numpy\.histogram2d\((bf|h|hm|v), \1, bins=\1, density=True\)", "unsorted edges of `histogram`"),
    ("values", _DERIVATIVE + r"numpy\.histogramdd\(f, bins=2, weights=v\[:3\], density=True\)", ROUNDING),
    ("values", r".* numpy\.histogramdd\(f, bins=2, weights=cv\[:3\], density=True\)", "edges of a histogram by complex weights"),
    ("values", _DERIVATIVE + r"lax\.ragged_dot\(.*preferred_element_type=jnp\.bfloat16\)", ROUNDING),
    ("values", r"vmap lax\.sign\(fx\)", "Subnormal numbers in small eager operations"),
    ("values", r".* lax\.zeta\(z, z\)", "`zeta(x, q)` for x < 1"),
    ("values", r"grad numpy\.geomspace\(s, s, .*dtype='float16'\)", ROUNDING),
    ("values", r".* numpy\.logical_xor\.\w+\(.*", "`logical_xor` and its like"),
    ("wider", r".* numpy\.logical_xor\.\w+\(.*", "`logical_xor` and its like"),
    ("refused", r".* numpy\.logical_xor\.reduce(at)?\(.*", "`logical_xor` and its like"),
    ("values", _DERIVATIVE + r"numpy\.partition\(z, 1, axis=0\)", ORDER),
    ("values", r".* numpy\.percentile\(fx, fx, axis=\(\)\)", "Quantiles beside infinite elements"),
    ("values", r".* numpy\.poly\(fx\)", EXTREME),
    ("values", r".* numpy\.nanquantile\(f, fx, axis=0\)", EXTREME),
    ("values", r"vmap numpy\.polyfit\(bf, h\.T, 1\)", ROUNDING),
    ("values", r"grad numpy\.quantile\(big, big\)", EXTREME),
    ("values", r".* ops\.segment_\w+\((v|tri), u32, 5, mode=.clip.\)", "**Narrow indices**"),
    ("values", r".* scipy\.signal\.stft\(fx\)", EXTREME),
    ("values", r".* scipy\.sparse\.linalg\.gmres\(csq, c(v|sq), M=csq, restart=2, atol=0\.1\)", TOLERANCE),
    ("values", r".* scipy\.special\.betainc\(fx, fx, fx\)", "`betainc` of a subnormal"),
    ("values", r"jvp scipy\.special\.fresnel\(fx\)", EXTREME),
    ("values", r".* scipy\.special\.loggamma\((i8|w)\)", "`loggamma(0)` is infinite"),
    ("values", r".* scipy\.special\.polygamma\(im, i8\)", "the polygamma functions at infinity"),
    ("values", r"jvp scipy\.stats\.beta\.logpdf\(v, v, v, scale=v\)", EXTREME),
    ("values", r".* numpy\.corrcoef\(ce, .*dtype=float\)", "the covariance of nothing"),
    ("wider", r".* jax\.jvp\(numpy\.linalg\.svd, \((fe|te),\), .*", "Derivatives that jax lacks"),
    ("wider", r".* lax\.conv_general_dilated_patches\(t, .*", "the `precision` of `conv_general_dilated_patches`"),
    ("wider", r".* lax\.(cumlogsumexp|cummax)\(.*axis=-1.*", "negative axes in `cummax`"),
    ("wider", _DERIVATIVE + r"lax\.ragged_dot\(.*", "Derivatives that jax lacks"),
    ("wider", r".* lax\.reduce_sum\(be, .*", "`lax.reduce_sum` of booleans"),
    ("wider", r".* nn\.logmeanexp\(v, where=m > 0\)", "a mask wider than the array in `logmeanexp`"),
    ("wider", r".* numpy\.histogram2d\((\w+), \1, bins=\1, .*range=\(0, 1\)\)", "one array of edges in `histogramdd`"),
    ("wider", r".* numpy\.linalg\.cross\(.*axis=None\)", "None as the `axis` of `partition`"),
    ("wider", rf".* numpy\.(nan)?quantile\({_INTEGER}, {_INTEGER}\)", "of integer `q`"),
    ("wider", r".* numpy\.nanquantile\(True, True\)", "of integer `q`"),
    ("wider", r".* numpy\.(put|place)\(.*inplace=False.*", "every number of values in `put`"),
    ("refused", r".* numpy\.put\(ve, .*", "every number of values in `put`"),
    ("wider", r".* random\.choice\(key, (5|n), .*axis=.*", "an `axis` of numbers in `choice`"),
    ("wider", _DERIVATIVE + r"scipy\.linalg\.solve\(stack, v, assume_a=.pos.\)", "Derivatives that jax lacks"),
    ("wider", r".* scipy\.signal\.fftconvolve\((h|hm|bf), .*", "and Fourier transforms"),
    ("wider", r".* scipy\.signal\.fftconvolve\((1j|wf), .*axes=\(\d, \d\).*", "an `axis` of numbers in `choice`"),
    ("wider", r".* scipy\.special\.lpmn_values\(3, 3, cv, False\)", "`poch` of negative integers and of large arguments"),
    ("refused", r".* lax\.index_take\(ie, .*", "no elements to take from"),
    ("refused", r".* numpy\.take\(fe, fe, .*", "no elements to take from"),
    ("refused", r".* numpy\.(sum|nanprod)\((v|0\.5|3\.0), .*where=bv?\)", "a mask wider than the array in `any` and `all`"),
    ("refused", r".* random\.uniform\(.*minval=1j.*", "complex parameters of `gamma`"),
    ("refused", r".* scipy\.integrate\.trapezoid\(.*axis=\(-1,\)\)", "a tuple as `axis` of `trapezoid`"),
    ("refused", r".* scipy\.linalg\.eigh_tridiagonal\(tri, .*", "diagonals of `eigh_tridiagonal` that are no vectors"),
    ("weak type", r".* numpy\.gradient\(b, 2\.0, axis=0\)", "`gradient` of booleans"),
]  # fmt: skip


# Distributions by the names of SciPy's, which tells where parameters are valid.
_DISTRIBUTION = re.compile(
    r"\w+ scipy\.stats\.(\w+)\.(\w+)(\(.*\))|.* (random\.gamma)\(.*", re.DOTALL
)


@functools.cache
def _names() -> dict[str, Any]:
    return {**strict_calls.scope(sagax), **generated_calls.operands(sagax)}


def leaves_the_distribution(call: str) -> bool:
    """Whether a parameter is not valid, or a probability or a number of the call is none. True for calls of other functions."""
    found = _DISTRIBUTION.fullmatch(call)
    if found is None or found[4] or found[1] not in SHAPES:
        return True
    name, function, text = found[1], found[2], found[3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, options = eval(f"(lambda *args, **options: (args, options)){text}", _names())
    args, options = [
        sagax.tree.map(lambda x: np.asarray(x, np.float64), given) for given in (args, options)
    ]
    numbers = [*args, *options.values()]
    if any(np.isnan(x).any() for x in numbers):
        return True
    at, shapes = (None, args) if function == "entropy" else (args[0], args[1:])
    count = SHAPES[name]
    given = dict(zip(("loc", "scale"), shapes[count:]), **options)
    if function in ("ppf", "isf") and not ((at >= 0) & (at <= 1)).all():
        return True
    return not (
        np.all(getattr(scipy.stats, name)._argcheck(*shapes[:count]))
        and np.all(given.get("scale", 1.0) > 0)
    )


# How many parameters come before location and scale.
SHAPES = {
    **dict.fromkeys(("cauchy", "gumbel_r"), 0),
    **dict.fromkeys(
        "bernoulli chi2 gamma gennorm geom pareto poisson vonmises wrapcauchy".split(), 1
    ),
    **dict.fromkeys(("beta", "binom", "nbinom", "truncnorm"), 2),
    "betabinom": 3,
}


def kind_of(found: Any, expected: Any) -> Kind:
    """The kind of a difference between two outcomes."""
    if isinstance(expected, str):
        return "class" if isinstance(found, str) else "wider"
    if isinstance(found, str):
        return "refused"
    strong = [[str(head).replace("*", ""), *rest] for head, *rest in found]
    others = [[str(head).replace("*", ""), *rest] for head, *rest in expected]
    return "weak type" if generated_calls.agree(strong, others) else "values"


def fitting(call: str, found: Any, expected: Any) -> list[int]:
    """The numbers of the patterns that a differing call fits."""
    kind = kind_of(found, expected)
    text = f"{call} {expected}" if kind == "class" else call
    kinds: set[Kind] = {kind}
    if kind == "values" and _nans(found) > _nans(expected) and leaves_the_distribution(call):
        kinds.add("more nans")
    if kind == "values" and _nans(found) < _nans(expected):
        kinds.add("fewer nans")
    return [
        i
        for i, (of_kind, pattern, _) in enumerate(DIFFERENCES)
        if of_kind in kinds and re.fullmatch(pattern, text, re.DOTALL)
    ]


def _nans(outcome: list) -> int:
    """The number of NaNs in the descriptions of results."""
    return sum(row[3] for row in outcome if len(row) > 3)
