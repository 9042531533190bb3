"""Apply primitive operations, with explicit types and shapes.

What `sagax.numpy` is made of: no implicit promotion of dtypes, no broadcasting of ranks, every
operation with all its rules.
"""

from __future__ import annotations

from sagax._src.api.resharding import with_sharding_constraint
from sagax._src.collectives.collectives import (
    all_gather,
    all_gather_p,
    all_to_all,
    all_to_all_p,
    axis_index,
    axis_index_p,
    axis_size,
    pbroadcast,
    pcast,
    pmax,
    pmax_p,
    pmean,
    pmin,
    pmin_p,
    ppermute,
    ppermute_p,
    pshuffle,
    psum,
    psum_p,
    psum_scatter,
    psum_scatter_p,
    pswapaxes,
    pvary,
)
from sagax._src.collectives.ragged_all_to_all import ragged_all_to_all
from sagax._src.collectives.unsupported import precv, psend
from sagax._src.core.dtypes import dtype_of as dtype
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.composite import composite, composite_p
from sagax._src.higher_order.cond import cond, cond_p, switch
from sagax._src.higher_order.custom_derivative_primitives import (
    custom_jvp_p,
    custom_lin_p,
    custom_vjp_p,
)
from sagax._src.higher_order.custom_root import custom_linear_solve, custom_root, linear_solve_p
from sagax._src.higher_order.generic_windows import (
    reduce_window,
    reduce_window_p,
    select_and_scatter_p,
)
from sagax._src.higher_order.loops import associative_scan, map
from sagax._src.higher_order.platform_dependent import platform_dependent, platform_index_p
from sagax._src.higher_order.remat import name_p, remat_p
from sagax._src.higher_order.scan import scan, scan_p
from sagax._src.higher_order.staging import stage
from sagax._src.higher_order.while_loop import fori_loop, while_loop, while_p
from sagax._src.primitives.accuracy import AccuracyMode, Tolerance
from sagax._src.primitives.arithmetic import (
    abs,
    abs_p,
    add,
    add_p,
    cbrt,
    cbrt_p,
    div,
    div_p,
    integer_pow,
    integer_pow_p,
    max,
    max_p,
    min,
    min_p,
    mul,
    mul_p,
    mulhi,
    mulhi_p,
    neg,
    neg_p,
    polynomial,
    reciprocal,
    rem,
    rem_p,
    rsqrt,
    rsqrt_p,
    sign,
    sign_p,
    sqrt,
    sqrt_p,
    square,
    square_p,
    sub,
    sub_p,
)
from sagax._src.primitives.bitwise import (
    and_p,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    clz,
    clz_p,
    not_p,
    or_p,
    population_count,
    population_count_p,
    shift_left,
    shift_left_p,
    shift_right_arithmetic,
    shift_right_arithmetic_p,
    shift_right_logical,
    shift_right_logical_p,
    xor_p,
)
from sagax._src.primitives.casting import (
    bitcast_convert_type,
    bitcast_convert_type_p,
    reduce_precision,
    reduce_precision_p,
)
from sagax._src.primitives.comparison import (
    eq,
    eq_p,
    eq_to_p,
    ge,
    ge_p,
    gt,
    gt_p,
    is_finite,
    is_finite_p,
    le,
    le_p,
    le_to_p,
    lt,
    lt_p,
    lt_to_p,
    ne,
    ne_p,
)
from sagax._src.primitives.compiler_hints import dce_sink
from sagax._src.primitives.complex_numbers import (
    complex,
    complex_p,
    conj,
    conj_p,
    imag,
    imag_p,
    real,
)
from sagax._src.primitives.convolution import (
    conv,
    conv_general_dilated,
    conv_general_dilated_p,
    conv_general_shape_tuple,
    conv_shape_tuple,
    conv_with_general_padding,
)
from sagax._src.primitives.convolution_layouts import (
    ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers,
    conv_dimension_numbers,
    conv_general_permutations,
)
from sagax._src.primitives.convolution_variants import (
    conv_general_dilated_local,
    conv_general_dilated_patches,
    conv_transpose,
    conv_transpose_shape_tuple,
)
from sagax._src.primitives.cumulative import (
    cumlogsumexp,
    cumlogsumexp_p,
    cummax,
    cummax_p,
    cummin,
    cummin_p,
    cumprod,
    cumprod_p,
    cumsum,
    cumsum_p,
)
from sagax._src.primitives.dot_algorithms import (
    DotAlgorithm,
    DotAlgorithmPreset,
    DotDimensionNumbers,
    Precision,
    PrecisionLike,
)
from sagax._src.primitives.dot_general import batch_matmul, dot, dot_general, dot_general_p
from sagax._src.primitives.fourier import FftType, fft, fft_p
from sagax._src.primitives.gathering import (
    GatherDimensionNumbers,
    GatherScatterMode,
    gather,
    gather_p,
    index_take,
)
from sagax._src.primitives.identities import (
    copy_p,
    optimization_barrier,
    optimization_barrier_p,
    stop_gradient,
    stop_gradient_p,
)
from sagax._src.primitives.linalg.cholesky import cholesky_p, cholesky_update_p, symmetric_product_p
from sagax._src.primitives.linalg.condensed import hessenberg_p, schur_p, tridiagonal_p
from sagax._src.primitives.linalg.eigen import eig_p, eigh_p
from sagax._src.primitives.linalg.lu import lu_p, lu_pivots_to_permutation_p
from sagax._src.primitives.linalg.qr import geqp3_p, geqrf_p, householder_product_p, ormqr_p, qr_p
from sagax._src.primitives.linalg.svd import svd_p
from sagax._src.primitives.linalg.triangular import triangular_solve_p, tridiagonal_solve_p
from sagax._src.primitives.power import pow, pow_p
from sagax._src.primitives.ragged import (
    RaggedDotDimensionNumbers,
    ragged_dot,
    ragged_dot_general,
    ragged_dot_general_p,
    scaled_dot,
    scaled_dot_p,
)
from sagax._src.primitives.random_bits import (
    RandomAlgorithm,
    random_bits_p,
    random_clone_p,
    random_fold_in_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
    rng_bit_generator,
    rng_bit_generator_p,
    rng_uniform,
    rng_uniform_p,
)
from sagax._src.primitives.random_ciphers import (
    philox2x32_p,
    philox4x32_p,
    threefry2x32_p,
    threefry4x32_p,
)
from sagax._src.primitives.reduce_window import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from sagax._src.primitives.reductions import (
    argmax,
    argmax_p,
    argmin,
    argmin_p,
    reduce,
    reduce_and,
    reduce_and_p,
    reduce_max,
    reduce_max_p,
    reduce_min,
    reduce_min_p,
    reduce_or,
    reduce_or_p,
    reduce_p,
    reduce_prod,
    reduce_prod_p,
    reduce_xor,
    reduce_xor_p,
)
from sagax._src.primitives.rounding import (
    RoundingMethod,
    ceil,
    ceil_p,
    floor,
    floor_p,
    nextafter,
    nextafter_p,
    round,
    round_p,
)
from sagax._src.primitives.scattering import (
    ScatterDimensionNumbers,
    scatter,
    scatter_add,
    scatter_add_p,
    scatter_apply,
    scatter_apply_p,
    scatter_max,
    scatter_max_p,
    scatter_min,
    scatter_min_p,
    scatter_mul,
    scatter_mul_p,
    scatter_p,
    scatter_sub,
    scatter_sub_p,
)
from sagax._src.primitives.selection import clamp, clamp_p, select, select_n, select_n_p
from sagax._src.primitives.shaping import (
    broadcast_like,
    broadcast_shapes,
    broadcast_to_rank,
    broadcasted_iota,
    collapse,
    concatenate,
    concatenate_p,
    dim_as_value_p,
    empty,
    full,
    full_like,
    iota,
    iota_p,
    rev,
    rev_p,
    shape_as_value,
    split,
    split_p,
    stack,
    stack_p,
    tile,
    tile_p,
    unstack,
    unstack_p,
)
from sagax._src.primitives.slicing import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_slice_p,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    dynamic_update_slice_p,
    index_in_dim,
    pad,
    pad_p,
    slice,
    slice_in_dim,
    slice_p,
)
from sagax._src.primitives.sorting import (
    approx_max_k,
    approx_min_k,
    approx_top_k_p,
    sort,
    sort_key_val,
    sort_p,
    top_k,
    top_k_p,
)
from sagax._src.primitives.special.bessel import bessel_i0e, bessel_i0e_p, bessel_i1e, bessel_i1e_p
from sagax._src.primitives.special.beta import (
    beta_density_p,
    betainc,
    regularized_incomplete_beta_p,
)
from sagax._src.primitives.special.erf import (
    erf,
    erf_inv,
    erf_inv_p,
    erf_p,
    erfc,
    erfc_p,
    exp_neg_square_p,
)
from sagax._src.primitives.special.gamma import (
    digamma,
    digamma_p,
    lgamma,
    lgamma_p,
    polygamma,
    polygamma_p,
    zeta,
    zeta_p,
)
from sagax._src.primitives.special.incomplete import (
    gamma_density_p,
    igamma,
    igamma_grad_a,
    igamma_grad_a_p,
    igamma_p,
    igammac,
    igammac_p,
    random_gamma_curvature_p,
    random_gamma_grad,
    random_gamma_grad_p,
)
from sagax._src.primitives.structural import (
    broadcast,
    broadcast_in_dim,
    broadcast_in_dim_p,
    convert_element_type,
    convert_element_type_p,
    expand_dims,
    real_p,
    reduce_sum,
    reduce_sum_p,
    reshape,
    reshape_p,
    squeeze,
    squeeze_p,
    transpose,
    transpose_p,
)
from sagax._src.primitives.tokens import after_all, after_all_p, create_token, create_token_p
from sagax._src.primitives.transcendental import (
    acos,
    acos_p,
    acosh,
    acosh_p,
    asin,
    asin_p,
    asinh,
    asinh_p,
    atan,
    atan2,
    atan2_p,
    atan_p,
    atanh,
    atanh_p,
    cos,
    cos_p,
    cosh,
    cosh_p,
    exp,
    exp2,
    exp2_p,
    exp_p,
    expm1,
    expm1_p,
    log,
    log1p,
    log1p_p,
    log2,
    log_p,
    logistic,
    logistic_p,
    one_minus_square,
    one_minus_square_p,
    sin,
    sin_p,
    sinh,
    sinh_p,
    tan,
    tan_p,
    tanh,
    tanh_p,
)
from sagax._src.primitives.window_geometry import padtype_to_pads, reduce_window_shape_tuple
from sagax.lax import linalg as linalg
from sagax.numpy._fused import fused_function as _fused_function

# Those of several operations: one for each signature, in eager calls.
dynamic_index_in_dim = _fused_function(2)(dynamic_index_in_dim)
log2 = _fused_function(1)(log2)
