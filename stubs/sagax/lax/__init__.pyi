"""Apply primitive operations, with explicit types and shapes."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar, overload

from sagax._src.collectives.collectives import all_gather_p as all_gather_p
from sagax._src.collectives.collectives import all_to_all_p as all_to_all_p
from sagax._src.collectives.collectives import axis_index_p as axis_index_p
from sagax._src.collectives.collectives import pmax_p as pmax_p
from sagax._src.collectives.collectives import pmin_p as pmin_p
from sagax._src.collectives.collectives import ppermute_p as ppermute_p
from sagax._src.collectives.collectives import psum_scatter_p as psum_scatter_p
from sagax._src.core.value import Array
from sagax._src.higher_order.call import jit_p as jit_p
from sagax._src.higher_order.composite import composite_p as composite_p
from sagax._src.higher_order.cond import cond_p as cond_p
from sagax._src.higher_order.custom_derivative_primitives import custom_jvp_p as custom_jvp_p
from sagax._src.higher_order.custom_derivative_primitives import custom_lin_p as custom_lin_p
from sagax._src.higher_order.custom_derivative_primitives import custom_vjp_p as custom_vjp_p
from sagax._src.higher_order.custom_root import linear_solve_p as linear_solve_p
from sagax._src.higher_order.generic_windows import reduce_window_p as reduce_window_p
from sagax._src.higher_order.generic_windows import select_and_scatter_p as select_and_scatter_p
from sagax._src.higher_order.platform_dependent import platform_index_p as platform_index_p
from sagax._src.higher_order.remat import name_p as name_p
from sagax._src.higher_order.remat import remat_p as remat_p
from sagax._src.higher_order.scan import scan_p as scan_p
from sagax._src.higher_order.while_loop import while_p as while_p
from sagax._src.primitives.accuracy import AccuracyMode as AccuracyMode
from sagax._src.primitives.accuracy import Tolerance as Tolerance
from sagax._src.primitives.arithmetic import abs_p as abs_p
from sagax._src.primitives.arithmetic import add_p as add_p
from sagax._src.primitives.arithmetic import cbrt_p as cbrt_p
from sagax._src.primitives.arithmetic import div_p as div_p
from sagax._src.primitives.arithmetic import integer_pow_p as integer_pow_p
from sagax._src.primitives.arithmetic import max_p as max_p
from sagax._src.primitives.arithmetic import min_p as min_p
from sagax._src.primitives.arithmetic import mul_p as mul_p
from sagax._src.primitives.arithmetic import mulhi_p as mulhi_p
from sagax._src.primitives.arithmetic import neg_p as neg_p
from sagax._src.primitives.arithmetic import rem_p as rem_p
from sagax._src.primitives.arithmetic import rsqrt_p as rsqrt_p
from sagax._src.primitives.arithmetic import sign_p as sign_p
from sagax._src.primitives.arithmetic import sqrt_p as sqrt_p
from sagax._src.primitives.arithmetic import square_p as square_p
from sagax._src.primitives.arithmetic import sub_p as sub_p
from sagax._src.primitives.bitwise import and_p as and_p
from sagax._src.primitives.bitwise import clz_p as clz_p
from sagax._src.primitives.bitwise import not_p as not_p
from sagax._src.primitives.bitwise import or_p as or_p
from sagax._src.primitives.bitwise import population_count_p as population_count_p
from sagax._src.primitives.bitwise import shift_left_p as shift_left_p
from sagax._src.primitives.bitwise import shift_right_arithmetic_p as shift_right_arithmetic_p
from sagax._src.primitives.bitwise import shift_right_logical_p as shift_right_logical_p
from sagax._src.primitives.bitwise import xor_p as xor_p
from sagax._src.primitives.casting import bitcast_convert_type_p as bitcast_convert_type_p
from sagax._src.primitives.casting import reduce_precision_p as reduce_precision_p
from sagax._src.primitives.comparison import eq_p as eq_p
from sagax._src.primitives.comparison import eq_to_p as eq_to_p
from sagax._src.primitives.comparison import ge_p as ge_p
from sagax._src.primitives.comparison import gt_p as gt_p
from sagax._src.primitives.comparison import is_finite_p as is_finite_p
from sagax._src.primitives.comparison import le_p as le_p
from sagax._src.primitives.comparison import le_to_p as le_to_p
from sagax._src.primitives.comparison import lt_p as lt_p
from sagax._src.primitives.comparison import lt_to_p as lt_to_p
from sagax._src.primitives.comparison import ne_p as ne_p
from sagax._src.primitives.complex_numbers import complex_p as complex_p
from sagax._src.primitives.complex_numbers import conj_p as conj_p
from sagax._src.primitives.complex_numbers import imag_p as imag_p
from sagax._src.primitives.convolution import conv_general_dilated_p as conv_general_dilated_p
from sagax._src.primitives.convolution_layouts import ConvDimensionNumbers as ConvDimensionNumbers
from sagax._src.primitives.convolution_layouts import (
    ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
)
from sagax._src.primitives.cumulative import cumlogsumexp_p as cumlogsumexp_p
from sagax._src.primitives.cumulative import cummax_p as cummax_p
from sagax._src.primitives.cumulative import cummin_p as cummin_p
from sagax._src.primitives.cumulative import cumprod_p as cumprod_p
from sagax._src.primitives.cumulative import cumsum_p as cumsum_p
from sagax._src.primitives.dot_algorithms import DotAlgorithm as DotAlgorithm
from sagax._src.primitives.dot_algorithms import DotAlgorithmPreset as DotAlgorithmPreset
from sagax._src.primitives.dot_algorithms import DotDimensionNumbers as DotDimensionNumbers
from sagax._src.primitives.dot_algorithms import Precision as Precision
from sagax._src.primitives.dot_algorithms import PrecisionLike as PrecisionLike
from sagax._src.primitives.dot_general import dot_general_p as dot_general_p
from sagax._src.primitives.fourier import FftType as FftType
from sagax._src.primitives.fourier import fft_p as fft_p
from sagax._src.primitives.gathering import GatherDimensionNumbers as GatherDimensionNumbers
from sagax._src.primitives.gathering import GatherScatterMode as GatherScatterMode
from sagax._src.primitives.gathering import gather_p as gather_p
from sagax._src.primitives.identities import copy_p as copy_p
from sagax._src.primitives.identities import optimization_barrier_p as optimization_barrier_p
from sagax._src.primitives.identities import stop_gradient_p as stop_gradient_p
from sagax._src.primitives.linalg.cholesky import cholesky_p as cholesky_p
from sagax._src.primitives.linalg.cholesky import cholesky_update_p as cholesky_update_p
from sagax._src.primitives.linalg.cholesky import symmetric_product_p as symmetric_product_p
from sagax._src.primitives.linalg.condensed import hessenberg_p as hessenberg_p
from sagax._src.primitives.linalg.condensed import schur_p as schur_p
from sagax._src.primitives.linalg.condensed import tridiagonal_p as tridiagonal_p
from sagax._src.primitives.linalg.eigen import eig_p as eig_p
from sagax._src.primitives.linalg.eigen import eigh_p as eigh_p
from sagax._src.primitives.linalg.lu import lu_p as lu_p
from sagax._src.primitives.linalg.lu import lu_pivots_to_permutation_p as lu_pivots_to_permutation_p
from sagax._src.primitives.linalg.qr import geqp3_p as geqp3_p
from sagax._src.primitives.linalg.qr import geqrf_p as geqrf_p
from sagax._src.primitives.linalg.qr import householder_product_p as householder_product_p
from sagax._src.primitives.linalg.qr import ormqr_p as ormqr_p
from sagax._src.primitives.linalg.qr import qr_p as qr_p
from sagax._src.primitives.linalg.svd import svd_p as svd_p
from sagax._src.primitives.linalg.triangular import triangular_solve_p as triangular_solve_p
from sagax._src.primitives.linalg.triangular import tridiagonal_solve_p as tridiagonal_solve_p
from sagax._src.primitives.mesh_axes import psum_p as psum_p
from sagax._src.primitives.power import pow_p as pow_p
from sagax._src.primitives.ragged import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers
from sagax._src.primitives.ragged import ragged_dot_general_p as ragged_dot_general_p
from sagax._src.primitives.ragged import scaled_dot_p as scaled_dot_p
from sagax._src.primitives.random_bits import RandomAlgorithm as RandomAlgorithm
from sagax._src.primitives.random_bits import random_bits_p as random_bits_p
from sagax._src.primitives.random_bits import random_clone_p as random_clone_p
from sagax._src.primitives.random_bits import random_fold_in_p as random_fold_in_p
from sagax._src.primitives.random_bits import random_seed_p as random_seed_p
from sagax._src.primitives.random_bits import random_split_p as random_split_p
from sagax._src.primitives.random_bits import random_unwrap_p as random_unwrap_p
from sagax._src.primitives.random_bits import random_wrap_p as random_wrap_p
from sagax._src.primitives.random_bits import rng_bit_generator_p as rng_bit_generator_p
from sagax._src.primitives.random_bits import rng_uniform_p as rng_uniform_p
from sagax._src.primitives.random_ciphers import philox2x32_p as philox2x32_p
from sagax._src.primitives.random_ciphers import philox4x32_p as philox4x32_p
from sagax._src.primitives.random_ciphers import threefry2x32_p as threefry2x32_p
from sagax._src.primitives.random_ciphers import threefry4x32_p as threefry4x32_p
from sagax._src.primitives.reduce_window import reduce_window_max_p as reduce_window_max_p
from sagax._src.primitives.reduce_window import reduce_window_min_p as reduce_window_min_p
from sagax._src.primitives.reduce_window import reduce_window_sum_p as reduce_window_sum_p
from sagax._src.primitives.reduce_window import select_and_gather_add_p as select_and_gather_add_p
from sagax._src.primitives.reduce_window import select_and_scatter_add_p as select_and_scatter_add_p
from sagax._src.primitives.reductions import argmax_p as argmax_p
from sagax._src.primitives.reductions import argmin_p as argmin_p
from sagax._src.primitives.reductions import reduce_and_p as reduce_and_p
from sagax._src.primitives.reductions import reduce_max_p as reduce_max_p
from sagax._src.primitives.reductions import reduce_min_p as reduce_min_p
from sagax._src.primitives.reductions import reduce_or_p as reduce_or_p
from sagax._src.primitives.reductions import reduce_p as reduce_p
from sagax._src.primitives.reductions import reduce_prod_p as reduce_prod_p
from sagax._src.primitives.reductions import reduce_xor_p as reduce_xor_p
from sagax._src.primitives.rounding import RoundingMethod as RoundingMethod
from sagax._src.primitives.rounding import ceil_p as ceil_p
from sagax._src.primitives.rounding import floor_p as floor_p
from sagax._src.primitives.rounding import nextafter_p as nextafter_p
from sagax._src.primitives.rounding import round_p as round_p
from sagax._src.primitives.scattering import ScatterDimensionNumbers as ScatterDimensionNumbers
from sagax._src.primitives.scattering import scatter_add_p as scatter_add_p
from sagax._src.primitives.scattering import scatter_apply_p as scatter_apply_p
from sagax._src.primitives.scattering import scatter_max_p as scatter_max_p
from sagax._src.primitives.scattering import scatter_min_p as scatter_min_p
from sagax._src.primitives.scattering import scatter_mul_p as scatter_mul_p
from sagax._src.primitives.scattering import scatter_p as scatter_p
from sagax._src.primitives.scattering import scatter_sub_p as scatter_sub_p
from sagax._src.primitives.selection import clamp_p as clamp_p
from sagax._src.primitives.selection import select_n_p as select_n_p
from sagax._src.primitives.shaping import concatenate_p as concatenate_p
from sagax._src.primitives.shaping import dim_as_value_p as dim_as_value_p
from sagax._src.primitives.shaping import iota_p as iota_p
from sagax._src.primitives.shaping import rev_p as rev_p
from sagax._src.primitives.shaping import split_p as split_p
from sagax._src.primitives.shaping import stack_p as stack_p
from sagax._src.primitives.shaping import tile_p as tile_p
from sagax._src.primitives.shaping import unstack_p as unstack_p
from sagax._src.primitives.slicing import dynamic_slice_p as dynamic_slice_p
from sagax._src.primitives.slicing import dynamic_update_slice_p as dynamic_update_slice_p
from sagax._src.primitives.slicing import pad_p as pad_p
from sagax._src.primitives.slicing import slice_p as slice_p
from sagax._src.primitives.sorting import approx_top_k_p as approx_top_k_p
from sagax._src.primitives.sorting import sort_p as sort_p
from sagax._src.primitives.sorting import top_k_p as top_k_p
from sagax._src.primitives.special.bessel import bessel_i0e_p as bessel_i0e_p
from sagax._src.primitives.special.bessel import bessel_i1e_p as bessel_i1e_p
from sagax._src.primitives.special.beta import beta_density_p as beta_density_p
from sagax._src.primitives.special.beta import (
    regularized_incomplete_beta_p as regularized_incomplete_beta_p,
)
from sagax._src.primitives.special.erf import erf_inv_p as erf_inv_p
from sagax._src.primitives.special.erf import erf_p as erf_p
from sagax._src.primitives.special.erf import erfc_p as erfc_p
from sagax._src.primitives.special.erf import exp_neg_square_p as exp_neg_square_p
from sagax._src.primitives.special.gamma import digamma_p as digamma_p
from sagax._src.primitives.special.gamma import lgamma_p as lgamma_p
from sagax._src.primitives.special.gamma import polygamma_p as polygamma_p
from sagax._src.primitives.special.gamma import zeta_p as zeta_p
from sagax._src.primitives.special.incomplete import gamma_density_p as gamma_density_p
from sagax._src.primitives.special.incomplete import igamma_grad_a_p as igamma_grad_a_p
from sagax._src.primitives.special.incomplete import igamma_p as igamma_p
from sagax._src.primitives.special.incomplete import igammac_p as igammac_p
from sagax._src.primitives.special.incomplete import (
    random_gamma_curvature_p as random_gamma_curvature_p,
)
from sagax._src.primitives.special.incomplete import random_gamma_grad_p as random_gamma_grad_p
from sagax._src.primitives.structural import broadcast_in_dim_p as broadcast_in_dim_p
from sagax._src.primitives.structural import convert_element_type_p as convert_element_type_p
from sagax._src.primitives.structural import real_p as real_p
from sagax._src.primitives.structural import reduce_sum_p as reduce_sum_p
from sagax._src.primitives.structural import reshape_p as reshape_p
from sagax._src.primitives.structural import squeeze_p as squeeze_p
from sagax._src.primitives.structural import transpose_p as transpose_p
from sagax._src.primitives.tokens import after_all_p as after_all_p
from sagax._src.primitives.tokens import create_token_p as create_token_p
from sagax._src.primitives.transcendental import acos_p as acos_p
from sagax._src.primitives.transcendental import acosh_p as acosh_p
from sagax._src.primitives.transcendental import asin_p as asin_p
from sagax._src.primitives.transcendental import asinh_p as asinh_p
from sagax._src.primitives.transcendental import atan2_p as atan2_p
from sagax._src.primitives.transcendental import atan_p as atan_p
from sagax._src.primitives.transcendental import atanh_p as atanh_p
from sagax._src.primitives.transcendental import cos_p as cos_p
from sagax._src.primitives.transcendental import cosh_p as cosh_p
from sagax._src.primitives.transcendental import exp2_p as exp2_p
from sagax._src.primitives.transcendental import exp_p as exp_p
from sagax._src.primitives.transcendental import expm1_p as expm1_p
from sagax._src.primitives.transcendental import log1p_p as log1p_p
from sagax._src.primitives.transcendental import log_p as log_p
from sagax._src.primitives.transcendental import logistic_p as logistic_p
from sagax._src.primitives.transcendental import one_minus_square_p as one_minus_square_p
from sagax._src.primitives.transcendental import sin_p as sin_p
from sagax._src.primitives.transcendental import sinh_p as sinh_p
from sagax._src.primitives.transcendental import tan_p as tan_p
from sagax._src.primitives.transcendental import tanh_p as tanh_p
from sagax.lax import linalg as linalg
from sagax.typing import ArrayLike, DTypeLike

_T = TypeVar("_T")
_U = TypeVar("_U")
_X = TypeVar("_X")
_Y = TypeVar("_Y")
_C = TypeVar("_C")

def abs(x: ArrayLike) -> Array: ...
def acos(x: ArrayLike) -> Array: ...
def acosh(x: ArrayLike) -> Array: ...
def add(x: ArrayLike, y: ArrayLike) -> Array: ...
def after_all(*operands: Any) -> Any: ...
def all_gather(
    x: ArrayLike,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any: ...
def all_to_all(
    x: ArrayLike,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any: ...
def approx_max_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]: ...
def approx_min_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]: ...
def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array: ...
def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array: ...
def asin(x: ArrayLike) -> Array: ...
def asinh(x: ArrayLike) -> Array: ...
def atan(x: ArrayLike) -> Array: ...
def atan2(x: ArrayLike, y: ArrayLike) -> Array: ...
def atanh(x: ArrayLike) -> Array: ...
def axis_index(axis_name: Any) -> Array: ...
def axis_size(axis_name: Any) -> Any: ...
def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: Any = None) -> Array: ...
def bessel_i0e(x: ArrayLike) -> Array: ...
def bessel_i1e(x: ArrayLike) -> Array: ...
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array: ...
def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike | None) -> Array: ...
def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array: ...
def bitwise_not(x: ArrayLike) -> Array: ...
def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array: ...
def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array: ...
def broadcast(operand: ArrayLike, sizes: Sequence[Any]) -> Array: ...
def broadcast_in_dim(
    operand: ArrayLike,
    shape: Sequence[Any],
    broadcast_dimensions: Sequence[int] = (),
    *,
    out_sharding: Any = None,
) -> Array: ...
def broadcast_like(arr: ArrayLike, like_arr: Any) -> Array: ...
def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]: ...
def broadcast_to_rank(x: ArrayLike, rank: int) -> Array: ...
def broadcasted_iota(
    dtype: DTypeLike | None, shape: Sequence[Any], dimension: int, *, out_sharding: Any = None
) -> Array: ...
def cbrt(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def ceil(x: ArrayLike) -> Array: ...
def clamp(min: Any, x: ArrayLike, max: Any) -> Array: ...
def clz(x: ArrayLike) -> Array: ...
def collapse(
    operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None
) -> Array: ...
def complex(x: ArrayLike, y: ArrayLike) -> Array: ...
def composite(
    decomposition: Callable[..., Any], name: str, version: int = 0
) -> Callable[..., Any]: ...
def concatenate(operands: Sequence[Any], dimension: int) -> Array: ...
def conj(x: ArrayLike) -> Array: ...
def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers: ...
def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array: ...
def conv_general_dilated_local(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Any = None,
) -> Array: ...
def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[Any, ...]: ...
def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> tuple[int, ...]: ...
def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]: ...
def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    use_consistent_padding: bool = False,
) -> Array: ...
def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> tuple[int, ...]: ...
def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike | None) -> Array: ...
def cos(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def cosh(x: ArrayLike) -> Array: ...
def create_token() -> Any: ...
def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
def custom_linear_solve(
    matvec: Callable[..., Any],
    b: ArrayLike,
    solve: Callable[..., Any],
    transpose_solve: Callable[..., Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any: ...
def custom_root(
    f: Callable[..., Any],
    initial_guess: Any,
    solve: Callable[..., Any],
    tangent_solve: Callable[..., Any],
    has_aux: bool = False,
) -> Any: ...
def dce_sink(x: ArrayLike, *, prevent_mlir_dce: bool = False) -> None: ...
def digamma(x: ArrayLike) -> Array: ...
def div(x: ArrayLike, y: ArrayLike) -> Array: ...
def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array: ...
def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def dtype(x: Any) -> Any: ...
def dynamic_index_in_dim(
    operand: ArrayLike,
    index: ArrayLike,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array: ...
def dynamic_slice(
    operand: ArrayLike,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array: ...
def dynamic_slice_in_dim(
    operand: ArrayLike,
    start_index: ArrayLike,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array: ...
def dynamic_update_index_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array: ...
def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: Any,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array: ...
def dynamic_update_slice_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    start_index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array: ...
def empty(shape: Sequence[Any], dtype: DTypeLike | None, *, out_sharding: Any = None) -> Array: ...
def eq(x: ArrayLike, y: ArrayLike) -> Array: ...
def erf(x: ArrayLike) -> Array: ...
def erf_inv(x: ArrayLike) -> Array: ...
def erfc(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def exp(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def exp2(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array: ...
def expm1(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def fft(x: ArrayLike, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array: ...
def floor(x: ArrayLike) -> Array: ...
def full(
    shape: Sequence[Any],
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    sharding: Any = None,
) -> Array: ...
def full_like(
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    sharding: Any = None,
) -> Array: ...
def gather(
    operand: ArrayLike,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: ArrayLike | None = None,
) -> Array: ...
def ge(x: ArrayLike, y: ArrayLike) -> Array: ...
def gt(x: ArrayLike, y: ArrayLike) -> Array: ...
def igamma(a: ArrayLike, x: ArrayLike) -> Array: ...
def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array: ...
def igammac(a: ArrayLike, x: ArrayLike) -> Array: ...
def imag(x: ArrayLike) -> Array: ...
def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array: ...
def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Array: ...
def integer_pow(x: ArrayLike, y: int) -> Array: ...
def iota(dtype: DTypeLike | None, size: int) -> Array: ...
def is_finite(x: ArrayLike) -> Array: ...
def le(x: ArrayLike, y: ArrayLike) -> Array: ...
def lgamma(x: ArrayLike) -> Array: ...
def log(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def log1p(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def log2(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def logistic(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def lt(x: ArrayLike, y: ArrayLike) -> Array: ...
def max(x: ArrayLike, y: ArrayLike) -> Array: ...
def min(x: ArrayLike, y: ArrayLike) -> Array: ...
def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: Any = None) -> Array: ...
def mulhi(x: ArrayLike, y: ArrayLike) -> Array: ...
def ne(x: ArrayLike, y: ArrayLike) -> Array: ...
def neg(x: ArrayLike) -> Array: ...
def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array: ...
def one_minus_square(x: ArrayLike) -> Array: ...
def pad(
    operand: ArrayLike, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]
) -> Array: ...
def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
) -> list[tuple[int, int]]: ...
def pbroadcast(x: ArrayLike, axis_name: Any, source: int) -> Any: ...
def pcast(x: ArrayLike, axis_name: Any, *, to: str) -> Any: ...
def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Any
) -> Array: ...
def polygamma(m: ArrayLike, x: ArrayLike) -> Array: ...
def polynomial(x: ArrayLike, coeffs: Sequence[Any], *, unroll: int | None = None) -> Array: ...
def population_count(x: ArrayLike) -> Array: ...
def pow(x: ArrayLike, y: ArrayLike) -> Array: ...
def precv(token: Any, out_shape: Any, axis_name: Any, perm: Any) -> NoReturn: ...
def psend(x: ArrayLike, axis_name: Any, perm: Any) -> NoReturn: ...
def pshuffle(x: ArrayLike, axis_name: Any, perm: Sequence[int]) -> Any: ...
def psum_scatter(
    x: ArrayLike,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any: ...
def pswapaxes(x: ArrayLike, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any: ...
def pvary(x: ArrayLike, axis_name: Any) -> Any: ...
def ragged_all_to_all(
    operand: ArrayLike,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: Any = None,
) -> Array: ...
def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def random_gamma_grad(*args: Any) -> Array: ...
def real(x: ArrayLike) -> Array: ...
def reciprocal(x: ArrayLike) -> Array: ...
def reduce_and(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def reduce_max(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def reduce_min(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def reduce_or(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array: ...
def reduce_prod(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def reduce_sum(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def reduce_window(
    operand: ArrayLike,
    init_value: Any,
    computation: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any: ...
def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]: ...
def reduce_xor(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array: ...
def rem(x: ArrayLike, y: ArrayLike) -> Array: ...
def reshape(
    operand: ArrayLike,
    new_sizes: Sequence[Any],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array: ...
def rng_bit_generator(
    key: Array,
    shape: Sequence[Any],
    dtype: DTypeLike | None = ...,
    algorithm: RandomAlgorithm = ...,
    *,
    out_sharding: Any = None,
) -> tuple[Any, Any]: ...
def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Sequence[Any]) -> Array: ...
def round(x: ArrayLike, rounding_method: RoundingMethod = ...) -> Array: ...
def rsqrt(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def scatter(
    operand: ArrayLike,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def scatter_add(
    operand: ArrayLike,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def scatter_apply(
    operand: ArrayLike,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def scatter_max(
    operand: ArrayLike,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def scatter_min(
    operand: ArrayLike,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def scatter_mul(
    operand: ArrayLike,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def scatter_sub(
    operand: ArrayLike,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array: ...
def select(pred: Any, on_true: ArrayLike, on_false: ArrayLike) -> Array: ...
def select_n(which: ArrayLike, *cases: Any) -> Array: ...
def shape_as_value(shape: Sequence[Any]) -> Array: ...
def shift_left(x: ArrayLike, y: ArrayLike) -> Array: ...
def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array: ...
def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array: ...
def sign(x: ArrayLike) -> Array: ...
def sin(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def sinh(x: ArrayLike) -> Array: ...
def slice(
    operand: ArrayLike,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array: ...
def slice_in_dim(
    operand: ArrayLike,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array: ...
def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]: ...
def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> Sequence[Any]: ...
def sqrt(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def square(x: ArrayLike) -> Array: ...
def squeeze(array: ArrayLike, dimensions: Sequence[int] | int | None = None) -> Array: ...
def stack(operands: Sequence[Any], axis: int = 0) -> Array: ...
def stage(x: ArrayLike, /) -> Array: ...
def sub(x: ArrayLike, y: ArrayLike) -> Array: ...
def tan(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def tanh(x: ArrayLike, *, accuracy: Any = None) -> Array: ...
def tile(operand: ArrayLike, reps: Sequence[int]) -> Array: ...
def top_k(
    operand: ArrayLike, k: int, *, axis: int = -1, is_stable: bool = True
) -> tuple[Array, Array]: ...
def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array: ...
def unstack(x: ArrayLike, axis: int = 0) -> tuple[Any, ...]: ...
def zeta(x: ArrayLike, q: ArrayLike) -> Array: ...
def associative_scan(
    fn: Callable[[_T, _T], _T], elems: _T, reverse: bool = False, axis: int = 0
) -> _T: ...
@overload
def cond(pred: ArrayLike, true_fun: Callable[[], _T], false_fun: Callable[[], _T]) -> _T: ...
@overload
def cond(
    pred: ArrayLike, true_fun: Callable[[_X], _T], false_fun: Callable[[_X], _T], operand: _X
) -> _T: ...
@overload
def cond(
    pred: ArrayLike,
    true_fun: Callable[[_X, _Y], _T],
    false_fun: Callable[[_X, _Y], _T],
    operand: _X,
    y: _Y,
    /,
) -> _T: ...
@overload
def cond(
    pred: ArrayLike,
    true_fun: Callable[[_X, _Y, _U], _T],
    false_fun: Callable[[_X, _Y, _U], _T],
    operand: _X,
    y: _Y,
    z: _U,
    /,
) -> _T: ...
@overload
def cond(
    pred: ArrayLike,
    true_fun: Callable[[Array], _T],
    false_fun: Callable[[Array], _T],
    operand: ArrayLike,
) -> _T: ...
@overload
def cond(
    pred: ArrayLike,
    true_fun: Callable[..., _T],
    false_fun: Callable[..., _T],
    operand: Any,
    *operands: Any,
) -> _T: ...
@overload
def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Array, _T], _T],
    init_val: _T,
    *,
    unroll: int | bool | None = None,
    max_steps: int | None = None,
    progress: bool | str = False,
) -> _T: ...
@overload
def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Array, Array], Array],
    init_val: ArrayLike,
    *,
    unroll: int | bool | None = None,
    max_steps: int | None = None,
    progress: bool | str = False,
) -> Array: ...
@overload
def map(f: Callable[[_X], _T], xs: _X, *, batch_size: int | None = None) -> _T: ...
@overload
def map(f: Callable[[Any], _T], xs: Any, *, batch_size: int | None = None) -> _T: ...
def optimization_barrier(operand: _T, /) -> _T: ...
def pmax(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T: ...
def pmean(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T: ...
def pmin(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T: ...
def ppermute(x: _T, axis_name: Any, perm: Sequence[tuple[int, int]]) -> _T: ...
@overload
def psum(x: Array, axis_name: Any, *, axis_index_groups: Any = None) -> Array: ...
@overload
def psum(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T: ...
@overload
def reduce(
    operands: ArrayLike,
    init_values: ArrayLike,
    computation: Callable[..., Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Array: ...
@overload
def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[..., Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any: ...
@overload
def scan(
    f: Callable[[_C, _X], tuple[_C, _Y]],
    init: _C,
    xs: _X,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    progress: bool | str = False,
) -> tuple[_C, _Y]: ...
@overload
def scan(
    f: Callable[[_C, None], tuple[_C, _Y]],
    init: _C,
    xs: None = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    progress: bool | str = False,
) -> tuple[_C, _Y]: ...
@overload
def scan(
    f: Callable[[Array, _X], tuple[Array, _Y]],
    init: ArrayLike,
    xs: _X,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    progress: bool | str = False,
) -> tuple[Array, _Y]: ...
@overload
def scan(
    f: Callable[[Array, None], tuple[Array, _Y]],
    init: ArrayLike,
    xs: None = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    progress: bool | str = False,
) -> tuple[Array, _Y]: ...
@overload
def scan(
    f: Callable[[_C, Any], tuple[_C, _Y]],
    init: _C,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    progress: bool | str = False,
) -> tuple[_C, _Y]: ...
@overload
def scan(
    f: Callable[[Any, Any], tuple[_C, _Y]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    progress: bool | str = False,
) -> tuple[_C, _Y]: ...
@overload
def sort(
    operand: Array, dimension: int = -1, is_stable: bool = True, num_keys: int = 1
) -> Array: ...
@overload
def sort(
    operand: Sequence[Any], dimension: int = -1, is_stable: bool = True, num_keys: int = 1
) -> tuple[Array, ...]: ...
def stop_gradient(x: _T) -> _T: ...
@overload
def switch(index: ArrayLike, branches: Sequence[Callable[[], _T]]) -> _T: ...
@overload
def switch(index: ArrayLike, branches: Sequence[Callable[[_X], _T]], operand: _X) -> _T: ...
@overload
def switch(
    index: ArrayLike, branches: Sequence[Callable[[Array], _T]], operand: ArrayLike
) -> _T: ...
@overload
def switch(
    index: ArrayLike, branches: Sequence[Callable[..., _T]], operand: Any, *operands: Any
) -> _T: ...
@overload
def while_loop(
    cond_fun: Callable[[_T], ArrayLike],
    body_fun: Callable[[_T], _T],
    init_val: _T,
    *,
    max_steps: int | None = None,
    progress: bool | str = False,
) -> _T: ...
@overload
def while_loop(
    cond_fun: Callable[[Array], ArrayLike],
    body_fun: Callable[[Array], Array],
    init_val: ArrayLike,
    *,
    max_steps: int | None = None,
    progress: bool | str = False,
) -> Array: ...
def with_sharding_constraint(x: _T, shardings: Any) -> _T: ...
