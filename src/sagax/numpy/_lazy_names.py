"""Name what `sagax.numpy` imports on first use."""

from sagax.numpy import fft as fft
from sagax.numpy import linalg as linalg
from sagax.numpy._applying import apply_along_axis, apply_over_axes
from sagax.numpy._bits import packbits, unpackbits
from sagax.numpy._calculus import diff, ediff1d, gradient, trapezoid, unwrap
from sagax.numpy._choosing import choose, compress, extract, fill_diagonal, place
from sagax.numpy._comparing import allclose, array_equal, array_equiv, gcd, isclose, lcm
from sagax.numpy._contraction import (
    cross,
    diagonal,
    dot,
    inner,
    kron,
    matmul,
    matvec,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
)
from sagax.numpy._cumulative import (
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    nancumprod,
    nancumsum,
)
from sagax.numpy._einsum import einsum, einsum_path
from sagax.numpy._elementary import (
    acos,
    acosh,
    angle,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    conj,
    conjugate,
    cos,
    cosh,
    deg2rad,
    degrees,
    exp,
    exp2,
    expm1,
    hypot,
    i0,
    imag,
    iscomplex,
    isreal,
    log,
    log1p,
    log2,
    log10,
    rad2deg,
    radians,
    real,
    sin,
    sinc,
    sinh,
    sqrt,
    tan,
    tanh,
)
from sagax.numpy._flat_indices import ravel_multi_index, unravel_index
from sagax.numpy._floats import (
    around,
    ceil,
    copysign,
    floor,
    frexp,
    heaviside,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    ldexp,
    modf,
    nextafter,
    rint,
    round,
    signbit,
    spacing,
    trunc,
)
from sagax.numpy._grids import (
    diag,
    diag_indices,
    diag_indices_from,
    diagflat,
    fromfunction,
    indices,
    mask_indices,
    meshgrid,
    tril,
    tril_indices,
    tril_indices_from,
    triu,
    triu_indices,
    triu_indices_from,
    vander,
)
from sagax.numpy._histograms import (
    bincount,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from sagax.numpy._indexing import (
    c_,
    index_exp,
    ix_,
    mgrid,
    ogrid,
    put,
    put_along_axis,
    r_,
    s_,
    take,
    take_along_axis,
)
from sagax.numpy._interchange import (
    from_dlpack,
    frombuffer,
    fromfile,
    fromiter,
    fromstring,
    load,
    save,
    savez,
)
from sagax.numpy._interpolation import interp
from sagax.numpy._joining import (
    append,
    array_split,
    block,
    column_stack,
    concat,
    concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    split,
    stack,
    tile,
    unstack,
    vsplit,
    vstack,
)
from sagax.numpy._nan_reductions import (
    nanargmax,
    nanargmin,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
)
from sagax.numpy._nonzero import argwhere, flatnonzero, nonzero
from sagax.numpy._padding import pad
from sagax.numpy._polynomials import (
    poly,
    polyadd,
    polyder,
    polydiv,
    polyfit,
    polyint,
    polymul,
    polysub,
    polyval,
    roots,
)
from sagax.numpy._printing import (
    array_repr,
    array_str,
    get_printoptions,
    printoptions,
    set_printoptions,
)
from sagax.numpy._repeating import delete, insert, repeat, trim_zeros
from sagax.numpy._sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from sagax.numpy._signals import convolve, correlate
from sagax.numpy._sorting import (
    argpartition,
    argsort,
    digitize,
    lexsort,
    partition,
    searchsorted,
    sort,
    sort_complex,
    top_k,
)
from sagax.numpy._statistics import (
    average,
    corrcoef,
    cov,
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from sagax.numpy._ufunc import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    frompyfunc,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    subtract,
    ufunc,
)
from sagax.numpy._vectorize import vectorize
from sagax.numpy._windows import bartlett, blackman, hamming, hanning, kaiser
